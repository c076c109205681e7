package filter

import (
	"context"
	"errors"
	"sync"

	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
)

// Local looks addresses up with an engine. It is safe for concurrent use.
type Local struct {
	Engine  *symbolicate.Engine
	Tables  *table.Tables   // of the engine, to build for many addresses; may be nil
	Locator *locate.Locator // finds the programs of offsets, and the files of symbols

	mu     sync.Mutex
	places map[placeKey]place
}

// manyAddresses is the number of addresses of a module in a query that its table is
// built for. The engine looks as many up together, about 6 µs for each in a file of 26
// to 38 MB, and the table takes 0.2 to 0.3 s.
const manyAddresses = 32 << 10

// errNoOffsets is the reason of offsets in a file that only debug files are found of,
// whose offsets are others.
var errNoOffsets = errors.New("addresses are offsets in the program, and only its debug file was found")

// errNoMapping is the reason of offsets from a mapping that no part of the program has.
var errNoMapping = errors.New("not exactly one executable part of the program has the size of the mapping: the file may be from another build")

// Look implements Names.
func (l *Local) Look(ctx context.Context, q *Query) (Answer, error) {
	a := &localAnswer{q: q, missing: map[int32]error{}, find: finder{l, ctx, map[int32]*locate.Found{}}, hidden: map[int]object.Place{}}
	work, stop := l.Engine.Within(ctx)
	defer stop()
	// Each module is opened once for addresses in its image, and once for addresses as
	// linked.
	n := len(q.Modules)
	req := &symbolicate.Request{Modules: append(q.Modules[:n:n], q.Modules...), Purpose: locate.SymFirst, Called: q.Called}
	req.Linked = make([]bool, 2*n)
	for i := range n {
		req.Linked[n+i] = true
	}
	req.Frames = make([]symbolicate.Frame, len(q.Addresses))
	segments := map[int32][]object.Segment{}
	for i, at := range q.Addresses {
		f := symbolicate.Frame{Module: at.Module, Addr: at.Addr}
		if at.Module >= 0 && at.Space == Named {
			p, err := a.find.find(q, at)
			if f.Addr = p.Addr; err != nil {
				f.Module, a.missing[at.Module] = -1, err
			} else if p.IsHidden {
				f.Module, a.hidden[i] = -1, p
			}
			req.Frames[i] = f
			continue
		}
		if at.IsReturn {
			f.Addr--
		}
		if at.Module >= 0 && at.Space != Relative {
			f.Module += int32(n)
		}
		if at.Module >= 0 && (at.Space == Offset || at.Space == Mapped) {
			list, ok := segments[at.Module]
			if !ok {
				list = l.segments(work, q.Modules[at.Module])
				segments[at.Module] = list
			}
			if at.Space == Offset {
				f.Addr, ok = asLinked(list, f.Addr)
			} else if f.Addr, ok = inMapping(list, &q.Symbols[at.Addr]); !ok {
				a.missing[at.Module] = errNoMapping
			}
			if !ok {
				f.Module = -1
				if list == nil {
					a.missing[at.Module] = errNoOffsets
				}
			}
		}
		req.Frames[i] = f
	}
	a.frames = req.Frames
	l.buildTables(ctx, q)
	a.res = l.Engine.Begin(work, req)
	if err := a.res.All(ctx); err != nil {
		a.Release()
		return nil, err
	}
	return a, nil
}

// buildTables builds the tables of modules with many addresses. Without one, the file
// answers.
func (l *Local) buildTables(ctx context.Context, q *Query) {
	if l.Tables == nil {
		return
	}
	counts := make([]int, len(q.Modules))
	for _, at := range q.Addresses {
		if at.Module >= 0 {
			if counts[at.Module]++; counts[at.Module] == manyAddresses {
				_, _ = l.Tables.Prefetch(ctx, q.Modules[at.Module])
			}
		}
	}
}

// segments returns the segments of a program, from itself or else a debug file that
// has them; nil if neither is found.
func (l *Local) segments(ctx context.Context, m ident.Module) []object.Segment {
	for _, p := range []locate.Purpose{locate.Unwind, locate.SymFirst} {
		found, _, err := l.Locator.Best(ctx, m, p)
		if err != nil {
			continue
		}
		found.Close()
		if len(found.Segments) > 0 {
			return found.Segments
		}
	}
	return nil
}

