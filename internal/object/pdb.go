package object

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pdb"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// OpenPDB opens the debug file of a Windows binary.
func OpenPDB(src bin.Source, in Input) (*Object, error) {
	f, err := pdb.Open(src)
	if err != nil {
		return nil, err
	}
	g := &image{in: in, bases: []uint64{0}, pdb: f, unsized: true}
	for _, p := range f.Problems {
		g.found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	g.footing, g.hasSymbols = f.Footprint(), f.HasPublics()
	x86 := ident.MachineArch(f.Machine) == ident.ArchX86
	g.names = func(_ uint8, off uint32) []byte { return plainC(f.PublicName(off), x86, false) }
	g.eachSymbol = func(yield func(symbol)) {
		err := f.Publics(func(p pdb.Public) bool {
			yield(symbol{addr: uint64(p.Addr), name: p.Record})
			return true
		})
		if err != nil {
			g.found.Add("damaged symbols", err.Error())
		}
	}
	if f.HasOrder() {
		g.symbolsAt = func(addr uint64, yield func(symbol)) {
			for _, p := range f.PublicsAt(uint32(addr)) {
				yield(symbol{addr: uint64(p.Addr), name: p.Record})
			}
		}
	}
	g.limit = g.pdbLimit
	g.rank = func(*symbol) uint8 { return 0 }
	if x86 && f.HasFrames() {
		g.cfi = f.Frames
	}
	info := Info{Kind: "pdb", Type: "dbg", LoadAddress: in.Base, Module: pdbModule(f)}
	if g.hasSymbols {
		info.Features |= HasSymbols
	}
	if f.HasCode() {
		info.Features |= HasDebug
	}
	if g.cfi != nil {
		info.Features |= HasUnwind
	}
	if s := f.SourceServerBrief(); s != nil {
		info.SourceServer = serverName(s.VersionControl())
		if s.OnWeb() {
			info.Features |= HasSources
		}
	}
	if HasLinks(g.sourceLink()) {
		info.Features |= HasSources
	}
	return g.object(info), nil
}

// serverName is the name that others know a version control system by.
func serverName(system string) string {
	switch low := strings.ToLower(system); low {
	case "", "git", "perforce":
		return low
	}
	return "other"
}

// pdbLimit is where a symbol ends at the latest: with what its module
// contributed, or with its section.
func (g *image) pdbLimit(addr uint64) uint64 {
	end := uint64(g.pdb.SectionEnd(uint32(addr)))
	spans := g.covered().spans
	i, found := slices.BinarySearchFunc(spans, addr, func(s unitSpan, addr uint64) int { return cmp.Compare(s.start, addr) })
	if !found {
		i--
	}
	if i >= 0 && spans[i].end > addr {
		end = min(end, spans[i].end)
	}
	return end
}

// pdbCover appends where the modules of a PDB have code: what they contributed
// to the sections. Only where nobody is said to have contributed anything they
// are read for that.
func (g *image) pdbCover(spans []unitSpan) []unitSpan {
	if g.pdb == nil {
		return spans
	}
	g.pdb.Parts(func(p pdb.Part) bool {
		if n := len(spans); n > 0 && spans[n-1].unit == int32(p.Module) && spans[n-1].end == uint64(p.Start) {
			spans[n-1].end = uint64(p.End)
		} else if p.End > p.Start {
			spans = append(spans, unitSpan{uint64(p.Start), uint64(p.End), int32(p.Module)})
		}
		return true
	})
	if len(spans) > 0 {
		return joinSpans(spans)
	}
	w := workers.Get().(*worker)
	defer workers.Put(w)
	for u := range g.pdb.Modules {
		_ = g.pdb.Body(u, &w.pdb.body) // the damage is told when it is read for its code
		for i := range w.pdb.body.Procs {
			p := &w.pdb.body.Procs[i]
			w.pdb.ranges = g.pdb.Ranges(w.pdb.ranges[:0], p.Section, p.Off, p.Size)
			for _, r := range w.pdb.ranges {
				spans = append(spans, unitSpan{uint64(r.Start), uint64(r.End), int32(u)})
			}
		}
	}
	return joinSpans(spans)
}

// joinSpans makes one of those of a unit that overlap or touch, so that an
// address is in one of them at most.
func joinSpans(spans []unitSpan) []unitSpan {
	apart := true // as nearly always
	for i := 1; i < len(spans) && apart; i++ {
		apart = spans[i-1].end <= spans[i].start
	}
	if apart {
		return spans
	}
	slices.SortFunc(spans, func(a, b unitSpan) int { return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.start, b.start)) })
	n := 0
	for _, s := range spans {
		if n > 0 && spans[n-1].unit == s.unit && s.start <= spans[n-1].end {
			spans[n-1].end = max(spans[n-1].end, s.end)
			continue
		}
		spans[n] = s
		n++
	}
	return spans[:n]
}

