package extract

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/fault"
	"symbolon/internal/format/disas"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// arches maps architectures to their instruction sets. Code for 32-bit ARM uses
// two of them.
var arches = map[ident.Arch]disas.Arch{
	ident.ArchX86: disas.X86, ident.ArchX86_64: disas.X8664, ident.ArchX86_64h: disas.X8664, ident.ArchRISCV64: disas.RISCV64,
	ident.ArchARM64: disas.ARM64, ident.ArchARM64v8: disas.ARM64, ident.ArchARM64e: disas.ARM64,
	ident.ArchARM: disas.A32, ident.ArchARMv7: disas.A32,
}

// HasPads returns an error if calls in the code of a binary cannot be found.
func HasPads(code *object.Object) error {
	_, err := newSets(code, code)
	return err
}

// betweenWords reports whether one of the addresses cannot be that of an A32
// instruction.
func betweenWords(addrs []uint64) bool {
	return slices.ContainsFunc(addrs, func(addr uint64) bool { return addr&3 == 2 })
}

// sets determines the instruction set of code.
type sets struct {
	arch  disas.Arch       // A32 means both sets of 32-bit ARM
	list  []object.Stretch // of 32-bit ARM
	whole bool             // list covers all code
}

// newSets reads the stretches of the binary, or of the debug file if that
// covers all code or more functions.
func newSets(debug, code *object.Object) (s sets, err error) {
	arch := code.Info().Module.Arch
	switch s.arch = arches[arch]; s.arch {
	case 0:
		return s, fault.New(fault.Unsupported, "binary", "return pads are not supported for %s", arch)
	case disas.A32:
	default:
		return s, nil
	}
	if s.list, s.whole, err = code.Stretches(); err != nil || s.whole || debug == code {
		return s, err
	}
	list, whole, err := debug.Stretches()
	if whole || len(list) > len(s.list) {
		s.list, s.whole = list, whole
	}
	return s, err
}

// at returns the instruction set at an address of the module, 0 for data, and
// the number of bytes up to where another one may begin. If the list does not
// cover the address, a function with instructions between words is Thumb, and
// one without a symbol has the instruction set of the one before it.
func (s *sets) at(addr uint64, thumb bool) (arch disas.Arch, n uint64) {
	n = math.MaxUint64
	if s.arch != disas.A32 {
		return s.arch, n
	}
	i, found := slices.BinarySearchFunc(s.list, addr, func(s object.Stretch, addr uint64) int { return cmp.Compare(s.Addr, addr) })
	if !found {
		i--
	}
	if i+1 < len(s.list) {
		n = s.list[i+1].Addr - addr
	}
	switch {
	case !s.whole && thumb:
		return disas.T32, n
	case i < 0:
		return disas.A32, n
	}
	return [...]disas.Arch{object.ISAA32: disas.A32, object.ISAT32: disas.T32}[s.list[i].ISA], n
}
