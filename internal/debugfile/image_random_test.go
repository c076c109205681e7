package debugfile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"symbolon/internal/fixture"
)

// programMaker makes random programs.
type programMaker struct {
	*rand.Rand
	*modelProgram
	named int
}

func (r *programMaker) one(in int) bool { return r.IntN(in) == 0 }

func (r *programMaker) name(kind string) string {
	r.named++
	return fmt.Sprint(kind, 100+r.named) // none of them begins with another one
}

// randomProgram is a small program with everything that may be in one.
func randomProgram(rnd *rand.Rand) *modelProgram {
	m := &modelProgram{columns: rnd.IntN(2) == 0}
	r := &programMaker{Rand: rnd, modelProgram: m}
	m.Wide, m.Big, m.Relocatable = !r.one(3), r.one(3), r.one(3)
	if m.Relocatable {
		for i := range 1 + r.IntN(3) {
			from := uint64(i << 16)
			m.Code = append(m.Code, span{from, from + uint64(0x40+r.IntN(0xc0))})
		}
	} else {
		base := uint64(0x1000 << r.IntN(10))
		m.Code = []span{{base + 0x100, base + 0x1c0}, {base + 0x200, base + 0x260}}
		m.Loads = []span{{base, base + 0x1e0}, {base + 0x1f0, base + 0x270}}
		if r.one(2) {
			m.Loads = []span{{base, base + 0x300}}
		}
	}
	for range 1 + r.IntN(4) {
		r.unit()
	}
	for range r.IntN(8) {
		r.symbol()
	}
	r.nameBySymbols()
	return m
}

// somewhere is a stretch of a section of code, which at times is longer.
func (r *programMaker) somewhere(most int) span {
	return r.within(r.Code[r.IntN(len(r.Code))], most)
}

// within is a part of s.
func (r *programMaker) within(s span, most int) span {
	from := s[0] + r.Uint64N(s[1]-s[0])
	return span{from, from + 1 + r.Uint64N(min(uint64(most), s[1]-from))}
}

func (r *programMaker) unit() {
	u := &fixture.ProgramUnit{
		Version: []int{2, 4, 4, 5, 5}[r.IntN(5)], Wide: r.one(4), Lang: []int{modelC, modelCpp, modelAssembler}[r.IntN(3)],
		Dir: "/d" + fmt.Sprint(len(r.Units)), Files: []string{"a.c", "b.h", "c.h"}, NoLines: r.one(8),
	}
	for range r.IntN(7) {
		if n := len(r.Units); n > 0 && len(r.Units[n-1].Funcs) > 0 && r.one(4) {
			twin := r.Units[n-1].Funcs[0] // of one section that the linker kept once
			u.Funcs = append(u.Funcs, twin)
			continue
		}
		u.Funcs = append(u.Funcs, r.function(u))
	}
	r.lines(u)
	switch r.IntN(4) {
	case 0, 1:
	case 2: // exactly what is there
		for _, f := range u.Funcs {
			u.Ranges = append(u.Ranges, f.Ranges...)
		}
	default:
		for range 1 + r.IntN(3) {
			u.Ranges = append(u.Ranges, r.somewhere(0x80))
		}
	}
	if u.Version == 2 && len(u.Ranges) > 1 {
		u.Ranges = u.Ranges[:1]
	}
	r.Units = append(r.Units, u)
}

func (r *programMaker) function(u *fixture.ProgramUnit) fixture.ProgramFunc {
	f := fixture.ProgramFunc{Name: r.name("f")}
	for range 1 + r.IntN(3)*r.IntN(2) {
		f.Ranges = append(f.Ranges, r.somewhere(0x30))
	}
	if r.one(6) {
		f.Ranges[0][1] += 9 // at times beyond the section
	}
	if r.one(6) { // a piece right after another one
		end := f.Ranges[0][1]
		if i := slices.IndexFunc(r.Code, func(c span) bool { return holds(c, end) }); i >= 0 {
			f.Ranges = append(f.Ranges, span{end, min(end+4, r.Code[i][1])})
		}
	}
	switch r.IntN(5) {
	case 0:
		f.Linkage = fmt.Sprintf("_Z%d%sv", len(f.Name), f.Name)
	case 1, 2:
		f.Scope = "ns"
	case 3:
		if r.one(4) {
			f.Name = ""
		}
	}
	if r.one(8) {
		f.Entry = f.Ranges[0][0] + 1
	}
	f.Calls = r.calls(u, f.Ranges, 1)
	return f
}

