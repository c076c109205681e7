package ppdb

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/format/ppdb"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/unpack"
)

// A view is an open portable PDB.
type view struct {
	in   object.Input
	file *ppdb.File
	room int64 // bytes that an embedded source may have
	held int64 // bytes of the file that are in memory for it

	starts  func() []methodStart
	found   object.Findings
	origins object.Origins
	paths   object.Paths
}

// The texts of a portable PDB: the name that methods do not have, and a path,
// which has the number of its document above.
const (
	textNameless  = 1
	textDocument  = 2
	documentShift = 2
	methodShift   = 32
	methodsFrom   = ppdb.TokenType << 24 << methodShift
	methodsTo     = (ppdb.TokenType + 1) << 24 << methodShift
	methodRow     = 1<<24 - 1
)

// Open opens a portable PDB, alone or out of the binary that it is in.
func Open(src bin.Source, in object.Input) (*object.Object, error) {
	f, err := ppdb.Open(src)
	if err != nil {
		return nil, err
	}
	p := &view{in: in, file: f, room: in.Budget.Left}
	if _, ok := bin.Whole(src); !ok {
		p.held = src.Size()
	}
	p.starts = sync.OnceValue(p.findStarts)
	p.found.SetCounts(object.Counts{Files: f.Documents()})
	for _, x := range f.Problems {
		p.found.At("damaged headers", x.Place, x.Off, x.Reason)
	}
	info := object.Info{Kind: "portablepdb", Type: "dbg", Module: portableModule(f)}
	if first, _ := p.nextStart(1); first > 0 {
		info.Features |= object.HasDebug
	}
	if f.Sources() > 0 || object.HasLinks(f.Link) && f.Documents() > 0 {
		info.Features |= object.HasSources
	}
	return object.New(info, p, in), nil
}

// methods returns the number of methods that can have an address.
func (p *view) methods() uint32 { return uint32(min(p.file.Methods(), methodRow)) }

// methodAt returns the method that an address is in, zero if it is in none, and the
// offset there.
func methodAt(addr uint64) (method, il uint32) {
	if addr < methodsFrom || addr >= methodsTo {
		return 0, 0
	}
	return uint32(addr>>methodShift) & methodRow, uint32(addr)
}

// entryOf returns the start of a method.
func entryOf(method uint32) uint64 { return methodsFrom + uint64(method)<<methodShift }

func (p *view) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	method, il := methodAt(addr)
	var found sym.Row
	lang, known := sym.LangNone, false
	for points := p.file.Points(method); points.Next() && points.IL <= il; {
		if points.Hidden {
			continue
		}
		if !known {
			lang = p.lang(points.Document)
		}
		found, known = p.row(&points.Point), true
	}
	if !known {
		return dst
	}
	return append(dst, sym.Frame{
		Func: textNameless, File: found.File, Line: found.Line, Column: found.Column, Entry: entryOf(method), Lang: lang,
	})
}

// lang returns the language of a document: that of a method is the one of its first
// line.
func (p *view) lang(document uint32) sym.Lang { return portableLang(p.file.Language(document)) }

// row returns the row of a point, without an address.
func (p *view) row(x *ppdb.Point) sym.Row {
	r := sym.Row{Line: x.Line}
	if x.Document-1 < uint32(p.file.Documents()) {
		r.File = sym.Text(x.Document)<<documentShift | textDocument
	}
	if p.in.Columns {
		r.Column = x.Column
	}
	return r
}

// nextStart returns the first method from one on that has a line, zero if none has,
// and the document of that line.
func (p *view) nextStart(method uint32) (first, document uint32) {
	for ; method <= p.methods(); method++ {
		for points := p.file.Points(method); points.Next(); {
			if !points.Hidden {
				return method, points.Document
			}
		}
	}
	return 0, 0
}

// methodStart is where a method with lines starts.
type methodStart struct {
	entry uint64
	lang  sym.Lang
}

func (p *view) findStarts() (starts []methodStart) {
	for m, doc := p.nextStart(1); m > 0; m, doc = p.nextStart(m + 1) {
		starts = append(starts, methodStart{entryOf(m), p.lang(doc)})
	}
	return starts
}

func (p *view) Nearest(addr uint64) (sym.Frame, bool) {
	starts := p.starts()
	i, found := slices.BinarySearchFunc(starts, addr, func(s methodStart, addr uint64) int { return cmp.Compare(s.entry, addr) })
	if !found {
		i--
	}
	if i < 0 {
		return sym.Frame{}, false
	}
	return sym.Frame{Func: textNameless, Entry: starts[i].entry, Lang: starts[i].lang}, true
}

