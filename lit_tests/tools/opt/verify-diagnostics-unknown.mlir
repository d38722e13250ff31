// Diagnostics without a place in the file are expected at @unknown; those of passes come in the same form.
// RUN: env PYTHONPATH=%S/Inputs/extra_passes neuron-ctrldep-opt %s --split-input-file --verify-diagnostics --extra-fail

// expected-error @unknown {{functions are not welcome here}}
func.func @a() {
  return
} loc(unknown)

// -----
// expected-error @+1 {{functions are not welcome here}}
func.func @b() {
  return
}
