// expected-error @+1 {{redefinition of symbol}}
func.func private @f() func.func private @f()
