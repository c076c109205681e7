package core

import (
	"bytes"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
)

// MapFiles adds the memory that the process had mapped from files, by their paths, and
// could not change: core files usually omit it. A file must begin with the stored bytes
// of its first page, which has the ELF header and the build id; others are ignored. The
// files must stay open while memory is read. MapFiles must be called once, before that.
func (f *File) MapFiles(files map[string]bin.Source) {
	var pieces []bin.Piece
	same := map[string]bool{} // mapped last at the path
	for _, m := range f.files {
		src := files[string(m.name)]
		if src == nil {
			continue
		}
		if m.off == 0 {
			same[string(m.name)] = f.isFirstPage(src, m.start)
		}
		r, ok := f.Memory.Find(m.start)
		if !ok || r.Protection&bin.Writable != 0 || !same[string(m.name)] {
			continue
		}
		p := bin.Piece{Start: max(m.start, r.Addr+r.Stored), End: min(m.end, r.Addr+r.Size), Src: src}
		off := m.off + (p.Start - m.start)
		if p.Off = int64(off); p.Start < p.End && off < uint64(src.Size()) {
			pieces = append(pieces, p)
		}
	}
	f.Memory.Fill(pieces)
}

// isFirstPage reports whether the first page of a file is stored at an address.
func (f *File) isFirstPage(src bin.Source, addr uint64) bool {
	page, err := bin.Read(src, 0, int(min(src.Size(), pageSize)))
	stored := make([]byte, len(page))
	return err == nil && f.Memory.ReadAt(stored, addr) == len(page) && bytes.Equal(page, stored)
}

// IDFrom returns the debug id of a file if module i may have been loaded from it: neither
// has a build id, and both have the same entry point and segments. The id identifies the
// code.
func (f *File) IDFrom(i int, src bin.Source) (id ident.DebugID, ok bool) {
	loaded := f.header(f.Modules[i].Base)
	if loaded == nil || !f.Modules[i].CodeID.IsZero() {
		return id, false
	}
	e, err := elf.OpenHeaders(src)
	if err != nil || len(e.BuildID()) > 0 || e.Machine != loaded.Machine || e.Entry != loaded.Entry {
		return id, false
	}
	text, ok := e.TextID()
	return ident.NewBuildID(text[:]).DebugID(f.BigEndian), ok && slices.Equal(e.Segments, loaded.Segments)
}
