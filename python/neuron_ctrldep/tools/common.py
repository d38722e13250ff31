"""What the four commands share: exit statuses, error reports, versions."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, SourceLocation, excerpt

EXIT_OK = 0
EXIT_FAULT = 1
"""The input or the pipeline is at fault."""
EXIT_INTERRUPTED = 130


def run_tool(name: str, main: Callable[[Sequence[str]], int], args: Sequence[str] | None = None) -> int:
    """Call ``main(args)`` and turn every fault into one report on stderr and an exit status.

    Args:
        name: of the tool, as messages show it.
        main: parses its arguments, does the work, returns the exit status; raises :class:`CtrlDepError` for faults.
        args: the command line without the program; ``sys.argv[1:]`` by default. ``--debug`` in it shows tracebacks.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    try:
        status = main(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except CtrlDepError as error:
        if "--debug" in arguments:
            print_traceback()
        print(error.render(), file=sys.stderr)
        return EXIT_FAULT
    except BrokenPipeError:
        # The reader (head, less) went away; what is left in the buffer has nowhere to go.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAULT
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        # Files have their own messages; what is left is what print() writes to: a full disk behind stdout.
        if "--debug" in arguments:
            print_traceback()
        print(f"{name}: error: cannot write to stdout: {error.strerror or error}", file=sys.stderr)
        return EXIT_FAULT
    except MemoryError:
        print(f"{name}: error: out of memory", file=sys.stderr)
        return EXIT_FAULT
    except Exception as error:
        if "--debug" in arguments:
            print_traceback()
        detail = str(error) or type(error).__name__
        print(
            f"{name}: error: internal error: {type(error).__name__}: {detail}\n"
            f"note: this is a fault of {name}; run again with --debug for the traceback and report it",
            file=sys.stderr,
        )
        return EXIT_FAULT


def run_guarded(
    name: str,
    main: Callable[[Sequence[str]], int],
    *,
    hint: str = "report it with the input",
    on_death: Callable[[int], str] = lambda _: "",
) -> int:
    """As :func:`run_tool` on ``sys.argv``, in a child process, so that its death is reported.

    C++ code may end its process on what it does not expect (a failed check in a pass). The child is forked here, before
    the bindings are loaded: that takes about a millisecond, and there are no threads yet. ``--debug`` does without it.

    Args:
        name: of the tool, as messages show it.
        main: as for :func:`run_tool`.
        hint: what the user can do when the process died.
        on_death: is told which process died, and says what was saved of its work, if anything.
    """
    if not hasattr(os, "fork") or "--debug" in sys.argv:
        return run_tool(name, main)
    reader, writer = os.pipe()
    # Held back until both processes are ready for them: an interrupt, and the word of the child's end.
    awaited = {signal.SIGCHLD} if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else {signal.SIGCHLD, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)  # who started this process may have it ignored
    child = os.fork()
    if child == 0:
        _prepare_child(awaited)
        status = _status_of(lambda: run_tool(name, main))
        os.write(writer, b".")
        # All is written. Taking MLIR and the interpreter down in order would take a sixth of the time of a short run.
        os._exit(status)
    interrupts = ended = wait_status = 0
    while not ended:
        if signal.sigwait(awaited) == signal.SIGINT:
            # A terminal sends it to the child, too; who sends it to this process alone means both.
            os.kill(child, signal.SIGKILL if interrupts else signal.SIGINT)
            interrupts += 1
        ended, wait_status = os.waitpid(child, os.WNOHANG)
    status = os.waitstatus_to_exitcode(wait_status)
    os.close(writer)
    has_returned = os.read(reader, 1) == b"."
    if status > 0 or (status == 0 and has_returned):
        return status
    if interrupts:
        return EXIT_INTERRUPTED
    by = f"by {signal.Signals(-status).name}" if status else "before its work was done"
    print(
        f"{name}: error: the process was ended {by}; what it said is above\n"
        f"note: C++ code may end its process on what it does not expect; {hint}",
        file=sys.stderr,
    )
    if saved := on_death(child):
        print(f"note: {saved}", file=sys.stderr)
    return EXIT_FAULT


def _status_of(run: Callable[[], int]) -> int:
    """The exit status of ``run``, its output written; ``argparse`` ends by :class:`SystemExit`."""
    try:
        status = run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                status = status or EXIT_FAULT
    return status


def _prepare_child(blocked: Collection[signal.Signals]) -> None:
    """Who kills the tool means all of it. And a death that is reported should not leave a core file behind."""

    def interrupt(number: int, frame: object) -> None:
        # A second one, which a terminal's interrupt brings too, would come in the middle of the end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if signal.SIGINT in blocked:
        signal.signal(signal.SIGINT, interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL


def print_traceback() -> None:
    """Print the exception that is being handled, as ``--debug`` shows it."""
    import traceback

    traceback.print_exc()


def render_diagnostic(diagnostic: Diagnostic, source_of: Callable[[str], str | None]) -> str:
    """The text of a diagnostic as mlir-opt has it, with source lines where there are any.

    Args:
        diagnostic: from MLIR: its columns count bytes.
        source_of: the text of a file that locations name; ``None`` where there is none.
    """
    lines: list[str] = []
    above: SourceLocation | None = None
    for part in diagnostic.parts():
        # The message keeps the column in bytes, as MLIR says it; the caret stands below the character.
        location = part.location
        where = _NOWHERE if location is None else f"{location.file}:{location.line}:{location.column}"
        lines.append(f"{where}: {part.severity}: {part.message}")
        if location is not None and location.column and location != above:
            source = source_of(location.file)
            if source is not None:
                lines += excerpt(source, _in_characters(location, source), part.length)
        above = location
    return "\n".join(lines)


_NOWHERE = "<unknown>:0"
"""Where mlir-opt says a diagnostic is that is in no file."""


def _in_characters(location: SourceLocation, source: str) -> SourceLocation:
    if location.column <= 1:
        return location
    row = "".join(source.split("\n")[location.line - 1 : location.line])
    data = row.encode()
    if location.column > len(data) + 1:
        return location
    return replace(location, column=len(data[: location.column - 1].decode("utf-8", "replace")) + 1)


def version_text(tool: str = "neuron-ctrldep") -> str:
    """Versions of this package, the bindings and their LLVM, a line each."""
    from importlib.metadata import version

    from neuron_ctrldep import mlir

    return "\n".join(
        [
            f"{tool} {version('neuron-ctrldep')}",
            f"  jaxlib {version('jaxlib')} (the MLIR bindings, StableHLO {mlir.stablehlo_version()})",
            f"  LLVM {mlir.llvm_version()}",
        ]
    )
