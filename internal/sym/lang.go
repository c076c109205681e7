package sym

// Lang is the language that a function is written in.
type Lang uint8

const (
	LangNone Lang = iota // not known
	LangC
	LangCpp
	LangD
	LangGo
	LangObjC
	LangObjCpp
	LangRust
	LangSwift
	LangCSharp
	LangVisualBasic
	LangFSharp
	Langs // how many there are
)

var langNames = [Langs]string{"", "c", "cpp", "d", "go", "objc", "objcpp", "rust", "swift", "csharp", "visualbasic", "fsharp"}

// String is the name of the language, as Sentry's protocol has it; "" if it is
// not known.
func (l Lang) String() string {
	if l >= Langs {
		return ""
	}
	return langNames[l]
}

// ParseLang is the language of a name. It is false for one that is none.
func ParseLang(name string) (Lang, bool) {
	for l, n := range langNames {
		if n == name {
			return Lang(l), true
		}
	}
	return LangNone, false
}