// pdbDigest makes what a module says.
func (g *image) pdbDigest(w *worker, d *digest, u int) {
	d.full, w.merger.columns = true, g.in.Columns
	p := &w.pdb
	if err := g.pdb.Body(u, &p.body); err != nil {
		g.found.At("damaged modules", "module "+g.pdb.Modules[u].Name, int64(u), err.Error())
	}
	p.limit = g.covered().of(p.limit[:0], u)
	p.work = piecesFree + maxPieces*(len(p.body.Lines)+len(p.body.Procs))
	// Of functions that the linker made one of the last counts, but of those
	// without lines the first, if there are no others.
	for i := len(p.body.Procs) - 1; i >= 0; i-- {
		if proc := &p.body.Procs[i]; proc.NumLines == 0 {
			g.pdbProc(w, d, proc)
		}
	}
	for i := range p.body.Procs {
		if proc := &p.body.Procs[i]; proc.NumLines > 0 {
			g.pdbProc(w, d, proc)
		}
	}
}

const (
	// maxPieces is into how many pieces a procedure may be torn, on average.
	maxPieces = 16
	// piecesFree may be those of any module, counted with their lines.
	piecesFree = 1 << 20
)

// pdbProc makes the chunks of a procedure.
func (g *image) pdbProc(w *worker, d *digest, proc *pdb.Proc) {
	p := &w.pdb
	p.ranges = g.pdb.Ranges(p.ranges[:0], proc.Section, proc.Off, proc.Size)
	if p.work -= len(p.ranges) * (1 + p.linesOf(proc)); p.work < 0 {
		g.found.Add("damaged modules", "module "+g.pdb.Modules[d.unit].Name+": its procedures are torn into too many pieces")
		return
	}
	for _, r := range p.ranges {
		p.whole = append(p.whole[:0], dwarf.Range{Start: uint64(r.Start), End: uint64(r.End)})
		for _, part := range intersect(p.whole, p.limit) {
			p.begin(proc, proc.Off+r.From+uint32(part.Start)-r.Start, part)
			w.merger.procedure(p)
			g.add(d, part.Start, part.End, layerFunc, &w.merger.code)
		}
	}
}

// appendPDBName appends the name of a procedure or of an inlined function.
func (g *image) appendPDBName(dst []byte, t sym.Text) []byte {
	at := int64(t >> kindShift)
	switch uint64(t) & 15 {
	case kindProc, kindBareProc:
		return g.pdb.AppendProc(dst, at)
	case kindItem:
		return g.pdb.AppendItem(dst, uint32(at))
	}
	return dst
}

// appendPDBFile appends the path of a source file.
func (g *image) appendPDBFile(dst []byte, file uint32) []byte {
	from := len(dst)
	if g.in.Written {
		return ValidTail(g.pdb.AppendString(dst, file), from)
	}
	f := filers.Get().(*filer)
	defer filers.Put(f)
	f.path = g.pdb.AppendString(f.path[:0], file)
	return ValidTail(AppendPath(dst, f.path), from)
}

// decorates says whether a name as MSVC's linker sees it can be that of a
// function without arguments: it begins with the last part of its name.
func decorates(decorated, name []byte) bool {
	decorated, ok := bytes.CutPrefix(decorated, []byte("?"))
	if !ok {
		return false
	}
	if i := bytes.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	if i := bytes.LastIndex(name, []byte("::")); i >= 0 {
		name = name[i+2:]
	}
	if special, ok := bytes.CutPrefix(decorated, []byte("?")); ok {
		if decorated, ok = bytes.CutPrefix(special, []byte("$")); !ok {
			return true // a constructor or an operator, which has no name
		}
	}
	rest, ok := bytes.CutPrefix(decorated, name)
	return ok && len(rest) > 0 && rest[0] == '@'
}

// readOrigins reads the origins of a PDB.
func (g *image) readOrigins(l *Origins) {
	if g.pdb == nil {
		return
	}
	if s := g.pdb.SourceServer(); s != nil {
		l.Server = func(path string) (o Origin) {
			if target := s.Target(path); strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
				o.URL = target
			}
			o.Path, o.Revision = s.Perforce(path)
			return o
		}
	}
	l.Read(g.sourceLink())
}

// sourceLink is the text of the source link of a PDB, if it has one.
func (g *image) sourceLink() []byte {
	const most = 16 << 20
	link := g.pdb.Named("sourcelink")
	text, _ := link.Bytes(0, int(min(link.Size(), most)), nil) // without it there are no links
	return text
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
