package perf

import (
	"bufio"
	"bytes"
	"slices"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// script is the text of some lines whose addresses are looked up together, and the
// state of all lines before them.
type script struct {
	run    *filter.Run
	out    *bufio.Writer
	text   []byte
	spans  []span
	query  filter.Query
	number int    // of queries before
	names  []byte // of the last span

	files    files
	isFirst  bool   // the next frame is the first one of a sample
	isKernel bool   // the last frame is one of the kernel
	inlined  uint64 // address of the last line, if that is an inlined call
}

// span is a part of the text that becomes the names of the address with the same
// index in the query. In a line of perf script, the part before mid is the beginning
// of each line of an inlined call; without that part the names have no such lines.
// In a folded stack, the part after mid is the suffix of the name.
type span struct {
	start, mid, end int
	isFolded        bool
}

// line adds the addresses of the line that begins at an offset of the text.
func (s *script) line(start int) {
	line := bytes.TrimRight(s.text[start:], "\r\n")
	inlined := s.inlined
	s.inlined = 0
	if f, ok := parseFrame(line); ok {
		s.frame(f, start, inlined)
		return
	}
	if len(line) == 0 || line[0] != ' ' && line[0] != '\t' {
		s.isFirst = true
	}
	if i := bytes.Index(line, []byte("PERF_RECORD_MMAP")); i >= 0 {
		s.files.addMapping(line[i:])
	} else if path, id, ok := identity(line); ok {
		s.files.identify(path, id)
	} else if f, ok := parseSample(line); ok && s.wants(f) {
		at := start + f.start
		s.add(sample{path: f.path, addr: f.addr, pid: process(line)}, span{start: at, mid: at, end: start + f.end})
	} else if stack, ok := cutCount(line); ok {
		s.stack(stack, start)
	}
}

// frame adds the address of a line of a call chain. inlined is the address of the
// line before, if that is an inlined call.
func (s *script) frame(f frame, start int, inlined uint64) {
	if string(f.path) == "inlined" {
		s.inlined = f.addr
		return
	}
	isKernel := f.addr >= kernelStart
	isReturn := !s.isFirst && s.isKernel == isKernel
	s.isFirst, s.isKernel = false, isKernel
	if !s.wants(f) {
		return
	}
	p := span{start: start, mid: start + f.start, end: start + f.end}
	if inlined == f.addr {
		p.start = p.mid
	}
	s.add(sample{path: f.path, addr: f.addr, isChain: true, isReturn: isReturn}, p)
}

func (s *script) wants(f frame) bool { return s.run.Force || f.isUnknown }

// stack adds the addresses of a folded stack that begins at an offset of the text.
func (s *script) stack(stack []byte, start int) {
	for at := 0; at <= len(stack); {
		end := len(stack)
		if n := bytes.IndexByte(stack[at:], ';'); n >= 0 {
			end = at + n
		}
		if l, ok := ParseLocation(stack[at:end]); ok && (l.IsModule || s.isKnown(l.Module)) {
			s.add(sample{path: l.Module, addr: l.Addr, isChain: true, isReturn: end < len(stack)},
				span{start: start + at, mid: start + at + l.Len, end: start + end, isFolded: true})
		}
		at = end + 1
	}
}

// isKnown reports whether a module has an identifier.
func (s *script) isKnown(module []byte) bool {
	if f := s.files[string(module)]; f != nil && f.id != "" {
		return true
	}
	_, ok := s.run.Known[string(module)]
	return ok
}

// sample is an address as perf prints it.
type sample struct {
	path     []byte
	addr     uint64
	pid      int
	isChain  bool // of a call chain
	isReturn bool
}

// add adds an address to the query, and the span that its names replace, unless it
// cannot be looked up.
func (s *script) add(x sample, p span) {
	path := bytes.TrimSuffix(x.path, []byte(" (deleted)"))
	if len(path) == 0 || string(path) == "[unknown]" {
		return
	}
	f := s.files.get(path)
	if f == nil {
		return
	}
	a := filter.Address{Space: filter.Offset, IsReturn: x.isReturn, Addr: x.addr}
	switch {
	case f.hasStart && x.addr >= kernelStart:
		a.Space, a.Addr = filter.Relative, x.addr-f.text
	case x.addr >= kernelStart || isMap(path):
		a.Space = filter.Fixed
	case !x.isChain || x.addr >= offsetEnd:
		offset, ok := f.offset(x.pid, x.addr)
		if !ok {
			return
		}
		a.Addr = offset
	}
	if !f.isAsked {
		f.module, f.isKnown = s.run.Module(string(path), ident.Module{CodeID: f.id})
		f.isAsked = true
	}
	if !f.isKnown {
		return
	}
	if f.query != s.number+1 {
		f.query, f.index = s.number+1, s.query.AddModule(f.module)
	}
	a.Module = f.index
	s.query.Addresses = append(s.query.Addresses, a)
	s.spans = append(s.spans, p)
}

// appendNames appends the text of a span with names.
func (s *script) appendNames(dst []byte, p span, frames []filter.Frame) []byte {
	inlined, outer := frames[:len(frames)-1], frames[len(frames)-1]
	head, tail := s.text[p.start:p.mid], s.text[p.mid:p.end]
	if p.isFolded {
		dst = append(appendName(dst, outer, ';', ':'), tail...)
		for _, f := range slices.Backward(inlined) {
			dst = append(appendName(append(dst, ';'), f, ';', ':'), "_[i]"...)
		}
		return dst
	}
	if len(head) > 0 {
		for _, f := range inlined {
			dst = append(appendName(append(dst, head...), f, '\n', ' '), " (inlined)\n"...)
		}
	}
	return appendName(append(dst, head...), outer, '\n', ' ')
}

// appendName appends a name as a part of a line. The bytes that would end it
// become others.
func appendName(dst []byte, f filter.Frame, separator, other byte) []byte {
	for _, c := range f.Function {
		switch {
		case c == separator:
			c = other
		case c < ' ':
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst
}