// calls makes calls inside of ranges, and some that do not keep to them.
func (r *programMaker) calls(u *fixture.ProgramUnit, in []span, depth int) (out []*fixture.ProgramCall) {
	var taken []span
	for range r.IntN(4) / depth {
		c := &fixture.ProgramCall{Name: r.name("i"), File: r.IntN(5) - 1, Line: r.IntN(4) * r.IntN(90), Column: r.IntN(9)}
		if c.File < 0 {
			c.Line, c.Column = 0, 0
		}
		if r.one(5) {
			c.Lang = []int{modelC, modelCpp, modelRust}[r.IntN(3)]
		}
		for range 1 + r.IntN(2) {
			s := r.within(in[r.IntN(len(in))], 0x20)
			if r.one(8) {
				s = span{s[0] - min(2, s[0]&0xffff), s[1] + 6} // longer than what calls it
			}
			overlaps := slices.ContainsFunc(taken, func(o span) bool { return s[0] < o[1] && o[0] < s[1] })
			if !overlaps || r.one(8) {
				c.Ranges, taken = append(c.Ranges, s), append(taken, s)
			}
		}
		if len(c.Ranges) > 0 {
			c.Calls = r.calls(u, c.Ranges, depth+1)
		} else {
			c.Calls = r.calls(u, in, depth+2)
			if r.one(2) {
				c.Ranges = []span{{in[0][0], in[0][0]}} // of no code
			}
		}
		if r.one(8) {
			c.Calls = append(c.Calls, r.calls(u, in, depth+1)...) // not where it is itself
		}
		out = append(out, c)
	}
	return out
}

// lines makes sequences that do not overlap.
func (r *programMaker) lines(u *fixture.ProgramUnit) {
	for _, c := range r.Code {
		at := c[0] + r.Uint64N(0x10)
		for at < c[1] && !r.one(5) {
			s := fixture.ProgramLines{}
			for range 1 + r.IntN(8) {
				s.Rows = append(s.Rows, fixture.ProgramRow{Addr: at, File: r.IntN(4), Line: r.IntN(5) * r.IntN(99), Column: r.IntN(5)})
				if at += r.Uint64N(12); at >= c[1]+9 {
					break
				}
			}
			at++
			s.End = at
			u.Sequences = append(u.Sequences, s)
			at += r.Uint64N(0x20)
		}
	}
	r.Shuffle(len(u.Sequences), func(i, j int) { u.Sequences[i], u.Sequences[j] = u.Sequences[j], u.Sequences[i] })
}

func (r *programMaker) symbol() {
	i := r.IntN(len(r.Code))
	s := r.within(r.Code[i], 0x40)
	x := fixture.ELFSymbol{Name: r.name("s"), Value: s[0], Size: s[1] - s[0], Kind: 2, Bind: uint8(r.IntN(3)), Section: i + 1}
	if n := len(r.Symbols); n > 0 && r.one(4) {
		x.Value, x.Section = r.Symbols[n-1].Value, r.Symbols[n-1].Section // another name of the same
	}
	if r.one(4) {
		x.Kind = 0
	}
	if r.one(3) {
		x.Size = 0
	}
	if r.one(4) {
		x.Name = "__" + x.Name
	}
	r.Symbols = append(r.Symbols, x)
}

// nameBySymbols puts symbols where functions are entered.
func (r *programMaker) nameBySymbols() {
	for _, u := range r.Units {
		for i := range u.Funcs {
			f := &u.Funcs[i]
			entry := entryOf(f)
			section := slices.IndexFunc(r.Code, func(c span) bool { return holds(c, entry) })
			if section < 0 || r.one(3) {
				continue
			}
			name := r.scoped(u, f.Scope, f.Name)
			if f.Linkage != "" {
				name = f.Linkage
			}
			taken := slices.ContainsFunc(r.Symbols, func(s fixture.ELFSymbol) bool { return s.Value == entry && s.Name[0] != 's' })
			switch kind := r.IntN(4); {
			case name == "" || kind == 0:
				name = r.name("s") // an alias
			case kind == 1:
				if !taken {
					name += ".isra.0"
				}
			case kind == 2:
				if !taken && u.Lang == modelCpp && f.Scope != "" {
					name = mangled(f)
				}
			}
			r.Symbols = append(r.Symbols, fixture.ELFSymbol{Name: name, Value: entry, Size: r.Uint64N(2) * 8, Kind: 2, Bind: 1, Section: section + 1})
		}
	}
}
