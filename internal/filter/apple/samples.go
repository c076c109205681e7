package apple

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strconv"
	"strings"

	"symbolon/internal/filter"
	"symbolon/internal/format/applecrash"
)

// IsSamples reports whether head is the beginning of a report of sample or spindump.
func IsSamples(head []byte) bool {
	if hasLine(head, "Incident Identifier:", "") { // of a crash
		return false
	}
	return hasLine(head, "Analysis of sampling ", " (pid ") || hasLine(head, "Powerstats for:", " [") ||
		hasLine(head, "Report Version:", "") && (hasLine(head, "Data Source:", "") || hasLine(head, "Heaviest stack ", ""))
}

// RewriteSamples writes a report of sample or spindump with names. It refuses one of more
// than applecrash.MaxSize bytes.
func RewriteSamples(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	if err := checkSize(data); err != nil {
		return err
	}
	s := samples{document: document{run: run}, modules: map[applecrash.Image]int32{}}
	s.read(data)
	return s.write(ctx, data, out, s.appendTo)
}

// samples is a report that is rewritten.
type samples struct {
	document
	calls   []call
	done    int                         // the calls before it are in the query, if their images are listed
	images  map[uint64]applecrash.Image // of a process, by their addresses
	modules map[applecrash.Image]int32  // in the query
}

// read reads the call trees. Those of a process precede the list of its images.
func (s *samples) read(data []byte) {
	at, isFlat, isList, isProcess := 0, false, false, false
	last := -1 // the call of the line before
	for line := range bytes.Lines(data) {
		n := parseNode(bytes.TrimRight(line, " \t\r\n"))
		isNode := len(n.text) > 0
		if last >= 0 {
			s.calls[last].isReturn = isNode && !n.isKernel && (isFlat || n.column > s.calls[last].column)
			last = -1
		}
		if c, ok := parseCall(n.text); ok && !n.isKernel {
			c.column, c.from = n.column, at+n.at
			last = len(s.calls)
			s.calls = append(s.calls, c)
		}
		isFlat = isFlat && isNode || bytes.HasPrefix(line, []byte("Heaviest stack "))
		switch {
		case isList && bytes.Contains(line, []byte("0x")):
			s.addImage(line)
		case isList:
			s.ask()
			isList, isProcess = false, false
		case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("Binary Images:")):
			s.images, isList = map[uint64]applecrash.Image{}, true
		case bytes.HasPrefix(line, []byte("Process:")) || bytes.HasPrefix(line, []byte("Powerstats for:")):
			if isProcess { // the one before has no list
				s.done = len(s.calls)
			}
			isProcess = true
		}
		at += len(line)
	}
	s.ask()
}

// imageLine is a line about an image. Those of the kernel begin with a star.
var imageLine = regexp.MustCompile(`^ *0x([0-9a-f]{1,16}) - .*<([0-9A-Fa-f-]{32,36})> *(/.*?)?\s*$`)

func (s *samples) addImage(line []byte) {
	if m := imageLine.FindSubmatch(line); m != nil {
		addr, _ := strconv.ParseUint(string(m[1]), 16, 64)
		s.images[addr] = applecrash.Image{UUID: string(m[2]), Path: string(m[3])}
	}
}

// ask adds the addresses of the calls of a process to the query.
func (s *samples) ask() {
	for ; s.done < len(s.calls); s.done++ {
		c := &s.calls[s.done]
		i, ok := s.images[c.base]
		if !ok || !isImage(&i, c.image) {
			continue
		}
		i.Name = strings.Trim(string(c.image), "<>")
		m, ok := s.modules[i]
		if !ok {
			if m = s.module(&i); m < 0 {
				continue
			}
			s.modules[i] = m
		}
		c.index = len(s.query.Addresses)
		for _, addr := range c.addrs {
			a := filter.Address{Module: m, Space: filter.Relative, IsReturn: c.isReturn, Addr: addr - c.base}
			s.query.Addresses = append(s.query.Addresses, a)
		}
	}
	s.images = nil
}

// isImage reports whether an image has the name, or the UUID in angle brackets, of a node.
func isImage(i *applecrash.Image, name []byte) bool {
	if id, ok := bytes.CutPrefix(name, []byte("<")); ok {
		return strings.EqualFold(i.UUID, string(bytes.TrimSuffix(id, []byte(">"))))
	}
	return i.Path == "" || i.Path[strings.LastIndexByte(i.Path, '/')+1:] == string(name)
}

// appendTo appends the report with names.
func (s *samples) appendTo(dst, data []byte, answer filter.Answer) []byte {
	done := 0
	for i := range s.calls {
		c := &s.calls[i]
		if c.index < 0 {
			continue
		}
		if name := c.appendNamed(nil, answer); name != nil {
			dst = append(append(dst, data[done:c.from]...), name...)
			done = c.from + c.size
		}
	}
	return append(dst, data[done:]...)
}
