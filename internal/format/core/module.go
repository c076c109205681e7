package core

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
)

// A Module is a program or library of the process.
type Module struct {
	ident.Module
	Base, Size uint64
}

// A mapping is a mapped file.
type mapping struct {
	start, end uint64
	name       []byte
	off        uint64 // in the file
}

// Entries of the auxiliary vector (AT_*).
const (
	auxHeaders = 3  // of the program
	auxVDSO    = 33 // code of the kernel
	maxAux     = 64
)

// pageSize is the number of bytes of a module in which its build id must be: the
// kernel writes one page. It is the smallest one of systems.
const pageSize = 4 << 10

// A candidate is a module that is being read.
type candidate struct {
	Module
	name      []byte
	hasHeader bool
	pieces    int // mappings
}

// readModules makes modules of the mapped files.
func (f *File) readModules() {
	files := make([]mapping, 0, max(len(f.files), len(f.Memory.Ranges()))+1)
	vdso := f.auxv[auxVDSO]
	if r, ok := f.Memory.Find(vdso); ok && vdso != 0 {
		files = append(files, mapping{vdso, r.Addr + r.Size, []byte("[vdso]"), 0})
	}
	if files = append(files, f.files...); len(f.files) == 0 {
		for _, r := range f.Memory.Ranges() {
			files = append(files, mapping{r.Addr, r.Addr + r.Size, nil, 0})
		}
	}
	slices.SortFunc(files, func(a, b mapping) int { // the vdso before its memory
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(len(b.name), len(a.name)))
	})
	var all []candidate
	for _, file := range files {
		last := &candidate{}
		if len(all) > 0 {
			last = &all[len(all)-1]
		}
		if file.end <= file.start {
			continue
		}
		isPiece := bytes.Equal(file.name, last.name)
		if file.start-last.Base < last.Size && (isPiece || len(file.name) == 0 || file.start == last.Base) {
			last.pieces++ // also if it has the header again
			continue
		}
		if len(all) == maxModules {
			f.isCropped = true
			break
		}
		next := candidate{Module{ident.Module{Type: ident.TypeELF, Arch: f.Arch}, file.start, file.end - file.start}, file.name, false, 1}
		switch next.hasHeader = f.readHeader(&next.Module); {
		case next.hasHeader, !isPiece && len(file.name) > 0:
			all = append(all, next)
		case isPiece && !last.hasHeader && len(all) > 0:
			last.Size = file.end - last.Base
			last.pieces++
		}
	}
	f.addModules(all)
}

// addModules adds the candidates that are modules.
func (f *File) addModules(all []candidate) {
	for _, c := range all {
		if !c.hasHeader && c.pieces == 1 && !f.isCode(c.Base) {
			continue
		}
		if n := len(f.Modules); n > 0 && c.Base-f.Modules[n-1].Base < f.Modules[n-1].Size {
			f.Modules[n-1].Size = c.Base - f.Modules[n-1].Base
		}
		c.CodeFile = strings.ToValidUTF8(strings.TrimSuffix(string(c.name), " (deleted)"), "\ufffd")
		if c.DebugFile = c.CodeFile; c.Base == f.auxv[auxVDSO] {
			c.DebugFile = "linux-gate.so" // its name in symbol files
		}
		f.Modules = append(f.Modules, c.Module)
	}
	i := slices.IndexFunc(f.Modules, func(m Module) bool { return f.auxv[auxHeaders]-m.Base < m.Size })
	if i < 0 {
		return
	}
	program := f.Modules[i]
	if program.CodeFile == "" {
		program.CodeFile, program.DebugFile = f.Name, f.Name
	}
	copy(f.Modules[1:], f.Modules[:i])
	f.Modules[0] = program
}

func (f *File) isCode(addr uint64) bool {
	r, ok := f.Memory.Find(addr)
	return ok && r.Protection&bin.Executable != 0
}

// header returns the headers of a program or library that begins at an address, nil if
// the memory does not have them.
func (f *File) header(base uint64) *elf.File {
	r, ok := f.Memory.Find(base)
	skip := base - r.Addr
	if !ok || skip >= r.Stored {
		return nil
	}
	var head [18]byte
	f.Memory.ReadAt(head[:], base)
	if kind := f.order.Uint16(head[16:]); string(head[:4]) != "\x7fELF" || kind != elf.TypeExec && kind != elf.TypeDyn {
		return nil
	}
	page := make([]byte, min(r.Stored-skip, pageSize))
	e, err := elf.OpenHeaders(bin.Bytes(page[:f.Memory.ReadAt(page, base)]))
	if err != nil {
		return nil
	}
	return e
}

// readHeader sets the size and the ids of a module from its ELF header. It
// returns false if the memory does not have that of a program or library.
func (f *File) readHeader(m *Module) bool {
	e := f.header(m.Base)
	if e == nil {
		return false
	}
	base, end := uint64(0), uint64(0)
	for _, s := range e.Segments {
		if s.Type == elf.SegmentLoad {
			if end == 0 {
				base = s.Vaddr - s.Off // of the header
			}
			end = max(end, s.Vaddr+s.Memsz)
		}
	}
	if size := (end - base + pageSize - 1) &^ (pageSize - 1); end > base && m.Base+size > m.Base {
		m.Size = size
	}
	if id := e.BuildID(); len(bytes.Trim(id, "\x00")) > 0 {
		build := ident.NewBuildID(id)
		m.CodeID, m.DebugID = build.CodeID(), build.DebugID(f.BigEndian)
	}
	return true
}
