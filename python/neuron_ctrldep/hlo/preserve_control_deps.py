"""``preserve-control-deps``: control edges of HLO become operands of wire ops (seed, "Preservation Algorithm").

XLA keeps a control edge ``p -> S`` beside the operands, where no importer to MLIR looks. For each successor ``S`` this
pass inserts a custom call that takes the predecessors and the first operand of ``S``, forwards the latter, and becomes
the first operand of ``S``::

    a = f32[4] negate(p)
    s = f32[4] exponential(p), control-predecessors={a}

    a = f32[4] negate(p)
    AwsNeuronControlDep = f32[4] custom-call(a, p), custom_call_target="AwsNeuronControlDep",
                                                    custom_call_has_side_effect=true
    s = f32[4] exponential(AwsNeuronControlDep), control-predecessors={a}

Where no operand can hold the edge, a *pin* behind ``S`` or frontend attributes on both ends do (see ``carriers.py``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Literal

from neuron_ctrldep.errors import CtrlDepError, Diagnostic, InputError, PassError, SourceLocation
from neuron_ctrldep.hlo.carriers import CarrierChoice, Planner, RewireChoice, SuccessorPlan
from neuron_ctrldep.hlo.edit import ComputationEdit, ModuleEdit
from neuron_ctrldep.hlo.graph import Graph, Instruction, ModuleFacts
from neuron_ctrldep.hlo.module import HloModule
from neuron_ctrldep.hlo.order import sort_topologically
from neuron_ctrldep.hlo.report import EdgeDetail, PreserveReport
from neuron_ctrldep.wire import HAS_CONTROL_DEPS

logger = logging.getLogger("neuron_ctrldep.hlo")

Plans = list[tuple[Graph, list[SuccessorPlan]]]


def preserve_control_deps(
    module: HloModule,
    *,
    on_unreifiable: Literal["error", "warn"] = "error",
    carrier: CarrierChoice = "any",
    rewire: RewireChoice = "first",
    strip_control_edges: bool = False,
) -> PreserveReport:
    """Carry every control edge of every computation where MLIR keeps it. Edits ``module`` in place.

    Args:
        module: the module; left as it was when this raises.
        on_unreifiable: what to do about an edge that no carrier holds.
        carrier: ``operand`` forbids pins and attributes, as the original pass does.
        rewire: ``all`` puts a wire op on every operand of calls, loops and conditionals, so that an edge into a call
            still holds all of its body once it is inlined.
        strip_control_edges: remove the module's own control predecessors afterwards, except those of unreifiable edges.

    Raises:
        PassError: edges that cannot be carried, each as ``p -> S (why)``.
        InputError: a schedule contradicts a control edge.
        TypeError: ``module`` is no HLO module.
        ValueError: an option has a value that it cannot have.
    """
    _check_type(module)
    _check_choice("on_unreifiable", on_unreifiable, ("error", "warn"))
    _check_choice("carrier", carrier, ("any", "operand"))
    _check_choice("rewire", rewire, ("first", "all"))
    proto = module.proto
    facts = ModuleFacts(proto)
    before_sorting: list[bytes] = []
    try:
        plans = _plan(module, facts, carrier, rewire, before_sorting)
        details = [
            EdgeDetail(graph.computation.name, edge.predecessor.name, plan.successor.name, edge.edge_class, edge.reason)
            for graph, successors in plans
            for plan in successors
            for edge in plan.edges
        ]
        if on_unreifiable == "error":
            _refuse_unreifiable(details, module.file)
    except CtrlDepError:
        if before_sorting:
            proto.ParseFromString(before_sorting[0])
        raise
    edit = ModuleEdit(facts)
    for graph, successors in plans:
        _apply(edit, graph, successors)
    changed = edit.changed or bool(before_sorting)
    if any(detail.edge_class in ("operand", "attribute") for detail in details):
        attributes = proto.frontend_attributes.map
        if attributes.get(HAS_CONTROL_DEPS) != "1":
            attributes[HAS_CONTROL_DEPS] = "1"
            changed = True
    if strip_control_edges:
        changed = _strip(plans) or changed
    return PreserveReport.of(details, wire_ops=edit.wire_ops, changed=changed)


def _check_type(module: object) -> None:
    if not isinstance(module, HloModule):
        raise TypeError(f"preserve_control_deps takes an HloModule (load_hlo reads one), not {type(module).__name__}")


def _check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{option}: expected one of {', '.join(choices)}; found {value!r}")


def _plan(
    module: HloModule, facts: ModuleFacts, carrier: CarrierChoice, rewire: RewireChoice, before_sorting: list[bytes]
) -> Plans:
    """The plans of all computations that hold a control edge, in module order.

    Operands stand before their users, or XLA refuses the module; control predecessors need not yet. Where they do not,
    the instructions are sorted, and the module as it was is put in ``before_sorting``.
    """
    plans: Plans = []
    for computation in module.proto.computations:
        ids, found = _successors(computation)
        if not found:
            continue
        graph = Graph(computation, ids, facts)
        place = graph.place
        if any(place[p] > place[successor.id] for successor, predecessors in found for p in predecessors):
            before_sorting.append(bytes(module.proto.SerializeToString()))
            sort_topologically(computation.instructions)
            ids, found = _successors(computation)
            graph = Graph(computation, ids, facts)
        planner = Planner(graph, carrier, rewire)
        plans.append((graph, [planner.plan(successor, predecessors) for successor, predecessors in found]))
        _check_schedule(module, *plans[-1])
    return plans


def _successors(computation: Any) -> tuple[list[int], list[tuple[Instruction, Iterable[int]]]]:
    """The ids of all instructions, and each one with control predecessors with the ids of these, each once."""
    ids: list[int] = []
    found: list[tuple[Instruction, Iterable[int]]] = []
    for instruction in computation.instructions:
        ids.append(instruction.id)
        predecessors = instruction.control_predecessor_ids
        if predecessors:
            found.append((instruction, dict.fromkeys(predecessors)))
    return ids, found


def _check_schedule(module: HloModule, graph: Graph, successors: list[SuccessorPlan]) -> None:
    """Refuse a schedule that misses an end of a wire op's edge or runs it backwards: XLA would refuse the result."""
    proto, computation = module.proto, graph.computation
    if not proto.HasField("schedule") or computation.id not in proto.schedule.sequences:
        return
    sequence = proto.schedule.sequences[computation.id].instruction_ids
    place = {one: number for number, one in enumerate(sequence)}
    for plan in successors:
        successor = plan.successor
        for edge in plan.edges:
            if edge.edge_class != "operand" and not edge.pin:
                continue
            ends = (edge.predecessor, successor)
            for end in ends:
                if end.id not in place:
                    raise _input_error(module, computation, end, "is not in the schedule of its computation")
            if place[edge.predecessor.id] >= place[successor.id]:
                what = f"is scheduled before its control predecessor '{edge.predecessor.name}'"
                raise _input_error(module, computation, successor, what)


