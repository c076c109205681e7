package object

import (
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/format/pdb"
	"symbolon/internal/ident"
)

// pdbFile is a view of a PDB, the Source of its modules and the Binary of its
// public symbols.
type pdbFile struct {
	*Image
	pdb     *pdb.File
	in      Input
	cover   func() *modules
	origins Origins
}

// OpenPDB opens the debug file of a Windows binary.
func OpenPDB(src bin.Source, in Input) (*Object, error) {
	p, err := pdb.Open(src)
	if err != nil {
		return nil, err
	}
	f := &pdbFile{pdb: p, in: in}
	f.cover = sync.OnceValue(f.findCover)
	f.Image = NewImage(in, Layout{Bases: []uint64{0}}, f, Traits{Unsized: true, Ordered: p.HasOrder()})
	f.SetUnits(f)
	for _, x := range p.Problems {
		f.Found.At("damaged headers", x.Place, x.Off, x.Reason)
	}
	f.Memory = p.Footprint()
	return New(f.info(), f, in), nil
}

func (f *pdbFile) info() Info {
	info := Info{Kind: "pdb", Type: "dbg", LoadAddress: f.in.Base, Module: pdbModule(f.pdb)}
	if f.pdb.HasPublics() {
		info.Features |= HasSymbols
	}
	if f.pdb.HasCode() {
		info.Features |= HasDebug
	}
	if f.hasFrames() {
		info.Features |= HasUnwind
	}
	if s := f.pdb.SourceServerBrief(); s != nil {
		info.SourceServer = serverName(s.VersionControl())
		if s.OnWeb() {
			info.Features |= HasSources
		}
	}
	if HasLinks(f.sourceLink()) {
		info.Features |= HasSources
	}
	return info
}

func (f *pdbFile) isX86() bool { return ident.MachineArch(f.pdb.Machine) == ident.ArchX86 }

// hasFrames reports whether unwind information is read: it is of 32-bit x86 only.
func (f *pdbFile) hasFrames() bool { return f.isX86() && f.pdb.HasFrames() }

// CFI writes the unwind information.
func (f *pdbFile) CFI(yield func(records []byte) error) error {
	if !f.hasFrames() {
		return nil
	}
	return f.pdb.Frames(yield)
}

// serverName is the name that others know a version control system by.
func serverName(system string) string {
	switch low := strings.ToLower(system); low {
	case "", "git", "perforce":
		return low
	}
	return "other"
}

// SymbolName returns the name of a public symbol.
func (f *pdbFile) SymbolName(_ uint8, off uint32) []byte {
	return PlainC(f.pdb.PublicName(off), f.isX86(), false)
}

// EachSymbol calls yield with all public symbols.
func (f *pdbFile) EachSymbol(yield func(Symbol)) {
	err := f.pdb.Publics(func(p pdb.Public) bool {
		yield(Symbol{Addr: uint64(p.Addr), Name: p.Record})
		return true
	})
	if err != nil {
		f.Found.Add("damaged symbols", err.Error())
	}
}

// SymbolsAt calls yield with the last symbols that are not after an address, which
// the order of symbols in the file gives.
func (f *pdbFile) SymbolsAt(addr uint64, yield func(Symbol)) (quick bool) {
	if !f.pdb.HasOrder() {
		return false
	}
	for _, p := range f.pdb.PublicsAt(uint32(addr)) {
		yield(Symbol{Addr: uint64(p.Addr), Name: p.Record})
	}
	return true
}

// SymbolRank returns the rank of all public symbols.
func (f *pdbFile) SymbolRank(*Symbol) uint8 { return 0 }

// SymbolLimit returns the end of what the module of a symbol contributed, or of
// its section.
func (f *pdbFile) SymbolLimit(addr uint64) uint64 {
	end := uint64(f.pdb.SectionEnd(uint32(addr)))
	if at, ok := f.cover().endAt(addr); ok {
		end = min(end, at)
	}
	return end
}

func pdbModule(f *pdb.File) ident.Module {
	return ident.Module{Type: ident.TypePE, Arch: ident.MachineArch(f.Machine), DebugID: ident.NewGUID(f.GUID, f.Age)}
}

// IdentifyPDB returns the identifiers of a file.
func IdentifyPDB(src bin.Source) ([]ident.Module, error) {
	f, err := pdb.Open(src)
	if err != nil {
		return nil, err
	}
	return []ident.Module{pdbModule(f)}, nil
}
