package pdb

// Language is what the source of a module is written in, in the numbers of the
// format.
type Language uint8

const (
	LanguageC       Language = 0x00
	LanguageCpp     Language = 0x01
	LanguageCSharp  Language = 0x0a
	LanguageBasic   Language = 0x0b
	LanguageObjC    Language = 0x11
	LanguageObjCpp  Language = 0x12
	LanguageSwift   Language = 0x13
	LanguageRust    Language = 0x15
	LanguageGo      Language = 0x16
	LanguageD       Language = 'D'
	LanguageUnknown Language = 0xff // the module does not say
)

// readLanguage reads the record that tells about the compiler of a module.
// Modules that a linker has put together have several: the first counts, as
// the procedures that follow it are most of the module.
func (m *Body) readLanguage(r record) {
	at := 0
	switch r.kind {
	case symCompile: // behind the machine
		at = 1
	case symCompile2, symCompile2ST, symCompile3:
	default:
		return
	}
	if at < len(r.data) {
		m.Language = Language(r.data[at])
	}
}
