package image

import (
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/elf"
	"symbolon/internal/format/macho"
	"symbolon/internal/format/pe"
	"symbolon/internal/format/wasm"
	"symbolon/internal/object"
)

// promised returns the features that a section of this name has, unless it is damaged.
// Embedded sources have no section of their own.
func promised(name string) object.Features {
	switch strings.TrimSuffix(strings.TrimPrefix(strings.TrimLeft(name, "._"), "z"), ".dwo") {
	case "debug_info":
		return object.HasDebug
	case "symtab", "dynsym", "gnu_debugdata", "gopclntab", "name", "linking":
		return object.HasSymbols
	case "eh_frame", "debug_frame", "unwind_info":
		return object.HasUnwind
	}
	return 0
}

// DescribeELF describes a file by its headers.
func DescribeELF(src bin.Source) ([]object.Info, error) {
	f, err := elf.OpenHeaders(src)
	if err != nil {
		return nil, err
	}
	info := object.Info{Kind: "elf", Type: f.Kind(), LoadAddress: f.LoadAddress(), Module: elfModule(f)}
	for _, s := range f.Sections {
		if s.Type != elf.SectionNoBits && s.Size > 0 {
			info.Features |= promised(s.Name)
		}
	}
	return []object.Info{info}, nil
}

// CheckWholeELF returns an error for a file that ends before a part that its headers
// declare.
func CheckWholeELF(src bin.Source) error {
	f, err := elf.OpenHeaders(src)
	if err == nil && f.IsCut {
		err = fault.New(fault.Malformed, "elf", "the file is cut off: its headers declare more than its %d bytes", src.Size())
	}
	return err
}

// DescribeMachO describes all images of a file that can be opened, by their headers.
func DescribeMachO(src bin.Source) (list []object.Info, err error) {
	images, err := macho.Slices(src)
	for _, s := range images {
		f, err := macho.Open(src, s)
		if err != nil {
			continue
		}
		info := object.Info{Kind: "macho", Type: f.Kind(), LoadAddress: f.LoadAddress(), Name: s.Name, Module: machoModule(f)}
		for _, s := range f.Sections {
			if s.Off > 0 {
				info.Features |= promised(s.Name)
			}
		}
		f.Symbols(func(macho.Symbol) bool { info.Features |= object.HasSymbols; return false })
		list = append(list, info)
	}
	return list, err
}

// DescribePE describes a file by its headers.
func DescribePE(src bin.Source) ([]object.Info, error) {
	f, err := pe.Open(src)
	if err != nil {
		return nil, err
	}
	info := object.Info{Kind: "pe", Type: f.Kind(), LoadAddress: f.ImageBase, Module: peModule(f)}
	for _, s := range f.Sections {
		if s.FileSize > 0 {
			info.Features |= promised(s.Name)
		}
	}
	f.Symbols(func(pe.Symbol) bool { info.Features |= object.HasSymbols; return false })
	if f.HasUnwind() {
		info.Features |= object.HasUnwind
	}
	return []object.Info{info}, nil
}

// DescribeWASM describes a file by its headers.
func DescribeWASM(src bin.Source) ([]object.Info, error) {
	f, err := wasm.Open(src)
	if err != nil {
		return nil, err
	}
	info := object.Info{Kind: "wasm", Type: f.Kind(), Module: wasmModule(f)}
	for _, name := range [...]string{"name", "linking", ".debug_info", ".debug_frame"} {
		if f.Section(name) != nil {
			info.Features |= promised(name)
		}
	}
	return []object.Info{info}, nil
}
