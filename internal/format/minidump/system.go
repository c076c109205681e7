package minidump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// OS is an operating system.
type OS uint8

const (
	UnknownOS OS = iota
	Windows
	MacOS
	IOS
	Linux
	Solaris
	Android
	PS3
	NaCl
)

// systems lists the systems by their numbers: their names in the output of peers, and
// the types of their modules.
var systems = map[uint32]struct {
	os     OS
	name   string
	module ident.Type
}{
	1: {Windows, "Windows NT", ident.TypePE}, 2: {Windows, "Windows NT", ident.TypePE}, 3: {Windows, "Windows NT", ident.TypePE},
	0x8101: {MacOS, "Mac OS X", ident.TypeMachO}, 0x8102: {IOS, "iOS", ident.TypeMachO},
	0x8201: {Linux, "Linux", ident.TypeELF}, 0x8203: {Android, "Android", ident.TypeELF},
	0x8202: {Solaris, "Solaris", ident.TypeUnknown}, 0x8204: {PS3, "PS3", ident.TypeUnknown}, 0x8205: {NaCl, "NaCl", ident.TypeUnknown},
}

// cpus lists the CPUs by their numbers: their names in the output of peers, their
// instruction sets in either byte order, and whether addresses have 64 bits.
var cpus = map[uint16]struct {
	name        string
	little, big ident.Arch
	isWide      bool
}{
	0:      {"x86", ident.ArchX86, ident.ArchX86, false},
	1:      {"mips", ident.ArchMIPSel, ident.ArchMIPS, false},
	3:      {"ppc", ident.ArchPPC, ident.ArchPPC, false},
	5:      {"arm", ident.ArchARM, ident.ArchARM, false},
	9:      {"amd64", ident.ArchX86_64, ident.ArchX86_64, true},
	10:     {"x86", ident.ArchX86, ident.ArchX86, false}, // of a 64-bit Windows
	12:     {"arm64", ident.ArchARM64, ident.ArchARM64, true},
	0x8001: {"sparc", ident.ArchSPARC, ident.ArchSPARC, false},
	0x8002: {"ppc64", ident.ArchPPC64le, ident.ArchPPC64, true},
	0x8003: {"arm64", ident.ArchARM64, ident.ArchARM64, true}, // Breakpad's older number
	0x8004: {"mips64", ident.ArchMIPS64el, ident.ArchMIPS64, true},
	0x8005: {"riscv", ident.ArchRISCV32, ident.ArchRISCV32, false},
	0x8006: {"riscv64", ident.ArchRISCV64, ident.ArchRISCV64, true},
}

// System describes the machine and its operating system.
type System struct {
	OS                  OS
	OSName              string // in the output of peers; of an unknown system its number
	CPU                 string // its name in the output of peers
	Arch                ident.Arch
	Wide                bool // addresses of 64 bits
	CPUs                uint8
	Level, Revision     uint16 // of the CPU
	Major, Minor, Build uint32 // version of the system
	ServicePack         string // or what other systems than Windows have: a build, a text of uname

	module  ident.Type // of its modules
	details [24]byte   // of the CPU
	order   binary.ByteOrder
}

// address removes the sign extension of an address of 32 bits.
func (s *System) address(a uint64) uint64 {
	if !s.Wide && s.Arch != ident.ArchUnknown && a>>31 == 1<<33-1 {
		a &= 1<<32 - 1
	}
	return a
}

// Version returns the version of the system and its build, which may be empty.
// Linux has both in the text of uname -srvmo.
func (s *System) Version() (version, build string) {
	version = fmt.Sprintf("%d.%d.%d", s.Major, s.Minor, s.Build)
	build = strings.TrimSpace(s.ServicePack)
	if version != "0.0.0" || s.OS != Linux {
		return version, build
	}
	words := strings.Split(build, " ")
	if len(words) < 2 {
		return version, build
	}
	last := len(words) - 1
	if words[last] == "Linux/GNU" {
		last--
	}
	return words[1], strings.Join(words[2:max(last, 2)], " ")
}

// CPUInfo describes the CPU as the peers do. It is empty for a CPU that they do
// not describe.
func (s *System) CPUInfo() string {
	c := bin.NewCursor(s.details[:], s.order)
	model := fmt.Sprintf("family %d model %d stepping %d", s.Level, s.Revision>>8, s.Revision&0xff)
	switch s.CPU {
	case "amd64":
		return model
	case "x86":
		return strings.TrimSpace(valid(bytes.Trim(c.Bytes(12), "\x00")) + " " + model)
	case "arm":
		return armInfo(s.Level, c.U32(), c.U32())
	}
	return ""
}

// Names of ARM CPUs: the vendor is in the upper byte of the number, the part in
// the bits of armPart.
const armPart = 0xff00fff0

var (
	armVendors = map[uint32]string{0x41: "ARM", 0x51: "Qualcomm", 0x56: "Marvell", 0x69: "Intel/Marvell"}
	armParts   = map[uint32]string{
		0x4100c050: "Cortex-A5", 0x4100c080: "Cortex-A8", 0x4100c090: "Cortex-A9", 0x4100c0f0: "Cortex-A15",
		0x4100c140: "Cortex-R4", 0x4100c150: "Cortex-R5", 0x4100b360: "ARM1136", 0x4100b560: "ARM1156", 0x4100b760: "ARM1176",
		0x4100b020: "ARM11-MPCore", 0x41009260: "ARM926", 0x41009460: "ARM946", 0x41009660: "ARM966",
		0x510006f0: "Krait", 0x510000f0: "Scorpion",
	}
	armFeatures = strings.Fields("swp half thumb 26bit fastmult fpa vfpv2 edsp java iwmmxt crunch thumbee neon vfpv3 vfpv3d16 tls vfpv4 idiva idivt")
)

// armInfo describes an ARM CPU by its number and the features that the kernel
// reports.
func armInfo(level uint16, id, features uint32) string {
	text := fmt.Sprintf("ARMv%d", level)
	if id != 0 {
		vendor, ok := armVendors[id>>24]
		if !ok {
			vendor = fmt.Sprintf("vendor(%#x)", id>>24)
		}
		part, ok := armParts[id&armPart]
		if !ok {
			part = fmt.Sprintf("part(%#x)", id&armPart)
		}
		text += " " + vendor + " " + part
	}
	var has []string
	for i, name := range armFeatures {
		if features>>i&1 != 0 {
			has = append(has, name)
		}
	}
	if len(has) > 0 {
		text += " features: " + strings.Join(has, ",")
	}
	return text
}

// version reads a VS_FIXEDFILEINFO. Writers on other systems than those of
// Microsoft and Apple store four numbers in it.
func (s *System) version(c *bin.Cursor) string {
	signature, layout := c.U32(), c.U32()
	a, b, x, y := c.U32(), c.U32(), c.U32(), c.U32()
	c.Skip(28)
	switch {
	case signature != 0xfeef04bd || layout != 0x00010000:
		return ""
	case s.OS == Windows || s.OS == MacOS || s.OS == IOS:
		return fmt.Sprintf("%d.%d.%d.%d", a>>16, a&0xffff, b>>16, b&0xffff)
	}
	return fmt.Sprintf("%d.%d.%d.%d", a, b, x, y)
}
