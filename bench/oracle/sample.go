package oracle

import (
	"context"
	"debug/dwarf"
	"debug/elf"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
)

// borders is where answers change, by kind.
type borders struct {
	random    *rand.Rand
	functions []uint64
	rows      []uint64
	inlines   []uint64
	others    []uint64
}

func newBorders() *borders { return &borders{random: rand.New(rand.NewSource(1))} }

// draw chooses addresses of a file: borders of functions, of inlined calls and
// of rows with what is beside them, and gaps.
func draw(ctx context.Context, k kase) (q question, err error) {
	kind, err := kindOf(k.path)
	switch {
	case err != nil:
		return q, err
	case kind == kindPDB:
		return drawPDB(ctx, k)
	case kind == kindPE || kind == kindCOFF:
		return drawPE(k, kind)
	case kind == kindWASM:
		return drawWASM(k)
	}
	q = question{file: k.path, reference: k.path, kind: kindELF}
	if k.dir != "" {
		if _, err := os.Stat(filepath.Join(k.dir, "reference")); err == nil {
			q.reference = filepath.Join(k.dir, "reference")
		}
	}
	f, err := elf.Open(q.reference)
	if err != nil {
		return q, err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			q.base = p.Vaddr
			break
		}
	}
	b := newBorders()
	b.symbols(f)
	// Of very large files places in functions must do.
	if info := f.Section(".debug_info"); info != nil && info.Size < 32<<20 {
		if d, err := f.DWARF(); err == nil {
			b.units(d)
		}
	}
	q.addrs = b.choose()
	q.goes = f.Section(".gopclntab") != nil || f.Section(".data.rel.ro.gopclntab") != nil
	return q, nil
}

// symbols takes borders from the symbol tables and of sections with code.
func (b *borders) symbols(f *elf.File) {
	list, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(list, dynamic...) {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF {
			continue
		}
		at := s.Value
		if f.Machine == elf.EM_ARM {
			at &^= 1
		}
		b.function(at, at+s.Size)
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 {
			b.others = append(b.others, s.Addr, s.Addr+s.Size-1, s.Addr+s.Size)
		}
	}
}

// function takes the borders of a function and a place inside.
func (b *borders) function(low, high uint64) {
	b.functions = append(b.functions, low)
	if high > low && high-low < 1<<32 {
		b.functions = append(b.functions, low+1, high-1, high, low+uint64(b.random.Int63n(int64(high-low))))
	}
}

// units takes borders of all units. An entry that the reader does not understand ends it.
func (b *borders) units(d *dwarf.Data) {
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		switch e.Tag {
		case dwarf.TagCompileUnit, dwarf.TagSkeletonUnit:
			if lines, err := d.LineReader(e); err == nil && lines != nil {
				for row := (dwarf.LineEntry{}); lines.Next(&row) == nil; {
					b.rows = append(b.rows, row.Address+uint64(b.random.Intn(3)/2))
				}
			}
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			ranges, _ := d.Ranges(e)
			for _, p := range ranges {
				if e.Tag == dwarf.TagSubprogram {
					b.function(p[0], p[1])
				} else if p[0] < p[1] {
					b.inlines = append(b.inlines, p[0], p[1]-1, p[1])
				}
			}
		}
	}
}

// choose takes up to 400 addresses of all kinds, of large files 2,000, sorted.
func (b *borders) choose() []uint64 {
	most := 400
	if len(b.functions) > 5000 {
		most = 2000
	}
	seen := map[uint64]bool{}
	take := func(list []uint64, n int) {
		b.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, a := range list {
			if len(seen) < n {
				seen[a] = true
			}
		}
	}
	take(b.others, most/20)
	take(b.inlines, most*7/20)
	take(b.rows, most*13/20)
	take(b.functions, most)
	take(b.rows, most)
	take(b.inlines, most)
	return slices.Sorted(maps.Keys(seen))
}
