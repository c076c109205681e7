package core

// Style selects the parts of a name that its readable form has.
type Style uint8

// The styles.
const (
	Full     Style = iota // all that is in the name: void ns::f<int>(int)
	NoParams              // the qualified name: ns::f<int>
	Simple                // without template and generic arguments too: ns::f
	LLVM                  // Full, with C++ spelled as LLVM's tools do
	Called                // the function without its result: ns::f<int>(int)
	Bare                  // Full without the arguments of templates: void ns::f(int)
)

// IsShort reports whether the style leaves out the type of a function.
func (s Style) IsShort() bool { return s == NoParams || s == Simple }
