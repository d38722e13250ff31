// Each diagnostic has its comment, and each comment its diagnostic.
// RUN: neuron-ctrldep-opt %s --split-input-file --verify-diagnostics
// RUN: %if mlir-opt %{ %mlir-opt %s --split-input-file --verify-diagnostics %}

// The line below, by number and by word; the text need only be a part of the message.
func.func @below() {
  // expected-error @+1 {{custom op 'bad' is unknown}}
  bad
}
// -----
// expected-error @below {{redefinition of symbol named 'f'}}
func.func private @f() func.func private @f()
// expected-note @above {{see existing symbol definition here}}

// -----
// The same line, and lines above.
func.func private @g()
func.func private @g() // expected-error {{redefinition}}
// expected-note @-2 {{see existing symbol definition here}}

// -----
// Regular expressions in braces; the rest of the text is literal.
// expected-error-re @+1 {{custom op '{{b.d}}' is unknown (tried '{{[a-z]+}}.bad' as well)}}
bad

// -----
// A part without diagnostics and without comments.
func.func private @h()
