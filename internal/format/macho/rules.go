package macho

import (
	"fmt"
	"slices"

	"symbolon/internal/ident"
)

// Modes of an encoding.
const (
	x86Frame       = 0x01000000 // relative to the frame pointer
	x86Frameless   = 0x02000000 // by a size
	x86FrameInCode = 0x03000000 // by a size that is in the code
	x86DWARF       = 0x04000000

	arm64Frameless = 0x02000000
	arm64DWARF     = 0x03000000
	arm64Frame     = 0x04000000

	armFrame  = 0x01000000
	armFrameD = 0x02000000 // the same, with floating-point registers
	armDWARF  = 0x04000000
)

// family has the parameters of the encodings of a processor family.
type family struct {
	rules func(*rules, Entry) bool
	dwarf uint32 // the mode of an FDE
	word  int    // of x86: bytes of a register
	names [7]string
	stack string
}

// familyOf returns the family of an instruction set. Registers of x86 are
// numbered from 1, the frame pointer is the last.
func familyOf(a ident.Arch) family {
	switch a {
	case ident.ArchX86:
		return family{(*rules).x86, x86DWARF, 4, [7]string{"", "$ebx", "$ecx", "$edx", "$edi", "$esi", "$ebp"}, "$esp"}
	case ident.ArchX86_64, ident.ArchX86_64h:
		return family{(*rules).x86, x86DWARF, 8, [7]string{"", "$rbx", "$r12", "$r13", "$r14", "$r15", "$rbp"}, "$rsp"}
	case ident.ArchARM64, ident.ArchARM64v8, ident.ArchARM64e, ident.ArchARM64_32, ident.ArchARM64_32v8:
		return family{rules: (*rules).arm64, dwarf: arm64DWARF}
	case ident.ArchARM, ident.ArchARMv5, ident.ArchARMv6, ident.ArchARMv6m, ident.ArchARMv7, ident.ArchARMv7f,
		ident.ArchARMv7s, ident.ArchARMv7k, ident.ArchARMv7m, ident.ArchARMv7em:
		return family{rules: (*rules).arm, dwarf: armDWARF}
	}
	return family{}
}

// AppendCompact appends the rules of an entry in the form of a Breakpad STACK
// CFI INIT record after the size. It returns false, and appends nothing, if the
// encoding has no rules of its own: if it is empty or unknown, or refers to an
// FDE or to code that is not in the file.
func AppendCompact(dst []byte, e Entry, arch ident.Arch) ([]byte, bool) {
	r := rules{family: familyOf(arch), dst: dst}
	if r.family.rules == nil || e.DWARF || !r.family.rules(&r, e) {
		return dst, false
	}
	// Each rule begins with a blank.
	return slices.Delete(r.dst, len(dst), len(dst)+1), true
}

// rules builds the text of rules.
type rules struct {
	family
	dst []byte
}

// value appends the rule that a register has the value of another plus an
// offset.
func (r *rules) value(name, other string, offset int) {
	r.dst = fmt.Appendf(r.dst, " %s: %s %d +", name, other, offset)
}

// saved appends the rule that a register is in memory, at an offset from the
// frame address.
func (r *rules) saved(name string, offset int) {
	r.dst = fmt.Appendf(r.dst, " %s: .cfa %d + ^", name, offset)
}

func (r *rules) x86(e Entry) bool {
	w := r.family.word
	switch e.Encoding & encodingModeMask {
	case x86Frame:
		bp := r.names[6]
		r.value(".cfa", bp, 2*w)
		r.saved(bp, -2*w)
		r.saved(".ra", -w)
		// Five fields of three bits, for ascending addresses below the frame
		// pointer.
		at := -w * (int(e.Encoding>>16&0xff) + 2)
		for i := range 5 {
			if n := e.Encoding >> (3 * i) & 7; n > 0 && n < 7 {
				r.saved(r.names[n], at+i*w)
			}
		}
		return true
	case x86Frameless:
		return r.frameless(e, w*int(e.Encoding>>16&0xff))
	case x86FrameInCode:
		return r.frameless(e, int(e.Stack))
	}
	return false
}

// frameless appends the rules for a frame of a known size, which contains the
// return address and, below it, the saved registers. Their order is encoded as
// a number: digit i is an index in the list of registers not yet used, and has
// 6-i values.
func (r *rules) frameless(e Entry, size int) bool {
	w := r.family.word
	count, code := int(e.Encoding>>10&7), int(e.Encoding&0x3ff)
	if size < w*(count+1) || count > 6 {
		return false
	}
	var order [6]string
	var taken [7]bool
	for i := range count {
		weight := 1
		for j := i + 1; j < count; j++ {
			weight *= 6 - j
		}
		digit, n := code/weight, 1
		for code %= weight; n < 7 && (taken[n] || digit > 0); n++ {
			if !taken[n] {
				digit--
			}
		}
		if n == 7 {
			return false
		}
		taken[n], order[i] = true, r.names[n]
	}
	r.value(".cfa", r.stack, size)
	r.saved(".ra", -w)
	for i := count - 1; i >= 0; i-- {
		r.saved(order[i], -w*(count-i+1))
	}
	return true
}

// arm64Pairs lists the bits of register pairs, which are saved from high to low
// addresses.
var arm64Pairs = [...]struct {
	bit           uint32
	first, second string
}{
	{0x001, "x19", "x20"}, {0x002, "x21", "x22"}, {0x004, "x23", "x24"}, {0x008, "x25", "x26"}, {0x010, "x27", "x28"},
	{0x100, "d8", "d9"}, {0x200, "d10", "d11"}, {0x400, "d12", "d13"}, {0x800, "d14", "d15"},
}

func (r *rules) arm64(e Entry) bool {
	at := 0
	switch e.Encoding & encodingModeMask {
	case arm64Frameless:
		r.value(".cfa", "sp", 16*int(e.Encoding>>12&0xfff))
		r.value(".ra", "x30", 0)
	case arm64Frame:
		r.value(".cfa", "x29", 16)
		r.saved("x29", -16)
		r.saved(".ra", -8)
		at = -16
	default:
		return false
	}
	for _, p := range arm64Pairs {
		if e.Encoding&p.bit != 0 {
			r.saved(p.first, at-8)
			r.saved(p.second, at-16)
			at -= 16
		}
	}
	return true
}

// armPushed lists the bits of pushed registers in the order of descending
// addresses.
var armPushed = [...]struct {
	bit  uint32
	name string
}{
	{0x04, "r6"}, {0x02, "r5"}, {0x01, "r4"}, {0x80, "r12"}, {0x40, "r11"}, {0x20, "r10"}, {0x10, "r9"}, {0x08, "r8"},
}

// arm omits the floating-point registers of armFrameD: stack walkers do not
// need them.
func (r *rules) arm(e Entry) bool {
	if mode := e.Encoding & encodingModeMask; mode != armFrame && mode != armFrameD {
		return false
	}
	at := -8 - 4*int(e.Encoding>>22&3) // after variable arguments
	r.value(".cfa", "r7", -at)
	r.saved("r7", at)
	r.saved(".ra", at+4)
	for _, p := range armPushed {
		if e.Encoding&p.bit != 0 {
			at -= 4
			r.saved(p.name, at)
		}
	}
	return true
}
