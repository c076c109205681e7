package sym

// Lang is the source language of a function.
type Lang uint8

const (
	LangNone Lang = iota // unknown
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
	Langs // the number of languages
)

var langNames = [Langs]string{"", "c", "cpp", "d", "go", "objc", "objcpp", "rust", "swift", "csharp", "visualbasic", "fsharp"}

// String returns the name of the language in Sentry's protocol, "" if it is
// unknown.
func (l Lang) String() string {
	if l >= Langs {
		return ""
	}
	return langNames[l]
}

// ParseLang returns the language of a name. It returns false for an unknown
// name.
func ParseLang(name string) (lang Lang, ok bool) {
	for l, n := range langNames {
		if n == name {
			return Lang(l), true
		}
	}
	return LangNone, false
}
