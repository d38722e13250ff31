func.func private @f()
// CUT
func.func private @f()
