"""The original flatten pass, literally: ``NeuronControlDepTupleSimplifier::replaceTuples`` of the seed.

It differs from ours: every wire op of the main function is rebuilt; tuples are inlined one level; an element stands for
*all* elements of its tuple, or all results of the op that made it, in data position too; the new op has no attribute
but its target; nothing is erased. Where that breaks the program the original breaks it silently; here it is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from neuron_ctrldep.errors import PassError
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.base import Statistics
from neuron_ctrldep.passes.tuples import Tuples, defining_op
from neuron_ctrldep.passes.wire_ops import fault_at


def flatten_exactly(ops: Sequence[ir.Operation], dialect: str, statistics: Statistics) -> None:
    """Rebuild ``ops``, legal wire ops of ``dialect``, as the original does.

    Raises:
        PassError: a rebuilt op would be invalid or forward another value; the module is unchanged.
    """
    tuples = Tuples(dialect)
    faults = [fault_at(op, message) for op in ops if (message := _fault(op, tuples)) is not None]
    if faults:
        raise PassError(diagnostics=faults)
    for op in ops:
        operands = list(op.operands)
        flat = [value for operand in operands for value in _inlined(operand, tuples)]
        new = ir.Operation.create(
            op.name,
            results=[op.results[0].type],
            operands=flat,
            attributes={"call_target_name": op.attributes["call_target_name"]},
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        statistics.add("ops-rebuilt")
        statistics.add("operands-expanded", sum(_inlined(operand, tuples) != [operand] for operand in operands))
        op.results[0].replace_all_uses_with(new.results[0])
        op.erase()


def _inlined(value: ir.Value, tuples: Tuples) -> list[ir.Value]:
    """What the original puts in place of one operand; nothing where it would follow a null pointer."""
    op = defining_op(value)
    if op is None or op.name not in tuples.names:
        return [value]
    if op.name == tuples.tuple_name:
        return list(op.operands)
    source = defining_op(op.operands[0])
    if source is None:
        return []
    return list(source.operands if source.name == tuples.tuple_name else source.results)


def _fault(op: ir.Operation, tuples: Tuples) -> str | None:
    operands = list(op.operands)
    for number, operand in enumerate(operands):
        maker = defining_op(operand)
        if maker is not None and maker.name == tuples.element_name and defining_op(maker.operands[0]) is None:
            return f"neuron-exact: operand {number} is an element of a block argument, and the original asks for its op"
    flat = [value for operand in operands for value in _inlined(operand, tuples)]
    if not flat:
        return "neuron-exact: no operand would be left"
    if tuples.resolve(flat[-1]) != tuples.resolve(operands[-1]):
        return (
            "neuron-exact: the last operand would no longer be the data that the op forwards "
            f"({operands[-1].type}, not {flat[-1].type}); without neuron-exact the value is kept"
            if flat[-1].type != operands[-1].type
            else "neuron-exact: the op would forward another value than before; without neuron-exact the value is kept"
        )
    return None
