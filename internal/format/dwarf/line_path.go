package dwarf

import "bytes"

// AppendPath appends the path of a file: its directory and its name, below
// compDir unless they are rooted. It appends nothing for an unused number.
func (p *Program) AppendPath(dst []byte, file uint32, compDir []byte) []byte {
	return p.appendPath(dst, file, compDir, mended)
}

// AppendWritten is AppendPath without corrections, like the output of LLVM's tools.
// Directory 0 of version 5, which is compDir again, is repeated if it is relative; with
// once it is not, as since LLVM 15.
func (p *Program) AppendWritten(dst []byte, file uint32, compDir []byte, once bool) []byte {
	if once && p.Version >= 5 && p.entry(file).dir == 0 {
		compDir = nil
	}
	return p.appendPath(dst, file, compDir, written)
}

// AppendGNU is AppendWritten with a separator after each directory, even if it ends with
// one, like the output of GNU's tools.
func (p *Program) AppendGNU(dst []byte, file uint32, compDir []byte) []byte {
	return p.appendPath(dst, file, compDir, doubled)
}

// AppendRelative is AppendWritten without the directory of the unit.
func (p *Program) AppendRelative(dst []byte, file uint32) []byte {
	return p.appendPath(dst, file, nil, relative)
}

// pathStyle selects how a path is joined.
type pathStyle uint8

const (
	mended pathStyle = iota
	written
	doubled // separators may be
	relative
)

func (p *Program) appendPath(dst []byte, file uint32, compDir []byte, style pathStyle) []byte {
	e := p.entry(file)
	if len(e.name) == 0 {
		return dst
	}
	var dir []byte
	switch {
	case p.Version < 5 && e.dir > 0 && e.dir-1 < uint64(len(p.dirs.places)):
		dir = p.readEntry(&p.dirs, int(e.dir-1)).name
	case p.Version >= 5 && e.dir < uint64(len(p.dirs.places)):
		dir = p.readEntry(&p.dirs, int(e.dir)).name
		// Directory 0 is compDir itself.
		if e.dir == 0 && (style == relative || style == mended && len(compDir) > 0 && !isRooted(dir)) {
			dir = nil
		}
	}
	from := len(dst)
	dst = append(dst, compDir...)
	dst = joinPath(dst, from, dir, style)
	return joinPath(dst, from, e.name, style)
}

// joinPath appends part to the path that begins at dst[from].
func joinPath(dst []byte, from int, part []byte, style pathStyle) []byte {
	base := dst[from:]
	switch {
	case len(part) == 0:
		return dst
	case part[0] == '\\' && hasDrive(base) && !bytes.HasPrefix(part, []byte(`\\`)):
		return append(dst[:from+2], part...)
	case len(base) == 0 || isRooted(part) && (style == mended || part[0] != '<'):
		return append(dst[:from], part...)
	}
	sep := byte('/')
	if hasDrive(base) || bytes.IndexByte(base, '\\') >= 0 {
		sep = '\\'
	}
	switch {
	case style == mended:
		dst = append(dst[:from], bytes.TrimRight(base, `/\`)...)
	case style != doubled && base[len(base)-1] == '/':
		return append(dst, part...)
	}
	return append(append(dst, sep), part...)
}

// isRooted reports whether a path is not relative: it has a root, a drive, a
// version control system, or is in angle brackets.
func isRooted(path []byte) bool {
	if len(path) == 0 {
		return false
	}
	switch path[0] {
	case '/', '\\':
		return true
	case '<':
		return path[len(path)-1] == '>'
	}
	return hasDrive(path) || bytes.HasPrefix(path, []byte("hg:")) || bytes.HasPrefix(path, []byte("git:")) ||
		bytes.HasPrefix(path, []byte("s3:"))
}

// hasDrive reports whether a path begins with a drive letter and a root.
func hasDrive(path []byte) bool {
	return len(path) >= 3 && path[1] == ':' && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z' &&
		(path[2] == '/' || path[2] == '\\')
}