def _input_error(module: HloModule, computation: Any, instruction: Instruction, what: str) -> InputError:
    return InputError(
        f"computation '{computation.name}': instruction '{instruction.name}' {what}",
        location=SourceLocation(module.file, name=instruction.name),
    )


def _refuse_unreifiable(details: list[EdgeDetail], file: str) -> None:
    lost = [detail for detail in details if detail.edge_class == "unreifiable"]
    if not lost:
        return
    edges = "edge" if len(lost) == 1 else "edges"
    notes = [Diagnostic("note", detail.edge_text()) for detail in lost]
    raise PassError(
        f"{len(lost)} control {edges} cannot be carried; the module is unchanged "
        "(on-unreifiable=warn goes on without them)",
        location=SourceLocation(file, name=lost[0].successor),
        notes=notes,
    )


def _apply(edit: ModuleEdit, graph: Graph, successors: list[SuccessorPlan]) -> None:
    work = [plan for plan in successors if any(edge.edge_class in ("operand", "attribute") for edge in plan.edges)]
    if not work:
        return
    logger.debug("computation '%s': worklist size %d", graph.computation.name, len(work))
    computation = ComputationEdit(edit, graph)
    for plan in work:
        made = computation.apply(plan)
        if logger.isEnabledFor(logging.DEBUG):
            names = ", ".join(edge.predecessor.name for edge in plan.edges)
            calls = "; ".join(graph.text_of(wire) for wire in made) or "none (attributes)"
            logger.debug(
                "successor [%s], predecessors [%s], new calls [%s]", graph.text_of(plan.successor), names, calls
            )
    computation.finish()


def _strip(plans: Plans) -> bool:
    """Remove the control predecessors of all edges but the unreifiable ones; whether there were any."""
    changed = False
    for _, successors in plans:
        for plan in successors:
            ids = plan.successor.control_predecessor_ids
            kept = [edge.predecessor.id for edge in plan.edges if edge.edge_class == "unreifiable"]
            if list(ids) != kept:
                ids[:] = kept
                changed = True
    return changed
