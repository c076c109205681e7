package breakpad

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
)

// funcAt returns the last FUNC that begins at or before addr, or -1.
func (f *file) funcAt(addr uint64) int {
	i, _ := slices.BinarySearchFunc(f.funcs, addr, func(s breakpad.Span, addr uint64) int {
		if s.Addr <= addr {
			return -1
		}
		return 1
	})
	return i - 1
}

// symbolAt returns the last symbol at or before addr, or -1.
func symbolAt(list []breakpad.Symbol, addr uint64) int {
	i, found := slices.BinarySearchFunc(list, addr, func(s breakpad.Symbol, addr uint64) int {
		return cmp.Compare(s.Addr, addr)
	})
	if found {
		return i
	}
	return i - 1
}

func (f *file) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	base := len(dst)
	var best claim // less than every other: no record comes before MODULE
	i := f.funcAt(addr)
	switch {
	case i < 0:
	case f.end(i) <= addr: // all have ended, the last one with a hole
		best.addr = f.end(i)
	default:
		var err error
		if dst, best, err = f.lookupFuncs(dst, addr, i); err != nil {
			return dst[:base]
		}
	}
	p := symbolAt(f.publics, addr)
	if p < 0 {
		return dst
	}
	pub := f.publics[p]
	if (claim{pub.Addr, pub.Off, rankPublic}).compare(best) <= 0 {
		return dst
	}
	isLast := p == len(f.publics)-1 && i == len(f.funcs)-1 && (i < 0 || f.end(i) <= pub.Addr)
	if isLast && addr > reach(pub.Addr) {
		return dst[:base]
	}
	return append(dst[:base], publicFrame(pub))
}

// lookupFuncs looks in the FUNC records; i is the last one that begins at or before
// addr. Its start is a key, so those that have ended there do not count.
func (f *file) lookupFuncs(dst []sym.Frame, addr uint64, i int) (frames []sym.Frame, best claim, err error) {
	s := f.scratch()
	defer scratches.Put(s)
	base := len(dst)
	ask := func(j int) error {
		r, err := f.keep(s, j)
		if err != nil {
			return err
		}
		k := r.block.RowAt(addr)
		if c := (claim{r.block.Rows[k].Addr, f.funcs[j].Off, r.rank(k)}); c.compare(best) > 0 {
			best, dst = c, r.block.Frames(dst[:base], k)
		}
		return nil
	}
	err = f.reaching(i, f.funcs[i].Addr, ask)
	return dst, best, err
}

// reaching calls do for the FUNC records up to i that end after addr; addr is not before
// the start of any of them.
func (f *file) reaching(i int, addr uint64, do func(j int) error) error {
	from := i
	if f.outer != nil {
		from = i / outerStep * outerStep
		for _, j := range f.outer[i/outerStep] {
			if f.funcs[j].End() <= addr {
				continue
			}
			if err := do(int(j)); err != nil {
				return err
			}
		}
	}
	for j := from; j <= i; j++ {
		if f.funcs[j].End() <= addr {
			continue
		}
		if err := do(j); err != nil {
			return err
		}
	}
	return nil
}

// reach returns the last address of the last PUBLIC. It does not have a size, but
// is not larger than any code.
func reach(addr uint64) uint64 { return addr | math.MaxUint32 }

// keep resolves FUNC j, unless s still has it.
func (f *file) keep(s *scratch, j int) (*resolved, error) {
	k := slices.IndexFunc(s.kept[:], func(r resolved) bool { return r.fn == j+1 })
	if k >= 0 {
		r := s.kept[k]
		copy(s.kept[1:k+1], s.kept[:k])
		s.kept[0] = r
		return &s.kept[0], nil
	}
	r := s.kept[maxKept-1]
	copy(s.kept[1:], s.kept[:maxKept-1])
	r.fn = 0
	s.kept[0] = r
	text, err := f.text(s, f.funcs[j])
	if err != nil {
		return nil, err
	}
	f.resolve(s, &s.kept[0], f.funcs[j], text, nil)
	s.kept[0].fn = j + 1
	return &s.kept[0], nil
}

func publicFrame(p breakpad.Symbol) sym.Frame {
	return sym.Frame{Func: textOf(textPublic, p.Off), Entry: p.Addr}
}

func (f *file) Nearest(addr uint64) (best sym.Frame, ok bool) {
	if i := f.funcAt(addr); i >= 0 {
		for i > 0 && f.funcs[i-1].Addr == f.funcs[i].Addr {
			i--
		}
		fn := f.funcs[i]
		best, ok = sym.Frame{Func: textOf(textFunc, fn.Off), Entry: fn.Addr, Size: fn.Size}, true
	}
	if i := symbolAt(f.empty, addr); i >= 0 && (!ok || f.empty[i].Addr > best.Entry) {
		best, ok = sym.Frame{Func: textOf(textFunc, f.empty[i].Off), Entry: f.empty[i].Addr}, true
	}
	if i := symbolAt(f.publics, addr); i >= 0 && (!ok || f.publics[i].Addr > best.Entry) {
		best, ok = publicFrame(f.publics[i]), true
	}
	return best, ok
}
