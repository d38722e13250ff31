"""Programs that the tests of the views draw."""

import random

T = "tensor<8x8xf32>"
WIRE = f"{{has_side_effect = true}} : ({T}, {T}) -> {T}"

LOOP = f"""
module @loop {{
  func.func private @helper(%x: {T}) -> {T} {{
    %n = stablehlo.negate %x : {T} loc("negate.1")
    return %n : {T}
  }}
  func.func @main(%a: {T}, %b: {T}) -> {T} {{
    %zero = stablehlo.constant dense<0> : tensor<i32> loc("zero")
    %ten = stablehlo.constant dense<10> : tensor<i32> loc("ten")
    %s = stablehlo.sine %a : {T} loc("model.py":3:7)
    %c = stablehlo.cosine %b : {T} loc("cosine.2"("model.py":4:7))
    %h = func.call @helper(%b) : ({T}) -> {T} loc("call.3")
    %t = stablehlo.tuple %s, %h : tuple<{T}, {T}>
    %w = stablehlo.custom_call @AwsNeuronControlDep(%t, %c) {{has_side_effect = true}} : (tuple<{T}, {T}>, {T}) -> {T}
    %m = stablehlo.multiply %w, %a : {T} loc("multiply.4")
    %r:2 = stablehlo.while(%i = %zero, %v = %m) : tensor<i32>, {T}
      cond {{
        %less = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("less.5")
        stablehlo.return %less : tensor<i1>
      }} do {{
        %e = stablehlo.exponential %v : {T} loc("exponential.6")
        %x = stablehlo.custom_call @AwsNeuronControlDep(%e, %v) {WIRE}
        %y = stablehlo.add %x, %s : {T} loc("add.7")
        stablehlo.return %i, %y : tensor<i32>, {T}
      }} loc("while.8")
    %dead = stablehlo.custom_call @AwsNeuronControlDep(%s, %c) {WIRE}
    return %r#1 : {T}
  }}
}}
"""

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "a\"b'c`${document.title='owned'}",
    "back\\slash\\N and \\G",
    "<!-- --> ]]> &amp; %@DATA@ @SCRIPT@",
    "ünï ☃ 𝒳 \u2028 \u202e end",
)


def quoted(name: str) -> str:
    """``name`` as an MLIR string literal."""
    out = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\' else "".join(f"\\{byte:02X}" for byte in c.encode())
        for c in name
    )
    return f'"{out}"'


def hostile() -> str:
    """A chain of ops with hostile names, each ordered after the one before the last."""
    lines = [f"module @evil {{ func.func @main(%v0: {T}) -> {T} {{"]
    for number, name in enumerate(HOSTILE, 1):
        # The last part of a location counts as the name, so a slash is kept by the attribute that keeps names.
        attributes = f"{{mhlo.frontend_attributes = {{ctrldep.name = {quoted(name)}}}}}"
        data = f"%v{number - 1}"
        if number > 2:
            lines.append(f"%w{number} = stablehlo.custom_call @AwsNeuronControlDep(%v{number - 2}, {data}) {WIRE}")
            data = f"%w{number}"
        lines.append(f"%v{number} = stablehlo.sine {data} {attributes} : {T} loc({quoted(name)})")
    return "\n".join([*lines, f"return %v{len(HOSTILE)} : {T} }} }}"])


def big(count: int, seed: int = 1) -> str:
    """``count`` ops ``op.<n>`` that read recent ones, a tenth of them ordered after an older one."""
    rng = random.Random(seed)
    lines = [f"module @big {{ func.func @main(%a: {T}, %b: {T}) -> {T} {{"]
    values = ["%a", "%b"]

    def recent(rate: float) -> str:
        return values[max(0, len(values) - 1 - int(rng.expovariate(rate)))]

    for number in range(count):
        data = recent(0.15)
        if rng.random() < 0.1:
            lines.append(f"%w{number} = stablehlo.custom_call @AwsNeuronControlDep({recent(0.05)}, {data}) {WIRE}")
            data = f"%w{number}"
        lines.append(f'%v{number} = stablehlo.add {data}, {recent(0.15)} : {T} loc("op.{number}")')
        values.append(f"%v{number}")
    return "\n".join([*lines, f"return {values[-1]} : {T} }} }}"])
