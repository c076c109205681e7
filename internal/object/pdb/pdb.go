// Package pdb reads the PDBs of Windows binaries.
//
// A module of a PDB is a unit. It answers for the code that it contributed, by its
// procedures there: of procedures that the linker merged, by the last one with lines. A
// stretch of code belongs to the innermost call that has a line for it. The call site of
// a call is the line of its caller that covers the start of the line of the call, or else
// the next, or the last one; without lines of the caller it is unknown.
//
// A public symbol of code extends to the next one, or to the end of the contribution of
// its module. It ends with the procedure that it names. A procedure without type has the
// name of a decorated symbol at its entry, if that can be its own. The first addresses
// outside procedures are answered by the order of symbols in the file, which is trusted.
//
// With Options.Written a procedure has the name of the public symbol at its entry,
// as the linker sees it.
package pdb

import (
	"bytes"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/format/pdb"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
)

// pdbFile is a view of a PDB, and the Binary of its public symbols.
type pdbFile struct {
	*Units
	in      object.Input
	origins object.Origins
	frames  func() [2]object.Pieces // those with a program, and those without
}

// Open opens the debug file of a Windows binary.
func Open(src bin.Source, in object.Input) (*object.Object, error) {
	p, err := pdb.Open(src)
	if err != nil {
		return nil, err
	}
	f := &pdbFile{in: in}
	g := units.New(in, units.Layout{Bases: []uint64{0}}, f, units.Traits{Unsized: true, Ordered: p.HasOrder(), Renamed: in.Written})
	f.Units = NewUnits(g, p, in)
	f.Memory = p.Footprint()
	f.frames = sync.OnceValue(f.indexFrames)
	info := infoOf(p)
	info.LoadAddress = in.Base
	return object.New(info, f, in), nil
}

// Describe describes a PDB without its tables.
func Describe(src bin.Source) ([]object.Info, error) {
	return object.DescribeOne(src, pdb.OpenHeaders, infoOf)
}

// infoOf describes a PDB.
func infoOf(f *pdb.File) object.Info {
	info := object.Info{Kind: "pdb", Type: "dbg", Module: pdbModule(f)}
	if f.HasPublics() {
		info.Features |= object.HasSymbols
	}
	if f.HasCode() {
		info.Features |= object.HasDebug
	}
	if hasFrames(f) {
		info.Features |= object.HasUnwind
	}
	if s := f.SourceServerBrief(); s != nil {
		info.SourceServer = serverName(s.VersionControl())
		if s.OnWeb() {
			info.Features |= object.HasSources
		}
	}
	if f.Named("sourcelink").Size() > largeLink || object.HasLinks(sourceLink(f, largeLink)) {
		info.Features |= object.HasSources
	}
	return info
}

func isX86(f *pdb.File) bool { return ident.MachineArch(f.Machine) == ident.ArchX86 }

// hasFrames reports whether unwind information is read: it is of 32-bit x86 only.
func hasFrames(f *pdb.File) bool { return isX86(f) && f.HasFrames() }

// CFI yields the unwind information.
func (f *pdbFile) CFI(yield func(*sym.Unwind) error) error {
	if !hasFrames(f.pdb) {
		return nil
	}
	return f.pdb.Frames(yield)
}

func (f *pdbFile) indexFrames() (x [2]object.Pieces) {
	if !hasFrames(f.pdb) {
		return x
	}
	var lists [2][]object.Piece
	err := f.pdb.FrameRanges(func(start, end uint64, kind uint32, ref uint64) {
		switch p := (object.Piece{Start: start, End: end, Ref: ref}); kind {
		case sym.WindowsProgram:
			lists[0] = append(lists[0], p)
		case sym.WindowsPlain:
			lists[1] = append(lists[1], p)
		}
	})
	if err != nil {
		f.Found.Add("damaged unwind entries", err.Error())
	}
	return [2]object.Pieces{object.LastPieces(lists[0]), object.LastPieces(lists[1])}
}

// CFIAt yields the frames of an address.
func (f *pdbFile) CFIAt(addr uint64, yield func(*sym.Unwind) error) error {
	for _, pieces := range f.frames() {
		if p, ok := pieces.At(addr); ok {
			if err := f.pdb.FrameAt(p.Ref, yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// serverName returns the name that others know a version control system by.
func serverName(system string) string {
	switch low := strings.ToLower(system); low {
	case "", "git", "perforce":
		return low
	}
	return "other"
}

// SymbolName returns the name of a public symbol.
func (f *pdbFile) SymbolName(_ uint8, off uint32) []byte {
	if f.in.Written {
		return f.pdb.PublicName(off)
	}
	return units.PlainC(f.pdb.PublicName(off), isX86(f.pdb), false)
}

// EachSymbol calls yield with all public symbols.
func (f *pdbFile) EachSymbol(yield func(units.Symbol)) {
	err := f.pdb.Publics(func(p pdb.Public) bool {
		yield(units.Symbol{Addr: uint64(p.Addr), Name: p.Record})
		return true
	})
	if err != nil {
		f.Found.Add("damaged symbols", err.Error())
	}
}

// SymbolsAt calls yield with the last symbols that are not after an address, which
// the order of symbols in the file gives.
func (f *pdbFile) SymbolsAt(addr uint64, yield func(units.Symbol)) (quick bool) {
	if !f.pdb.HasOrder() {
		return false
	}
	for _, p := range f.pdb.PublicsAt(uint32(addr)) {
		yield(units.Symbol{Addr: uint64(p.Addr), Name: p.Record})
	}
	return true
}

// SymbolRank puts the definition of a weak symbol of MinGW (.weak.f.default) after
// the symbol itself.
func (f *pdbFile) SymbolRank(s *units.Symbol) uint8 {
	if bytes.HasPrefix(f.pdb.PublicName(s.Name), []byte(".weak.")) {
		return 1
	}
	return 0
}

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

// Identify returns the identifiers of a file.
func Identify(src bin.Source) ([]ident.Module, error) {
	return object.DescribeOne(src, pdb.OpenHeaders, pdbModule)
}

// Origin returns where a source file is kept.
func (f *pdbFile) Origin(path string) object.Origin { return f.origins.Of(path, f.readOrigins) }

// readOrigins reads the origins of a PDB.
func (f *pdbFile) readOrigins(l *object.Origins) {
	if s := f.pdb.SourceServer(); s != nil {
		l.Server = func(path string) (o object.Origin) {
			if target := s.Target(path); strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
				o.URL = target
			}
			o.Path, o.Revision = s.Perforce(path)
			return o
		}
	}
	l.Read(sourceLink(f.pdb, maxLink))
}

const (
	maxLink   = 16 << 20 // bytes of the source link of a PDB
	largeLink = 1 << 20  // one of more bytes has links
)

// sourceLink returns at most n bytes of the source link of a PDB, if it has one.
func sourceLink(f *pdb.File, n int64) []byte {
	link := f.Named("sourcelink")
	text, _ := link.Bytes(0, int(min(link.Size(), n)), nil) // without it the links are missing
	return text
}
