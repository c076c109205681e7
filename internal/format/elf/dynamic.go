package elf

import "symbolon/internal/bin"

// Tags of the dynamic segment (DT_*), which has the addresses and sizes of the
// data that the loader needs.
const (
	tagSymTab, tagStrTab, tagStrSize        = 6, 5, 10
	tagHash, tagGNUHash                     = 4, 0x6ffffef5
	tagRel, tagRelSize                      = 17, 18
	tagRela, tagRelaSize                    = 7, 8
	tagPLTRel, tagPLTRelAddr, tagPLTRelSize = 20, 23, 2
	tagSOName, tagMIPSSymbols               = 14, 0x70000011
	tagFlags1, flagPIE                      = 0x6ffffffb, 0x08000000 // DF_1_PIE
	tagVersions                             = 0x6ffffff0
)

// dynamic returns the value of a tag of the dynamic segment, 0 without it. The
// last one of several wins, as in the loader.
func (f *File) dynamic(tag uint64) (value uint64) {
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type != segmentDynamic {
			continue
		}
		c := bin.NewCursor(f.bytes(s.Off, s.Filesz), f.Order)
		for {
			t, v := f.word(c), f.word(c)
			if c.Err() != nil || t == 0 {
				return value
			}
			if t == tag {
				value = v
			}
		}
	}
	return value
}

// dynamicTable returns the table of dynamic symbols of a file without section
// headers.
func (f *File) dynamicTable() (t table) {
	addr := f.dynamic(tagSymTab)
	if addr == 0 {
		return t
	}
	t.syms, t.strs = f.bytesFrom(addr), f.bytesFrom(f.dynamic(tagStrTab))
	size := f.pick(16, 24)
	n, have := f.dynamicCount(), uint64(len(t.syms))/size
	names := f.dynamic(tagStrSize)
	if n == 0 || n > have || names > uint64(len(t.strs)) {
		f.problem("dynamic symbols", addr, "the file has %d of %d symbols, %#x of %#x bytes of names", min(have, n), n, len(t.strs), names)
	}
	t.syms = t.syms[:min(n, have)*size]
	t.strs = t.strs[:min(names, uint64(len(t.strs)))]
	if addr := f.dynamic(tagVersions); addr != 0 {
		t.versions = f.bytesFrom(addr)
	}
	return t
}

// dynamicCount returns the number of dynamic symbols.
func (f *File) dynamicCount() uint64 {
	if n := f.dynamic(tagMIPSSymbols); n != 0 && f.Machine == machineMIPS {
		return n
	}
	if addr := f.dynamic(tagHash); addr != 0 {
		c := bin.NewCursor(f.bytesFrom(addr), f.Order)
		if f.Machine == machineS390 && f.Class == 64 {
			c.U64() // number of buckets
			return c.U64()
		}
		c.U32()
		if n := c.U32(); n != 0 {
			return uint64(n)
		}
	}
	n := uint64(0)
	if addr := f.dynamic(tagGNUHash); addr != 0 {
		n = f.gnuCount(f.bytesFrom(addr))
	}
	for _, r := range [...]struct{ addr, size, form uint64 }{
		{tagRel, tagRelSize, tagRel}, {tagRela, tagRelaSize, tagRela}, {tagPLTRelAddr, tagPLTRelSize, f.dynamic(tagPLTRel)},
	} {
		if addr := f.dynamic(r.addr); addr != 0 {
			b := f.bytesFrom(addr)
			f.relocs(b[:min(f.dynamic(r.size), uint64(len(b)))], r.form == tagRela, func(r reloc) { n = max(n, uint64(r.sym)+1) })
		}
	}
	return n
}

// gnuCount walks the chain of the highest bucket to its end, which is the end
// of the symbols. Symbols before the first hashed one are in no chain.
func (f *File) gnuCount(b []byte) uint64 {
	c := bin.NewCursor(b, f.Order)
	buckets, first, bloom := c.U32(), c.U32(), c.U32()
	c.U32()
	c.Skip(int(min(uint64(bloom)*uint64(f.Class/8), uint64(c.Len()))))
	last := uint32(0)
	for i := uint32(0); i < buckets && c.Len() > 0; i++ {
		last = max(last, c.U32())
	}
	if last < first {
		return uint64(first)
	}
	c.Skip(int(min(uint64(last-first)*4, uint64(c.Len()))))
	n := uint64(last)
	for c.Len() > 0 {
		n++
		if c.U32()&1 != 0 {
			break
		}
	}
	return n
}
