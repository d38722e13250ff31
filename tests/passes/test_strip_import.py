"""``strip`` of what the chain makes of a reified module is what it makes of the module itself (section 6)."""

from __future__ import annotations

from neuron_ctrldep.hlo.importer import import_hlo
from neuron_ctrldep.hlo.module import load_hlo
from neuron_ctrldep.hlo.preserve_control_deps import preserve_control_deps
from neuron_ctrldep.mlir import ir
from neuron_ctrldep.passes.strip import strip_control_deps

HLO = b"""HloModule m

body {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[4] negate(x), control-predecessors={next}
  ROOT r = (s32[], f32[4]) tuple(next, y)
}

condition {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] exponential(a)
  zero = s32[] constant(0)
  init = (s32[], f32[4]) tuple(zero, a)
  loop = (s32[], f32[4]) while(init), condition=condition, body=body, control-predecessors={b}
  out = f32[4] get-tuple-element(loop), index=1, control-predecessors={b}
  pair = (f32[4], f32[4]) tuple(out, b)
  again = (f32[4], f32[4]) opt-barrier(pair), control-predecessors={loop}
  first = f32[4] get-tuple-element(again), index=0
  ROOT s = f32[4] add(first, b), control-predecessors={loop}
}
"""


def without_attributes(module: ir.Operation) -> str:
    def forget(op: ir.Operation) -> ir.WalkResult:
        for name in ("mhlo.frontend_attributes", "xla_shape"):
            if name in op.attributes:
                del op.attributes[name]
        return ir.WalkResult.ADVANCE

    module.walk(forget)
    return str(module)


def test_strip_gives_back_the_module() -> None:
    reified = load_hlo(HLO)
    assert preserve_control_deps(reified).operand == 5
    module = import_hlo(reified)
    assert "AwsNeuronControlDep" in str(module)
    strip_control_deps(module)
    assert without_attributes(module) == without_attributes(import_hlo(load_hlo(HLO)))
