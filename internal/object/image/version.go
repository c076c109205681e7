package image

import (
	"bytes"

	"symbolon/internal/format/elf"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
)

// oldVersion is a bit of Kind that no type of code has: elf.Symbol.IsOld.
const oldVersion = 4

// kindOf returns the Kind of a symbol.
func kindOf(s *elf.Symbol) uint8 {
	kind := s.Bind<<4 | s.Type
	if s.IsOld {
		kind |= oldVersion
	}
	return kind
}

// Named returns the places of the symbols with a name, without its version. A library may
// have several versions of a name, some of them only for programs that were linked with
// an earlier release. The loader reports all of them by the bare name. It stands for the
// default version, with which programs are linked, unless there is none.
func (b *elfFile) Named(name string) []object.Place {
	list := b.NamedIn(func(s *units.Symbol) bool { isName, isOld := b.isVersion(s, name); return isName && !isOld })
	if len(list) > 1 { // lld writes names without versions into .symtab
		exported := b.NamedIn(func(s *units.Symbol) bool {
			isName, isOld := b.isVersion(s, name)
			return isName && !isOld && s.Table&1 != 0 // .dynsym
		})
		if len(exported) > 0 {
			return exported
		}
	}
	if len(list) > 0 {
		return list
	}
	return b.NamedIn(func(s *units.Symbol) bool { isName, _ := b.isVersion(s, name); return isName })
}

// isVersion reports whether a symbol is a version of a name, and one other than the
// default. In .symtab, the linker writes NAME@@VERSION for the default one and
// NAME@VERSION for others.
func (b *elfFile) isVersion(s *units.Symbol, name string) (isName, isOld bool) {
	version, ok := bytes.CutPrefix(b.SymbolName(s.Table, s.Name), []byte(name))
	switch {
	case !ok || len(version) > 0 && version[0] != '@':
		return false, false
	case bytes.HasPrefix(version, []byte("@@")):
		return true, false
	}
	return true, len(version) > 0 || s.Kind&oldVersion != 0
}
