package object

import (
	"bytes"
	"encoding/binary"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/wasm"
	"symbolon/internal/ident"
)

// OpenWASM joins what a WebAssembly module has. Its addresses are offsets in
// the file; those of its debug information count from the code section on.
func OpenWASM(src bin.Source, in Input) (*Object, error) {
	f, err := wasm.Open(src)
	if err != nil {
		return nil, err
	}
	g := &image{in: in, bases: []uint64{-f.CodeOffset()}, lifted: f.CodeOffset() > 0, renamed: true}
	data := func(name string) []byte {
		b, err := f.Data(name)
		if err != nil {
			g.found.Add("damaged sections", name+": "+err.Error())
		}
		return b
	}
	s := dwarf.Sections{Order: binary.LittleEndian, Info: data(".debug_info")}
	g.openDWARF(&s, func(name string) []byte { return data(".debug_" + name) })
	g.names = func(_ uint8, off uint32) []byte { return f.Name(off) }
	g.eachSymbol = func(yield func(symbol)) {
		problems := f.Functions(func(name []byte, off uint32, start, end uint64) bool {
			if len(name) > 0 {
				yield(symbol{addr: start - f.CodeOffset(), size: end - start, name: off})
			}
			return true
		})
		for _, p := range problems {
			g.found.At("damaged sections", p.Place, p.Off, p.Reason)
		}
	}
	if g.code, err = f.Code(); err != nil {
		g.found.Add("damaged sections", "code: "+err.Error())
	}
	g.limit = func(addr uint64) uint64 { return addr }
	g.rank = func(*symbol) uint8 { return 0 }
	for _, p := range f.Problems {
		g.found.At("damaged sections", p.Place, p.Off, p.Reason)
	}
	info := Info{Kind: "wasm", Type: f.Kind(), Module: wasmModule(f)}
	if whole, _ := f.BuildID(); len(whole) > 0 {
		g.buildID = whole
	}
	if url := f.ExternalDebugInfo(); len(url) > 0 {
		g.needs = append(g.needs, Need{Kind: NeedModule, Name: string(url), ID: g.buildID})
	}
	f.Functions(func(name []byte, _ uint32, _, _ uint64) bool {
		if len(name) > 0 {
			info.Features |= HasSymbols
		}
		return len(name) == 0
	})
	frames := dwarf.FrameSection{Data: data(".debug_frame"), Order: binary.LittleEndian, AddrSize: 4, Relocatable: true}
	if frames.HasFDE(func(uint64) bool { return true }) {
		info.Features |= HasUnwind
	}
	return g.object(info), nil
}

// supplyModule takes the debug information of a module with the same code, and
// its names if o has none. The code may lie elsewhere in the file, which is
// nothing to them.
func (g *image) supplyModule(src bin.Source, info *Info) (bool, error) {
	f, err := g.in.Open(src, Role{})
	if err != nil {
		return false, err
	}
	h, ok := f.Objects()[0].View().(*image)
	if !ok || h.dwarf == nil || g.dwarf != nil || len(g.code) == 0 || !bytes.Equal(g.code, h.code) {
		return false, nil
	}
	g.dwarf, g.lineSections, g.aranges = h.dwarf, h.lineSections, h.aranges
	if info.Features&HasSymbols == 0 {
		g.eachSymbol, g.names = h.eachSymbol, h.names
	}
	info.Features |= f.Objects()[0].Info().Features & (HasDebug | HasSymbols)
	g.adopt(h)
	g.needs = nil
	return true, nil
}

func wasmModule(f *wasm.File) ident.Module {
	m := ident.Module{Type: ident.TypeWasm, Arch: f.Arch()}
	if whole, _ := f.BuildID(); len(whole) > 0 {
		id := ident.NewBuildID(whole)
		m.CodeID = id.CodeID()
		m.DebugID = id.DebugID(true) // the bytes as they stand
	}
	return m
}

// IdentifyWASM returns the identifiers of a file.
func IdentifyWASM(src bin.Source) ([]ident.Module, error) {
	f, err := wasm.Open(src)
	if err != nil {
		return nil, err
	}
	return []ident.Module{wasmModule(f)}, nil
}