// asLinked returns the address of an offset in a file.
func asLinked(list []object.Segment, offset uint64) (uint64, bool) {
	for _, s := range list {
		if offset >= s.Offset && offset-s.Offset < s.Size {
			return s.Addr + (offset - s.Offset), true
		}
	}
	return 0, false
}

// inMapping returns the address of an offset from the start of a mapping, which has all
// pages of a segment. It returns false if several segments have that many.
func inMapping(list []object.Segment, s *Symbol) (addr uint64, ok bool) {
	const page = 4096
	for _, x := range list {
		start := x.Addr &^ (page - 1)
		if s.Size == (x.Addr+x.Size-start+page-1)&^(page-1) {
			if ok {
				return 0, false
			}
			addr, ok = start+s.Offset, true
		}
	}
	return addr, ok
}

// localAnswer is an Answer of an engine.
type localAnswer struct {
	q       *Query
	res     *symbolicate.Result
	frames  []symbolicate.Frame
	missing map[int32]error
	find    finder
	hidden  map[int]object.Place // by address: places that the engine does not answer for
	list    []Frame
	text    []byte
	ends    [][3]int // in text, of those of each element of list
}

// Missing implements Answer.
func (a *localAnswer) Missing(m int32) error {
	if err := a.missing[m]; err != nil {
		return err
	}
	for _, mod := range []*symbolicate.Module{&a.res.Modules[m], &a.res.Modules[int(m)+len(a.q.Modules)]} {
		if mod.Asked && !mod.Found && mod.Report.Fault != nil {
			return mod.Report.Fault
		}
	}
	return nil
}

// Frames implements Answer. An answer with more frames than the engine allows has
// none from there on.
func (a *localAnswer) Frames(i int) []Frame {
	m := a.frames[i].Module
	found, err := a.res.Frames(i)
	var obj *object.Object // of a hidden place
	if p, ok := a.hidden[i]; ok {
		m = a.q.Addresses[i].Module
		if obj, err = a.find.file(a.q.Modules[m], m); err == nil {
			found = obj.LookupIn(nil, p.Part, p.Addr)
		}
	}
	if err != nil || len(found) == 0 {
		return nil
	}
	a.list, a.text, a.ends = a.list[:0], a.text[:0], a.ends[:0]
	for k := range found {
		f := &found[k]
		a.list = append(a.list, Frame{Line: f.Line, Column: f.Column, Entry: f.Entry, Size: f.Size, Inlined: f.Inlined})
		a.ends = append(a.ends, a.addTexts(m, f, obj))
	}
	from := 0
	for k, end := range a.ends { // as text may have been moved while it grew
		f := &a.list[k]
		f.Raw, f.Function, f.File = a.text[from:end[0]], a.text[end[0]:end[1]], a.text[end[1]:end[2]]
		if len(f.Function) == 0 {
			f.Function = f.Raw
		}
		from = end[2]
	}
	return a.list
}

// addTexts adds the texts of a frame: its name, its readable name if that is another
// one, and its file. It returns the end of each.
func (a *localAnswer) addTexts(m int32, f *sym.Frame, obj *object.Object) (ends [3]int) {
	if obj != nil {
		a.text = obj.AppendText(a.text, f.Func)
		ends[0], ends[1] = len(a.text), len(a.text)
		if f.File != 0 {
			a.text = obj.AppendText(a.text, f.File)
		}
		ends[2] = len(a.text)
		return ends
	}
	from := len(a.text)
	a.text, _ = a.res.AppendRaw(a.text, m, f.Func)
	ends[0] = len(a.text)
	if readable, ok := a.res.Readable(m, a.text[from:]); ok {
		a.text = append(a.text, readable...)
	}
	ends[1] = len(a.text)
	if f.File != 0 {
		a.text, _ = a.res.AppendFile(a.text, m, f.File)
	}
	ends[2] = len(a.text)
	return ends
}

// Release implements Answer.
func (a *localAnswer) Release() {
	a.res.Release()
	a.find.close()
}