func (p *view) AppendText(dst []byte, t sym.Text) []byte {
	if t&(1<<documentShift-1) != textDocument || t>>documentShift > sym.Text(p.file.Documents()) {
		return dst
	}
	var room [512]byte
	path := p.file.AppendPath(room[:0], uint32(t>>documentShift))
	from := len(dst)
	if p.in.Written {
		return object.ValidTail(append(dst, path...), from)
	}
	return object.ValidTail(object.AppendPath(dst, path), from)
}

// Source returns an embedded source.
func (p *view) Source(t sym.Text) (text []byte) {
	if t&(1<<documentShift-1) != textDocument || t>>documentShift > sym.Text(p.file.Documents()) {
		return nil
	}
	packed, size, err := p.file.Source(uint32(t >> documentShift))
	switch {
	case err != nil:
	case size == 0:
		return slices.Clone(packed)
	default:
		text, err = (&unpack.Budget{Left: min(p.room, object.MaxSource)}).Inflate(packed, int(size))
	}
	if err != nil {
		p.found.Add("damaged sources", err.Error())
		return nil
	}
	return text
}

func (p *view) Describe(info *object.Info) int64 {
	p.found.Describe(info)
	return p.held
}

// Blocks makes a block of each method that has lines. A hole comes before the
// next one, unless that begins where this one must have ended.
func (p *view) Blocks(_ object.BlockOptions, yield func(*sym.Block) error) error {
	var b sym.Block
	functions, end := 0, uint64(0) // end is where the method before ends
	for method := uint32(1); method <= p.methods(); method++ {
		points := p.file.Points(method)
		if p.rows(&b, method, &points); points.Err() != nil {
			p.found.Add("damaged methods", fmt.Sprintf("method %#x: %v", entryOf(method)>>methodShift, points.Err()))
		}
		if len(b.Rows) == 0 {
			continue
		}
		if end > 0 && end < b.Rows[0].Addr {
			b.Rows = slices.Insert(b.Rows, 0, sym.Row{Addr: end, Node: sym.Hole})
		}
		functions, end = functions+1, entryOf(method+1)
		if err := yield(&b); err != nil {
			return err
		}
	}
	p.found.SetCounts(object.Counts{Functions: functions, Files: p.file.Documents()})
	if end == 0 {
		return nil
	}
	b.Reset()
	b.Rows = append(b.Rows, sym.Row{Addr: end, Node: sym.Hole})
	return yield(&b)
}

// rows makes the block of a method, without rows that repeat the one before.
func (p *view) rows(b *sym.Block, method uint32, points *ppdb.Points) {
	b.Reset()
	var last sym.Row
	lang := sym.LangNone
	for points.Next() {
		r := p.row(&points.Point)
		if points.Hidden || len(b.Rows) > 0 && r == last {
			continue
		}
		if len(b.Rows) == 0 {
			lang = p.lang(points.Document)
		}
		last = r
		r.Addr = entryOf(method) + uint64(points.IL)
		b.Rows = append(b.Rows, r)
	}
	b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Lang: lang, Name: textNameless, Entry: entryOf(method)})
}

// eachSource gives the documents whose content is embedded.
func (p *view) eachSource(yield func(t sym.Text, path []byte) bool) {
	var room []byte
	for d := range p.file.Documents() {
		text := sym.Text(d+1)<<documentShift | textDocument
		if packed, _, err := p.file.Source(uint32(d) + 1); err != nil || packed == nil {
			continue
		}
		if room = p.AppendText(room[:0], text); !yield(text, room) {
			return
		}
	}
}

// SourceByPath returns an embedded source.
func (p *view) SourceByPath(path string) []byte {
	return p.Source(p.paths.Find(path, p.eachSource, p.AppendText))
}

// Origin returns where a file is kept.
func (p *view) Origin(path string) object.Origin {
	return p.origins.Of(path, func(l *object.Origins) { l.Read(p.file.Link) })
}

func portableModule(f *ppdb.File) ident.Module {
	return ident.Module{Type: ident.TypeDotnet, DebugID: ident.NewGUID(f.GUID, f.Stamp)}
}

// Identify returns the identifiers of a file.
func Identify(src bin.Source) ([]ident.Module, error) {
	return object.DescribeOne(src, ppdb.Open, portableModule)
}

// portableLang returns the language of a document of a portable PDB.
func portableLang(guid []byte) sym.Lang {
	switch string(guid) {
	case ppdb.CSharp:
		return sym.LangCSharp
	case ppdb.VisualBasic:
		return sym.LangVisualBasic
	case ppdb.FSharp:
		return sym.LangFSharp
	}
	return sym.LangNone
}
