// Each pass is a flag. They run in the order given, each on the op it works on: mhlo-flatten-tuple on functions, the
// others here on the module.
// RUN: neuron-ctrldep-opt %s --symbol-dce --cse --canonicalize='top-down=false max-iterations=3' --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: %if mlir-opt %{ %mlir-opt %s --symbol-dce --cse --canonicalize='top-down=false max-iterations=3' --dump-pass-pipeline 2>&1 | FileCheck %s %}
// RUN: neuron-ctrldep-opt %s -symbol-dce -cse '-canonicalize=top-down=false max-iterations=3' --dump-pass-pipeline 2>&1 | FileCheck %s
// CHECK: builtin.module(
// CHECK-NEXT: symbol-dce,
// CHECK-NEXT: cse,
// CHECK-NEXT: canonicalize{{{.*}}max-iterations=3{{.*}}top-down=false}
// CHECK-NEXT: )

// RUN: neuron-ctrldep-opt %s --cse --mhlo-flatten-tuple --mhlo-legalize-dot-to-dot-general --flatten-control-dep-tuple-operands=main-only=true -o /dev/null --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: builtin.module(
// NESTED-NEXT: {{^}}  cse,
// NESTED-NEXT: {{^}}  func.func(
// NESTED-NEXT: {{^}}    mhlo-flatten-tuple,
// NESTED-NEXT: {{^}}    mhlo-legalize-dot-to-dot-general
// NESTED-NEXT: {{^}}  ),
// NESTED-NEXT: {{^}}  flatten-control-dep-tuple-operands{main-only=true}
// NESTED-NEXT: {{^}})

// Faults are shown in the flag. An unknown flag is a fault of the command line, with status 2.
// RUN: not neuron-ctrldep-opt %s --canonicalize=max-iterations=x 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: command-line:1:31: error: option 'max-iterations' of pass 'canonicalize': 'x' value invalid for {{.*}} argument!
// VALUE-NEXT: {{^}}--canonicalize=max-iterations=x{{$}}
// VALUE-NEXT: {{^}}                              ^{{$}}
// RUN: not neuron-ctrldep-opt %s --no-such-flag 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: Unknown command line argument '--no-such-flag'
// RUN: not neuron-ctrldep-opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=MEANT
// RUN: %if mlir-opt %{ not %mlir-opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=MEANT %}
// MEANT: Unknown command line argument '--canonicalise'
// MEANT: {{[dD]}}id you mean '--canonicalize'?
// RUN: not neuron-ctrldep-opt %s --cse --pass-pipeline='builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: %if mlir-opt %{ not %mlir-opt %s --cse --pass-pipeline='builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=BOTH %}
// BOTH: error: '{{-+}}pass-pipeline' {{.*}}can't be used with individual pass options

func.func @f() {
  return
}
