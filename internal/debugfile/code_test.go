package debugfile_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

// stretches are those of an object, a word each.
func stretches(o *object.Object) string {
	list, whole, err := o.Stretches()
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, s := range list {
		fmt.Fprintf(&out, "%s%x ", [...]string{object.ISAData: "data", object.ISAA32: "a32:", object.ISAT32: "t32:"}[s.ISA], s.Addr)
	}
	return fmt.Sprint(out.String(), whole)
}

// arm is a program for 32-bit ARM that is linked for 0x1000, with symbols of its
// code.
func arm(e fixture.ELF, table uint32, symbols ...fixture.ELFSymbol) *fixture.ELF {
	e.Type, e.Machine = 2, 40
	at := e.Next()
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x1100, Data: make([]byte, 0x100)})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: at, Vaddr: 0x1000, Filesz: 0x100, Memsz: 0x1000})
	for i := range symbols {
		symbols[i].Section = 1
	}
	e.Symtab(map[uint32]string{2: ".symtab", 11: ".dynsym"}[table], table, symbols...)
	return &e
}

func TestStretchesOfARM(t *testing.T) {
	mapped := func(e fixture.ELF) []byte {
		return arm(e, 2, fixture.ELFSymbol{Name: "$a", Value: 0x1100}, fixture.ELFSymbol{Name: "$t", Value: 0x1110}, fixture.ELFSymbol{Name: "$d", Value: 0x1120}, fixture.ELFSymbol{Name: "$t", Value: 0x40}).Bytes()
	}
	var plain fixture.ELF
	mini := arm(plain, 11, fixture.ELFSymbol{Name: "f", Kind: 2, Value: 0x1101})
	inner := arm(plain, 2, fixture.ELFSymbol{Name: "g", Kind: 2, Value: 0x1104}, fixture.ELFSymbol{Name: "h", Kind: 2, Value: 0x1109}).Bytes()
	mini.Add(fixture.ELFSection{Name: ".gnu_debugdata", Type: 1, Data: fixture.NewXZ(4).Block(fixture.XZStored(inner), inner, true).Bytes()})
	for want, file := range map[string][]byte{
		"a32:100 t32:110 data120 data200 true": mapped(plain),
		"t32:100 false":                        arm(plain, 11, fixture.ELFSymbol{Name: "f", Kind: 2, Value: 0x1101}).Bytes(),
		"a32:104 t32:108 false":                mini.Bytes(),
		"false":                                fixture.NewSym("x").Func(0x10, 0x30, "f").Bytes(),
		"t32:0 true":                           fixture.NewPE(fixture.PEARM).Bytes(),
		"pe: unsupported: where its code for arm is Thumb is not known":               fixture.NewPE(0x1c2).Bytes(),
		"macho: unsupported: this format does not tell which code for armv7 is Thumb": fixture.NewMachO(fixture.MachOARM, 9, fixture.MachODylib).Bytes(),
		"elf: unsupported: its instructions for arm are big endian":                   mapped(fixture.ELF{Big: true}),
	} {
		if got := stretches(open(t, file)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := stretches(open(t, mapped(fixture.ELF{Big: true, Flags: 0x00800000}))); got != stretches(open(t, mapped(plain))) {
		t.Error(got)
	}
}
