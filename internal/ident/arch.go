package ident

import "strings"

// Arch is the instruction set of a binary.
type Arch uint8

const (
	ArchUnknown Arch = iota
	ArchX86
	ArchX86_64
	ArchX86_64h
	ArchARM
	ArchARMv5
	ArchARMv6
	ArchARMv6m
	ArchARMv7
	ArchARMv7f
	ArchARMv7s
	ArchARMv7k
	ArchARMv7m
	ArchARMv7em
	ArchARM64
	ArchARM64v8
	ArchARM64e
	ArchARM64_32
	ArchARM64_32v8
	ArchPPC
	ArchPPC64
	ArchPPC64le
	ArchMIPS
	ArchMIPSel
	ArchMIPS64
	ArchMIPS64el
	ArchRISCV32
	ArchRISCV64
	ArchS390
	ArchS390x
	ArchSPARC
	ArchSPARC64
	ArchLoong64
	ArchWasm32
	ArchWasm64
)

// archNames lists the names of each Arch, the canonical one first. The other names are
// used by Breakpad, GNU, LLVM, Debian, Go, Microsoft, Apple's crash reports and uname.
var archNames = [...][]string{
	ArchUnknown:    {"unknown"},
	ArchX86:        {"x86", "i386", "i486", "i586", "i686", "ia32", "386", "x86_unknown"},
	ArchX86_64:     {"x86_64", "amd64", "x64", "x86-64", "x86_64_unknown"},
	ArchX86_64h:    {"x86_64h"},
	ArchARM:        {"arm", "arm32", "armel", "armhf", "arm_unknown"},
	ArchARMv5:      {"armv5", "armv5t", "armv5te", "armv5tel"},
	ArchARMv6:      {"armv6", "armv6l"},
	ArchARMv6m:     {"armv6m"},
	ArchARMv7:      {"armv7", "armv7a", "armv7l", "armeabi-v7a", "thumbv7"},
	ArchARMv7f:     {"armv7f"},
	ArchARMv7s:     {"armv7s"},
	ArchARMv7k:     {"armv7k"},
	ArchARMv7m:     {"armv7m"},
	ArchARMv7em:    {"armv7em"},
	ArchARM64:      {"arm64", "aarch64", "arm-64", "arm64-v8a", "arm64_unknown"},
	ArchARM64v8:    {"arm64v8"},
	ArchARM64e:     {"arm64e"},
	ArchARM64_32:   {"arm64_32", "arm64_32_unknown"},
	ArchARM64_32v8: {"arm64_32_v8"},
	ArchPPC:        {"ppc", "powerpc", "ppc32"},
	ArchPPC64:      {"ppc64", "powerpc64"},
	ArchPPC64le:    {"ppc64le", "powerpc64le", "ppc64el"},
	ArchMIPS:       {"mips", "mips32"},
	ArchMIPSel:     {"mipsel", "mipsle", "mips32el"},
	ArchMIPS64:     {"mips64"},
	ArchMIPS64el:   {"mips64el", "mips64le"},
	ArchRISCV32:    {"riscv32", "riscv"},
	ArchRISCV64:    {"riscv64"},
	ArchS390:       {"s390"},
	ArchS390x:      {"s390x", "systemz"},
	ArchSPARC:      {"sparc"},
	ArchSPARC64:    {"sparc64", "sparcv9"},
	ArchLoong64:    {"loongarch64", "loong64"},
	ArchWasm32:     {"wasm32", "wasm"},
	ArchWasm64:     {"wasm64"},
}

// MachineArch returns the architecture of the machine number in the header of a
// PE file or a PDB.
func MachineArch(machine uint16) Arch {
	switch machine {
	case 0x014c:
		return ArchX86
	case 0x8664:
		return ArchX86_64
	case 0x01c0, 0x01c2:
		return ArchARM
	case 0x01c4:
		return ArchARMv7
	case 0xaa64, 0xa641, 0xa64e: // the latter two may contain x86-64 code
		return ArchARM64
	}
	return ArchUnknown
}

// ParseArch returns the Arch of a name in any case, ArchUnknown for an unknown
// name.
func ParseArch(name string) Arch {
	for a, names := range archNames {
		for _, n := range names {
			if strings.EqualFold(n, name) {
				return Arch(a)
			}
		}
	}
	return ArchUnknown
}

// String returns the canonical name.
func (a Arch) String() string {
	if int(a) < len(archNames) {
		return archNames[a][0]
	}
	return quoteUint("arch", uint8(a))
}

// Family returns the Arch whose name does not state the byte order, for peers
// that have only that name: ppc64 for ppc64le.
func (a Arch) Family() Arch {
	switch a {
	case ArchPPC64le:
		return ArchPPC64
	case ArchMIPSel:
		return ArchMIPS
	case ArchMIPS64el:
		return ArchMIPS64
	}
	return a
}

// BigEndian reports whether a is big endian. An unknown Arch is little endian,
// as nearly all clients are.
func (a Arch) BigEndian() bool {
	switch a {
	case ArchPPC, ArchPPC64, ArchMIPS, ArchMIPS64, ArchS390, ArchS390x, ArchSPARC, ArchSPARC64:
		return true
	}
	return false
}
