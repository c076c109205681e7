package macho

import "symbolon/internal/ident"

// Processor families.
const (
	cpuX86   = 7
	cpuARM   = 12
	cpuPPC   = 18
	cpu64    = 0x01000000
	cpu64_32 = 0x02000000
)

// File types.
const (
	fileTypeObject  = 1
	fileTypeFileset = 12
)

// kinds maps file types to names: object, program, fixed library, core,
// preloaded program, library, dynamic linker, bundle, stub, dSYM, kernel
// extension.
var kinds = [...]string{"other", "rel", "exe", "lib", "dump", "exe", "lib", "exe", "lib", "other", "dbg", "lib"}

// arches lists the members of processor families with names of their own.
var arches = [...]struct {
	cpu, sub uint32
	arch     ident.Arch
}{
	{cpuX86 | cpu64, 8, ident.ArchX86_64h},
	{cpuARM | cpu64, 1, ident.ArchARM64v8},
	{cpuARM | cpu64, 2, ident.ArchARM64e},
	{cpuARM | cpu64_32, 1, ident.ArchARM64_32v8},
	{cpuARM, 6, ident.ArchARMv6},
	{cpuARM, 7, ident.ArchARMv5},
	{cpuARM, 9, ident.ArchARMv7},
	{cpuARM, 10, ident.ArchARMv7f},
	{cpuARM, 11, ident.ArchARMv7s},
	{cpuARM, 12, ident.ArchARMv7k},
	{cpuARM, 14, ident.ArchARMv6m},
	{cpuARM, 15, ident.ArchARMv7m},
	{cpuARM, 16, ident.ArchARMv7em},
}

// Arch returns the instruction set, for an unknown member that of its family.
// The upper byte of the sub-type has capabilities, such as the version of
// arm64e.
func (f *File) Arch() ident.Arch {
	for _, a := range arches {
		if a.cpu == f.CPU && a.sub == f.SubCPU&0xffffff {
			return a.arch
		}
	}
	switch f.CPU {
	case cpuX86:
		return ident.ArchX86
	case cpuX86 | cpu64:
		return ident.ArchX86_64
	case cpuARM:
		return ident.ArchARM
	case cpuARM | cpu64:
		return ident.ArchARM64
	case cpuARM | cpu64_32:
		return ident.ArchARM64_32
	case cpuPPC:
		return ident.ArchPPC
	case cpuPPC | cpu64:
		return ident.ArchPPC64
	}
	return ident.ArchUnknown
}

// Kind returns the purpose of the file: rel, exe, lib, dbg, dump or other.
func (f *File) Kind() string {
	if int64(f.FileType) < int64(len(kinds)) {
		return kinds[f.FileType]
	}
	return kinds[0]
}

// LoadAddress returns the preferred address of the image: that of __TEXT, and 0
// for an object file.
func (f *File) LoadAddress() uint64 {
	for i := range f.Segments {
		if f.Segments[i].Name == "__TEXT" {
			return f.Segments[i].Addr
		}
	}
	return 0
}
