// Values in quotes and in braces; lists; nested pipelines as values. The braces and quotes around a value come off.
// RUN: neuron-ctrldep-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{top-down=false enable-patterns=a,b})' 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: %if mlir-opt %{ %mlir-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{top-down=false enable-patterns=a,b})' 2>&1 | FileCheck %s --check-prefix=LIST %}
// RUN: neuron-ctrldep-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{ top-down="false"  enable-patterns={a,b} })' 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: %if mlir-opt %{ %mlir-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{ top-down="false"  enable-patterns={a,b} })' 2>&1 | FileCheck %s --check-prefix=LIST %}
// LIST: canonicalize{{{.*}}enable-patterns={a,b} {{.*}}top-down=false}

// All spellings of booleans; an empty value is true.
// RUN: neuron-ctrldep-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{top-down=TRUE},canonicalize{top-down=},canonicalize{top-down},canonicalize{top-down={True}})' 2>&1 | FileCheck %s --check-prefix=TRUE
// RUN: %if mlir-opt %{ %mlir-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{top-down=TRUE},canonicalize{top-down=},canonicalize{top-down},canonicalize{top-down={True}})' 2>&1 | FileCheck %s --check-prefix=TRUE %}
// TRUE-COUNT-4: top-down=true}
// RUN: neuron-ctrldep-opt %s --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{top-down=FALSE},func.func(canonicalize{top-down="False" max-iterations=3}),inline{op-pipelines={func.func(canonicalize{top-down=False})}})' 2>&1 | FileCheck %s --check-prefix=FALSE
// RUN: %if mlir-opt %{ %mlir-opt %s --dump-pass-pipeline --pass-pipeline='builtin.module(canonicalize{top-down=FALSE},func.func(canonicalize{top-down="False" max-iterations=3}),inline{op-pipelines={func.func(canonicalize{top-down=False})}})' 2>&1 | FileCheck %s --check-prefix=FALSE %}
// FALSE-COUNT-3: top-down=false}

// RUN: neuron-ctrldep-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(inline{default-pipeline="cse" op-pipelines={func.func(cse,canonicalize{max-iterations=2})}})' 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: %if mlir-opt %{ %mlir-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(inline{default-pipeline="cse" op-pipelines={func.func(cse,canonicalize{max-iterations=2})}})' 2>&1 | FileCheck %s --check-prefix=NESTED %}
// NESTED: inline{default-pipeline=cse {{.*}}op-pipelines={func.func(cse,canonicalize{{{.*}}max-iterations=2{{.*}}})}}

// The same grammar holds for the options of passes in Python. A flag alone is true; a list has commas.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(func.func(extra-count-ops{only={func.return,"odd name"}}),flatten-control-dep-tuple-operands{main-only neuron-exact=0})' 2>&1 | FileCheck %s --check-prefix=PYTHON
// PYTHON: extra-count-ops{only={func.return,{odd name}}}
// A list that is given twice goes on.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s -o /dev/null --dump-pass-pipeline --pass-pipeline='builtin.module(func.func(extra-count-ops{only=a,b only=c}),canonicalize{enable-patterns=a,b enable-patterns=c})' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: extra-count-ops{only={a,b,c}}
// TWICE: canonicalize{{{.*}}enable-patterns={a,b,c}
// PYTHON: flatten-control-dep-tuple-operands{main-only=true}

func.func @f() {
  return
}
