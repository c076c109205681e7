package image

import (
	"bytes"
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/frame"
	"symbolon/internal/format/wasm"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
)

// wasmFile is a view of a WebAssembly module. Its addresses are offsets in the
// file; those of its debug information count from the code section on.
type wasmFile struct {
	common
	f    *wasm.File
	code []byte
}

// OpenWASM opens a WebAssembly module.
func OpenWASM(src bin.Source, in object.Input) (*object.Object, error) {
	f, err := wasm.Open(src)
	if err != nil {
		return nil, err
	}
	b := &wasmFile{f: f}
	layout := units.Layout{Bases: []uint64{-f.CodeOffset()}, Lifted: f.CodeOffset() > 0}
	b.common = common{Image: units.New(in, layout, b, units.Traits{Renamed: true}), in: in}
	s := dwarf.Sections{Order: binary.LittleEndian, Info: b.data(".debug_info")}
	b.dwarf = units.NewDWARF(b.Image, &s, func(name string) []byte { return b.data(".debug_" + name) })
	if b.code, err = f.Code(); err != nil {
		b.Found.Add("damaged sections", "code: "+err.Error())
	}
	for _, p := range f.Problems {
		b.Found.At("damaged sections", p.Place, p.Off, p.Reason)
	}
	if whole, _ := f.BuildID(); len(whole) > 0 {
		b.buildID = whole
	}
	if url := f.ExternalDebugInfo(); len(url) > 0 {
		b.needs = append(b.needs, object.Need{Kind: object.NeedModule, Name: string(url), ID: b.buildID})
	}
	return object.New(b.info(), b, in), nil
}

func (b *wasmFile) info() object.Info {
	info := object.Info{Kind: "wasm", Type: b.f.Kind(), Module: wasmModule(b.f), CodeOffset: b.f.CodeOffset()}
	b.f.Functions(func(name []byte, _ uint32, _, _ uint64) bool {
		if len(name) > 0 {
			info.Features |= object.HasSymbols
		}
		return len(name) == 0
	})
	frames := frame.Section{Data: b.data(".debug_frame"), Order: binary.LittleEndian, AddrSize: 4, Relocatable: true}
	if frames.HasFDE(func(uint64) bool { return true }) {
		info.Features |= object.HasUnwind
	}
	info.Features = b.features(info.Features)
	return info
}

// data returns the bytes of a section, unpacked; nil if it does not exist or cannot
// be read, which is damage.
func (b *wasmFile) data(name string) []byte {
	data, err := b.f.Data(name)
	if err != nil {
		b.Found.Add("damaged sections", name+": "+err.Error())
	}
	return data
}

// SymbolName returns a name of the name section.
func (b *wasmFile) SymbolName(_ uint8, off uint32) []byte { return b.f.Name(off) }

// EachSymbol calls yield with the functions that have a name.
func (b *wasmFile) EachSymbol(yield func(units.Symbol)) {
	problems := b.f.Functions(func(name []byte, off uint32, start, end uint64) bool {
		if len(name) > 0 {
			yield(units.Symbol{Addr: start - b.f.CodeOffset(), Size: end - start, Name: off})
		}
		return true
	})
	for _, p := range problems {
		b.Found.At("damaged sections", p.Place, p.Off, p.Reason)
	}
}

// SymbolsAt reports false: the symbols have no order.
func (b *wasmFile) SymbolsAt(uint64, func(units.Symbol)) (quick bool) { return false }

// SymbolLimit returns addr: all functions have sizes.
func (b *wasmFile) SymbolLimit(addr uint64) uint64 { return addr }

// SymbolRank returns the rank of all names.
func (b *wasmFile) SymbolRank(*units.Symbol) uint8 { return 0 }

// Supply takes the debug information of a module with the same code, and its names
// if this one has none. The code may be elsewhere in the file, which both do not
// depend on.
func (b *wasmFile) Supply(n object.Need, src bin.Source, info *object.Info) (used bool, err error) {
	if n.Kind != object.NeedModule {
		return b.common.Supply(n, src, info)
	}
	f, err := b.in.Open(src, object.Role{})
	if err != nil {
		return false, err
	}
	h, ok := f.Objects()[0].View().(*wasmFile)
	if !ok || h.dwarf == nil || b.dwarf != nil || len(b.code) == 0 || !bytes.Equal(b.code, h.code) {
		return false, nil
	}
	b.dwarf = h.dwarf.MoveTo(b.Image)
	if info.Features&object.HasSymbols == 0 {
		b.SetBinary(h)
	}
	info.Features |= f.Objects()[0].Info().Features & (object.HasDebug | object.HasSymbols)
	b.adopt(&h.common)
	b.needs = nil
	return true, nil
}

func wasmModule(f *wasm.File) ident.Module {
	m := ident.Module{Type: ident.TypeWasm, Arch: f.Arch()}
	if whole, _ := f.BuildID(); len(whole) > 0 {
		id := ident.NewBuildID(whole)
		m.CodeID = id.CodeID()
		m.DebugID = id.DebugID(true) // the bytes in the file
	}
	return m
}

// IdentifyWASM returns the identifiers of a file.
func IdentifyWASM(src bin.Source) ([]ident.Module, error) {
	return object.DescribeOne(src, wasm.Open, wasmModule)
}
