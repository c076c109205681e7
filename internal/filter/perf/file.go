package perf

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"symbolon/internal/ident"
)

const (
	maxFiles    = 1 << 14
	maxPath     = 4 << 10
	maxMappings = 1 << 10

	kernelStart = 1 << 63 // addresses of the kernel
	offsetEnd   = 1 << 40 // an offset in a file is below; programs without a fixed address are mapped above
)

// file is a file that has samples, or identifiers.
type file struct {
	id       ident.CodeID
	twoIDs   bool // it is a file name, and files of different folders have it
	module   ident.Module
	isKnown  bool // module has identifiers
	isAsked  bool // the run was asked for module
	maps     []mapping
	query    int   // the number of the last one with an address of the file, plus one
	index    int32 // of the file in that query
	text     uint64
	hasStart bool // text is the address of the kernel's symbol _text
}

// mapping is a part of a file in the memory of a process.
type mapping struct {
	pid         int
	start, size uint64
	offset      uint64
}

// files are the files by path, and by file name those with identifiers.
type files map[string]*file

func (fs files) get(path []byte) *file {
	f := fs[string(path)]
	if f == nil && len(fs) < maxFiles && len(path) <= maxPath {
		f = new(file)
		fs[string(path)] = f
	}
	return f
}

// identify adds a build id.
func (fs files) identify(path []byte, id ident.CodeID) {
	if f := fs.get(path); f != nil {
		f.id, f.isAsked = id, false
	}
	base := path[bytes.LastIndexByte(path, '/')+1:]
	if len(base) == len(path) {
		return
	}
	if f := fs.get(base); f != nil {
		f.twoIDs = f.twoIDs || f.id != "" && f.id != id
		f.id, f.isAsked = id, false
		if f.twoIDs {
			f.id = ""
		}
	}
}

// identity reads a line of perf buildid-list: an id, which is padded to 40 digits,
// and a path.
func identity(line []byte) (path []byte, id ident.CodeID, ok bool) {
	digits, path, _ := bytes.Cut(line, []byte(" "))
	path = bytes.TrimLeft(path, " ")
	if len(digits) < 16 || len(digits) > 64 || len(path) == 0 || path[0] != '/' && path[0] != '[' {
		return nil, "", false
	}
	build, err := ident.ParseBuildID(string(digits))
	return path, build.CodeID(), err == nil
}

// addMapping reads an event of perf script --show-mmap-events:
//
//	… PERF_RECORD_MMAP2 4711/4711: [0x55f7aa573000(0x1000) @ 0x1000 fe:00 10010636 0]: r-xp /srv/app
//	… PERF_RECORD_MMAP2 4711/4711: [0x55f7aa573000(0x1000) @ 0x1000 <7a3307cb2da1…>]: r-xp /srv/app
//	… PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1209988) @ 0xffffffff81000000]: x [kernel.kallsyms]_text
func (fs files) addMapping(event []byte) {
	_, event, _ = bytes.Cut(event, []byte(" "))
	head, path, ok := bytes.Cut(event, []byte("]: "))
	_, path, hasPath := bytes.Cut(path, []byte(" "))
	process, where, hasWhere := strings.Cut(string(head), ": [")
	if !ok || !hasPath || !hasWhere || len(path) == 0 {
		return
	}
	pid, _, _ := strings.Cut(process, "/")
	start, where, _ := strings.Cut(where, "(")
	size, where, _ := strings.Cut(where, ") @ ")
	offset, where, _ := strings.Cut(where, " ")
	var m mapping
	var errs [4]error
	m.pid, errs[0] = strconv.Atoi(pid)
	m.start, errs[1] = strconv.ParseUint(start, 0, 64)
	m.size, errs[2] = strconv.ParseUint(size, 0, 64)
	m.offset, errs[3] = strconv.ParseUint(offset, 0, 64)
	if errs != [4]error{} {
		return
	}
	kernel, isText := bytes.CutSuffix(path, []byte("]_text"))
	if isText {
		path = append(kernel, ']')
	}
	f := fs.get(path)
	if f == nil {
		return
	}
	if isText {
		f.text, f.hasStart = m.offset, true
	} else if !slices.Contains(f.maps, m) {
		if len(f.maps) == maxMappings {
			f.maps = slices.Delete(f.maps, 0, maxMappings/2)
		}
		f.maps = append(f.maps, m)
	}
	if build, err := ident.ParseBuildID(strings.Trim(where, "<>")); err == nil && strings.HasPrefix(where, "<") {
		fs.identify(path, build.CodeID())
	}
}

// offset returns the offset in the file of an absolute address. Newer mappings take
// precedence over older ones, and mappings of the process over those of others: perf
// prints the numbers of threads.
func (f *file) offset(pid int, addr uint64) (offset uint64, ok bool) {
	for _, m := range slices.Backward(f.maps) {
		if addr-m.start < m.size && (!ok || m.pid == pid) {
			offset, ok = addr-m.start+m.offset, true
			if m.pid == pid {
				break
			}
		}
	}
	return offset, ok
}

// isMap reports whether a path is a list of names of a JIT compiler, whose addresses are
// absolute.
func isMap(path []byte) bool {
	base := path[bytes.LastIndexByte(path, '/')+1:]
	return bytes.HasPrefix(base, []byte("perf-")) && bytes.HasSuffix(base, []byte(".map"))
}
