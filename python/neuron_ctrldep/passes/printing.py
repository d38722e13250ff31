"""Printing ops as mlir-opt does, and printing the IR around passes (``--mlir-print-ir-*``)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from neuron_ctrldep import mlir
from neuron_ctrldep.errors import InputError, SourceLocation
from neuron_ctrldep.files import write_output
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.execute import Observer
from neuron_ctrldep.passes.metadata import ExternalResources, with_external_resources
from neuron_ctrldep.passes.model import PassCall


@dataclass(frozen=True, slots=True)
class PrintFlags:
    """How ops are printed; MLIR's ``OpPrintingFlags``. ``None`` is no limit."""

    generic: bool = False
    debug_info: bool = False
    pretty_debug_info: bool = False
    local_scope: bool = False
    skip_regions: bool = False
    nameloc_as_prefix: bool = False
    assume_verified: bool = False
    elide_elements: int | None = None
    elide_resources: int | None = None

    def render(self, op: ir.Operation) -> str:
        """The text of ``op``, without a newline at its end."""
        # The bindings take the limit of elements for resources, too, unless it is given; mlir-opt keeps them apart.
        resources = self.elide_resources
        if resources is None and self.elide_elements is not None:
            resources = 2**31 - 1
        text = op.get_asm(
            print_generic_op_form=self.generic,
            enable_debug_info=self.debug_info,
            pretty_debug_info=self.pretty_debug_info,
            use_local_scope=self.local_scope,
            skip_regions=self.skip_regions,
            use_name_loc_as_prefix=self.nameloc_as_prefix,
            assume_verified=self.assume_verified,
            large_elements_limit=self.elide_elements,
            large_resource_limit=resources,
        )
        return str(text).rstrip("\n")

    def render_file(self, op: ir.Operation, resources: ExternalResources) -> str:
        """As a file that mlir-opt writes: with ``resources`` in the metadata, and its newlines at the end."""
        text = self.render(op)
        if self.local_scope:
            return f"{text}\n"
        return with_external_resources(text, resources, limit=self.elide_resources) + "\n\n"


ALL: Collection[str] | None = None
"""Every pass, where the names of passes are asked for."""


@dataclass
class IRPrinter(Observer):
    """Prints the IR before and after passes.

    Args:
        write: takes the text.
        flags: how to print.
        before: the passes before which to print; ``None`` is all.
        after: likewise.
        only_change: print after a pass only if it changed the IR.
        only_failure: print after a pass only if it failed.
        module_scope: always print the top-level op.
        tree_dir: write a file for each print in a tree of folders instead.
    """

    write: Callable[[str], object]
    flags: PrintFlags = field(default_factory=PrintFlags)
    before_passes: Collection[str] | None = ()
    after_passes: Collection[str] | None = ()
    only_change: bool = False
    only_failure: bool = False
    module_scope: bool = False
    tree_dir: str | None = None

    def __post_init__(self) -> None:
        self._fingerprints: list[str] = []
        self._tree = Tree(self.tree_dir) if self.tree_dir is not None else None

    def before(self, call: PassCall, op: ir.Operation) -> None:
        """Print, and remember the IR if only changes are printed after."""
        if self.only_change:
            self._fingerprints.append(_fingerprint(op))
        if _selected(call, self.before_passes):
            self._print(f"IR Dump Before {call.class_name}", call, op)

    def after(self, call: PassCall, op: ir.Operation, statistics: Statistics) -> None:
        """Print."""
        changed = not self.only_change or self._fingerprints.pop() != _fingerprint(op)
        if changed and not self.only_failure and _selected(call, self.after_passes):
            self._print(f"IR Dump After {call.class_name}", call, op)

    def failed(self, call: PassCall, op: ir.Operation) -> None:
        """Print."""
        if self.only_change:
            self._fingerprints.pop()
        if self.only_failure or _selected(call, self.after_passes):
            self._print(f"IR Dump After {call.class_name} Failed", call, op)

    def _print(self, title: str, call: PassCall, op: ir.Operation) -> None:
        flags, scope, printed = self.flags, "", op
        if self.module_scope:
            scope = f" ('{op.name}' operation{symbol_of(op, ': @')})"
            while (around := mlir.parent_of(printed)) is not None:
                printed = around
        elif mlir.parent_of(op) is not None:
            flags = replace(flags, local_scope=True)
        end = "" if flags.local_scope else "\n"
        text = f"// -----// {title} ({call.name}){scope} //----- //\n{flags.render(printed)}{end}\n\n"
        if self._tree is None:
            self.write(text)
        else:
            self._tree.write(call, op, text)


def _selected(call: PassCall, names: Collection[str] | None) -> bool:
    return names is None or call.name in names


def _fingerprint(op: ir.Operation) -> str:
    return PrintFlags(generic=True, debug_info=True, local_scope=True).render(op)


def symbol_of(op: ir.Operation, prefix: str) -> str:
    """The name of ``op`` behind ``prefix``; nothing when it has none."""
    if "sym_name" not in op.attributes:
        return ""
    return prefix + mlir.string_value(op.attributes["sym_name"])


class Tree:
    """A folder for each op, named after it, with a file for each print: ``builtin_module_m/func_func_f/0_1_cse.mlir``.

    A file's name starts with how many prints there were on each op around it and on its own.
    """

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._counts: dict[tuple[str, ...], int] = {}

    def write(self, call: PassCall, op: ir.Operation, text: str) -> None:
        """Write one print.

        Raises:
            InputError: the file cannot be written.
        """
        folders: list[str] = []
        around: ir.Operation | None = op
        while around is not None:
            folders.insert(
                0, _file_name(f"{around.name.replace('.', '_')}_{symbol_of(around, '') or 'no-symbol-name'}")
            )
            around = mlir.parent_of(around)
        path = tuple(folders)
        self._counts[path] = self._counts.get(path, -1) + 1
        numbers = [str(self._counts.setdefault(path[: n + 1], 0)) for n in range(len(path))]
        # The folder of an op two levels down is inside that of the op one level down, not of the module alone.
        folder = self._root.joinpath(*path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot make the folder: {reason}", location=SourceLocation(str(folder))) from error
        # "0_1_cse": mlir-opt counts the ops around from the outermost.
        write_output(str(folder / f"{'_'.join(numbers)}_{_file_name(call.name)}.mlir"), text)


def _file_name(name: str) -> str:
    """``name`` as one part of a path: nothing in it can leave the folder, whatever a symbol is called.

    What stands before it, the name of an op or a number, keeps it from being a folder's "." or "..".
    """
    cleaned = "".join(c if " " <= c <= "~" and c not in "/\\" else "_" for c in name)
    return cleaned[:100]
