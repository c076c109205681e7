package object

import (
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// AppendCode appends what the file has of size bytes of code at an address. It
// is less where the code ends, and nothing where there is none.
func (o *Object) AppendCode(dst []byte, addr, size uint64) (out []byte, err error) {
	g, ok := o.view.(*image)
	if !ok || g.codeAt == nil {
		return dst, nil
	}
	defer unfault(&err)()
	return append(dst, g.codeAt(addr+g.bases[0], size)...), nil
}

// ISA is what code for 32-bit ARM is.
type ISA uint8

const (
	ISAData ISA = iota // no code: literals, tables of jumps
	ISAA32
	ISAT32 // Thumb
)

// Stretch is code for 32-bit ARM from an address on.
type Stretch struct {
	Addr uint64
	ISA  ISA
}

// Stretches tells which instruction set code for 32-bit ARM is of, in ascending
// order. If it is whole it tells that of all code, each stretch lasting to the
// next; else only that of the first instructions of functions. It is an error if
// that is no help: of code in another byte order, and of kinds of files where it
// cannot be told.
func (o *Object) Stretches() (list []Stretch, whole bool, err error) {
	g, ok := o.view.(*image)
	if !ok {
		return nil, false, nil
	}
	if g.stretches == nil {
		return nil, false, fault.New(fault.Unsupported, o.info.Kind, "where code for %s is Thumb is not known of this kind of file", o.info.Module.Arch)
	}
	defer unfault(&err)()
	return g.stretches()
}

// stretches are those of an ELF file, and without mapping symbols those of the
// small file in it.
func (b *elfBinary) stretches() (list []Stretch, whole bool, err error) {
	if b.f.SwappedCode() {
		return nil, false, fault.New(fault.Unsupported, "elf", "its instructions for %s are big endian", b.f.Arch())
	}
	marks, whole := b.f.Marks()
	if !whole && b.inner != nil {
		if inner, all := b.inner.Marks(); all || len(inner) > len(marks) {
			marks, whole = inner, all
		}
	}
	kinds := map[byte]ISA{'a': ISAA32, 't': ISAT32}
	for _, m := range marks {
		if base := b.image.bases[0]; m.Addr >= base {
			list = append(list, Stretch{m.Addr - base, kinds[m.Kind]})
		}
	}
	return list, whole, nil
}

// stretches are those of a PE file: Windows knows Thumb only, in what it calls
// ARMNT.
func (b *peBinary) stretches() (list []Stretch, whole bool, err error) {
	if arch := b.f.Arch(); arch != ident.ArchARMv7 {
		return nil, false, fault.New(fault.Unsupported, "pe", "where its code for %s is Thumb is not known", arch)
	}
	return []Stretch{{ISA: ISAT32}}, true, nil
}
