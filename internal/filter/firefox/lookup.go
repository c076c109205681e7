package firefox

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"symbolon/internal/filter"
)

// maxSize is the largest size of a function that is written. JavaScript has no
// larger integers.
const maxSize = 1 << 53

// A want is a frame to look up.
type want struct {
	lib, scope, frame int32
	answer            int32 // number of its address among those that are asked, then of its answer; -1: none
	address           int64
}

// An answer is the answer to an address.
type answer struct {
	entry, size uint64
	first, n    int32 // in levels, innermost first
}

// A level is a function, inlined or not.
type level struct {
	name, file int32 // in texts; noText: unknown
	line       uint32
}

// A lookup has the frames of all scopes and their answers.
type lookup struct {
	wants   []want
	answers []answer
	levels  []level
	texts   texts
}

// gather collects the frames to look up, ordered by library and address.
func (l *lookup) gather(p *profile, scopes []*scope, force bool) {
	for i, s := range scopes {
		for frame := range int32(s.frames.rows) {
			lib := s.library(frame)
			if lib < 0 || int(lib) >= len(p.libs) || !s.isWanted(frame, force) {
				continue
			}
			l.wants = append(l.wants, want{lib, int32(i), frame, unchanged, s.address.get(frame)})
		}
	}
	slices.SortFunc(l.wants, func(a, b want) int {
		return cmp.Or(cmp.Compare(a.lib, b.lib), cmp.Compare(a.address, b.address),
			cmp.Compare(a.scope, b.scope), cmp.Compare(a.frame, b.frame))
	})
}

// ask looks the addresses up, each of them once.
func (l *lookup) ask(ctx context.Context, run *filter.Run, p *profile) error {
	q := filter.Query{Called: true}
	isKnown := false
	for i := range l.wants {
		w := &l.wants[i]
		isSameLib := i > 0 && w.lib == l.wants[i-1].lib
		if !isSameLib {
			lib := &p.libs[w.lib]
			m, ok := run.Module(lib.place(), lib.module)
			if isKnown = ok; ok {
				q.Modules = append(q.Modules, m)
			}
		}
		if !isKnown {
			continue
		}
		if !isSameLib || w.address != l.wants[i-1].address {
			q.Addresses = append(q.Addresses, filter.Address{Module: int32(len(q.Modules)) - 1, Addr: uint64(w.address)})
		}
		w.answer = int32(len(q.Addresses)) - 1
	}
	if len(q.Addresses) == 0 {
		return nil
	}
	a, err := run.Look(ctx, &q)
	if err != nil {
		return err
	}
	defer a.Release()
	l.texts.ids = map[string]int32{}
	number := make([]int32, len(q.Addresses))
	for i := range q.Addresses {
		number[i] = l.keep(a.Frames(i), q.Addresses[i].Addr)
	}
	for i := range l.wants {
		if w := &l.wants[i]; w.answer >= 0 {
			w.answer = number[w.answer]
		}
	}
	return nil
}

// keep copies the frames of an address. It returns -1 if its function has no name.
func (l *lookup) keep(frames []filter.Frame, address uint64) int32 {
	if len(frames) == 0 || len(frames[len(frames)-1].Function) == 0 {
		return unchanged
	}
	a := answer{entry: address, first: int32(len(l.levels)), n: int32(len(frames))}
	if first := frames[0]; first.Entry <= address && first.Size <= maxSize {
		a.entry, a.size = first.Entry, first.Size
	}
	for i, f := range frames {
		name := f.Function
		if len(name) == 0 {
			name = fmt.Appendf(nil, "<unknown at %#x at inline depth %d>", address, len(frames)-1-i)
		}
		l.levels = append(l.levels, level{l.texts.id(name), l.texts.id(f.File), f.Line})
	}
	l.answers = append(l.answers, a)
	return int32(len(l.answers)) - 1
}
