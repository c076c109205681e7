package elf

import (
	"slices"

	"symbolon/internal/ident"
)

// Values of Machine that are used in other files too.
const (
	machine386, machineX86_64  = 3, 62
	machineARM, machineARM64   = 40, 183
	machineMIPS, machineMIPSLE = 8, 10
	machinePPC, machinePPC64   = 20, 21
	machineRISCV, machineS390  = 243, 22
	machineARC, machineARC2    = 93, 195
	machineCSKY, machine68K    = 252, 4
	machineIA64, machineBPF    = 50, 247
	machineAVR, machineMSP430  = 83, 105
	machineHexagon             = 164
	machineLoongArch           = 258
	machineSPARC               = 2
	machineSPARC32Plus         = 18 // with instructions of version 9
	machineSPARCV9             = 43
)

// archs maps a machine to its instruction sets: those of 32-bit and 64-bit
// files in little-endian order, then in big-endian order.
var archs = map[uint16][4]ident.Arch{
	machineSPARC:       {0, 0, ident.ArchSPARC, 0},
	machine386:         {ident.ArchX86},
	machineMIPS:        {ident.ArchMIPSel, ident.ArchMIPS64el, ident.ArchMIPS, ident.ArchMIPS64},
	machineMIPSLE:      {ident.ArchMIPSel, ident.ArchMIPS64el, ident.ArchMIPS, ident.ArchMIPS64},
	machineSPARC32Plus: {0, 0, ident.ArchSPARC, 0},
	machinePPC:         {ident.ArchPPC, 0, ident.ArchPPC, 0},
	machinePPC64:       {0, ident.ArchPPC64le, 0, ident.ArchPPC64},
	machineS390:        {0, 0, ident.ArchS390, ident.ArchS390x},
	machineARM:         {ident.ArchARM, 0, ident.ArchARM, 0},
	machineSPARCV9:     {0, 0, 0, ident.ArchSPARC64},
	machineX86_64:      {ident.ArchX86_64, ident.ArchX86_64},
	machineARM64:       {ident.ArchARM64, ident.ArchARM64, ident.ArchARM64, ident.ArchARM64},
	machineRISCV:       {ident.ArchRISCV32, ident.ArchRISCV64, ident.ArchRISCV32, ident.ArchRISCV64},
	machineLoongArch:   {0, ident.ArchLoong64},
}

// Arch returns the instruction set.
func (f *File) Arch() ident.Arch {
	i := f.Class/32 - 1
	if f.big {
		i += 2
	}
	return archs[f.Machine][i]
}

// Kind returns the purpose of the file: "rel" is not linked, "dbg" has headers
// of code but not the code, "exe" is a program, "lib" a shared library, "dump"
// a core dump, "other" the rest.
//
// Programs that can be loaded at any address have the type of a library. Recent
// ones are marked (DF_1_PIE); older ones have an interpreter and no name.
func (f *File) Kind() string {
	switch {
	case f.Type == TypeRel:
		return "rel"
	case f.Type == TypeCore:
		return "dump"
	case f.isStripped():
		return "dbg"
	case f.Type == TypeExec:
		return "exe"
	case f.Type != TypeDyn:
		return "other"
	}
	interp := slices.ContainsFunc(f.Segments, func(s Segment) bool { return s.Type == segmentInterp })
	if f.dynamic(tagFlags1)&flagPIE != 0 || interp && f.dynamic(tagSOName) == 0 {
		return "exe"
	}
	return "lib"
}

// isStripped reports whether the file has sections of code, all without bytes.
func (f *File) isStripped() bool {
	isCode := func(s Section) bool { return s.Flags&(FlagExec|FlagAlloc) == FlagExec|FlagAlloc && s.Size > 0 }
	return slices.ContainsFunc(f.Sections, isCode) &&
		!slices.ContainsFunc(f.Sections, func(s Section) bool { return isCode(s) && s.stored() })
}
