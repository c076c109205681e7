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

// arches are the instruction sets whose calls are found. Code for 32-bit ARM is of
// two of them.
var arches = map[ident.Arch]disas.Arch{
	ident.ArchX86: disas.X86, ident.ArchX86_64: disas.X8664, ident.ArchX86_64h: disas.X8664, ident.ArchRISCV64: disas.RISCV64,
	ident.ArchARM64: disas.ARM64, ident.ArchARM64v8: disas.ARM64, ident.ArchARM64e: disas.ARM64,
	ident.ArchARM: disas.A32, ident.ArchARMv7: disas.A32,
}

// HasPads says whether calls are found in the code of a binary: nil if they are.
func HasPads(code *object.Object) error {
	_, err := newSets(code, code)
	return err
}

// betweenWords says whether one of these addresses is where no instruction of A32
// can be.
func betweenWords(addrs []uint64) bool {
	return slices.ContainsFunc(addrs, func(addr uint64) bool { return addr&3 == 2 })
}

// sets tell which instruction set code is of.
type sets struct {
	arch  disas.Arch       // A32 is either one of 32-bit ARM
	list  []object.Stretch // of 32-bit ARM
	whole bool             // they tell it of all code
}

// newSets asks the binary, or what tells it of all code, or of the most functions.
func newSets(debug, code *object.Object) (s sets, err error) {
	arch := code.Info().Module.Arch
	switch s.arch = arches[arch]; s.arch {
	case 0:
		return s, fault.New(fault.Unsupported, "binary", "calls are not found in code for %s: there are no return pads of it", arch)
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

// at is the instruction set at an address of the module, none for data, and how many
// bytes there are to where another one may begin. Where the list does not tell it, a
// function that can only be Thumb is, and one whose symbol is missing is taken to be
// as that before it.
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
