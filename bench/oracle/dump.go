package oracle

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dump is what llvm-pdbutil prints of a PDB, read as a peer that neither
// unpacks a stream nor decodes a record: it only interprets the numbers. Places are relative to the image.
type dump struct {
	base    []uint64 // of the sections
	procs   []*scope
	rows    []row // of procedures, whose modules can be others
	publics []public
	parts   []part // what modules contributed
}

// unnamed is the name of a call whose function the dump does not name, as it is
// of another module, or not to the end. It counts as any name.
const unnamed = "?"

// scope is a procedure, or a call that was inlined.
type scope struct {
	name       string
	module     int
	start, end uint64 // of a procedure; of a call the end so far
	line       int    // so far
	inlinee    string // empty: a procedure
	rows       []row
	calls      []*scope
}

// row is a line from start up to end. Of a call it counts from the line where
// the function is declared.
type row struct {
	start, end uint64
	file       string
	line       int
	module     int
}

type public struct {
	addr uint64
	name string
	code bool
}

type part struct {
	start, end uint64
	module     int
	code       bool
}

var (
	dumpModule  = regexp.MustCompile(`^ *Mod (\d+) \|`)
	dumpRecord  = regexp.MustCompile("^ *\\d+ \\| (S_\\w+) \\[size = \\d+\\](?: `(.*)`)?")
	dumpPlace   = regexp.MustCompile(`addr = (\d+):(\d+)`)
	dumpSize    = regexp.MustCompile(`(?:code )?size = (\d+)`)
	dumpCall    = regexp.MustCompile(`^ *inlinee = (\w+)(?: \((.*)\))?, parent`)
	dumpStep    = regexp.MustCompile(`(code end|code|line) (?:0x)?(-?[0-9A-F]+) \([+-](?:0x)?([0-9A-F]+)\)`)
	dumpBlock   = regexp.MustCompile(`^ *([0-9A-F]{4}):([0-9A-F]{8})-([0-9A-F]{8}), line/(?:column/)?addr entries`)
	dumpLine    = regexp.MustCompile(`(\d+|ASI|NSI) ([0-9A-F]{8}) `)
	dumpFile    = regexp.MustCompile(`^ *(.*) \((?:MD5|SHA-1|SHA-256|no checksum|None)[^()]*\)$`)
	dumpInlinee = regexp.MustCompile(`^ *(0x\w+) \| +(\d+) \| (.*)$`)
	dumpPart    = regexp.MustCompile(`mod = (\d+), (\d+):(\d+), size = (\d+)`)
)

// declared is where an inlined function is declared.
type declared struct {
	module int
	id     string
}

// dumper reads a dump line by line.
type dumper struct {
	*dump
	inlinees map[declared]row
	module   int
	file     string
	block    row // the lines that follow are in it
	record   string
	named    string // by the record
	open     []*scope
	last     *scope
}

// readDump asks llvm-pdbutil for everything that counts.
func readDump(ctx context.Context, pdb string) (*dump, error) {
	cmd := exec.CommandContext(ctx, "llvm-pdbutil", "dump", "-symbols", "-l", "-il", "-publics", "-section-contribs", pdb)
	out, err := cmd.Output()
	headers, _ := exec.CommandContext(ctx, "llvm-pdbutil", "dump", "-section-headers", pdb).Output()
	d := &dumper{dump: &dump{}, inlinees: map[declared]row{}}
	for _, m := range regexp.MustCompile(`(?m)^ *([0-9A-F]+) virtual address`).FindAllSubmatch(headers, -1) {
		d.base = append(d.base, number(string(m[1]), 16))
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d.read(lines.Text())
	}
	slices.SortStableFunc(d.rows, func(a, b row) int { return cmp.Compare(a.start, b.start) })
	for _, p := range d.procs {
		d.declare(p, p.start)
		for _, r := range d.rows {
			if r.module == p.module && r.start < p.end && p.start < r.end {
				p.rows = append(p.rows, r)
			}
		}
	}
	return d.dump, err
}

func number(text string, base int) uint64 {
	n, _ := strconv.ParseUint(text, base, 64)
	return n
}

// place is an address of a section and what is behind its beginning.
func (d *dump) place(section, offset uint64) uint64 {
	if section == 0 || section > uint64(len(d.base)) {
		return 0
	}
	return d.base[section-1] + offset
}

func (d *dumper) read(text string) {
	if m := dumpModule.FindStringSubmatch(text); m != nil {
		d.module, d.open = int(number(m[1], 10)), nil
	} else if m := dumpRecord.FindStringSubmatch(text); m != nil {
		d.record, d.named = m[1], m[2]
		if n := len(d.open); n > 0 && (d.record == "S_END" || d.record == "S_INLINESITE_END" || d.record == "S_PROC_ID_END") {
			d.open = d.open[:n-1]
		}
		d.begin()
	} else if m := dumpBlock.FindStringSubmatch(text); m != nil {
		section := number(m[1], 16)
		d.block = row{d.place(section, 0), d.place(section, number(m[3], 16)), d.file, 0, d.module}
	} else if m := dumpFile.FindStringSubmatch(text); m != nil && !strings.Contains(text, "|") {
		d.file = m[1]
	} else if m := dumpInlinee.FindStringSubmatch(text); m != nil {
		file, _, _ := strings.Cut(m[3], " (")
		if whole := dumpFile.FindStringSubmatch(m[3]); whole != nil {
			file = whole[1]
		}
		d.inlinees[declared{d.module, m[1]}] = row{file: file, line: int(number(m[2], 10))}
	} else if m := dumpPart.FindStringSubmatch(text); m != nil {
		start := d.place(number(m[2], 10), number(m[3], 10))
		d.parts = append(d.parts, part{start, start + number(m[4], 10), int(number(m[1], 10)), strings.HasPrefix(text, "  SC[.text")})
	} else if list := dumpLine.FindAllStringSubmatch(text, -1); list != nil && d.block.end != 0 {
		d.lines(list)
	} else {
		d.detail(text)
	}
}

// begin opens the scope of a record that has one.
func (d *dumper) begin() {
	switch d.record {
	case "S_GPROC32", "S_LPROC32", "S_GPROC32_ID", "S_LPROC32_ID", "S_THUNK32", "S_SEPCODE":
		d.last = &scope{name: d.named, module: d.module}
		d.open, d.procs = append(d.open, d.last), append(d.procs, d.last)
	case "S_BLOCK32", "S_WITH32":
		if n := len(d.open); n > 0 {
			d.open = append(d.open, d.open[n-1])
		}
	case "S_INLINESITE", "S_INLINESITE2":
		d.last = &scope{module: d.module}
		if n := len(d.open); n > 0 {
			d.open[n-1].calls = append(d.open[n-1].calls, d.last)
		}
		d.open = append(d.open, d.last)
	}
}

// lines takes the lines of a block, each of which ends where the next begins.
func (d *dumper) lines(list [][]string) {
	for _, m := range list {
		r := d.block
		r.start = d.block.start + number(m[2], 16)
		if n := len(d.rows); n > 0 && d.rows[n-1].end == r.end && d.rows[n-1].start <= r.start && d.rows[n-1].module == r.module {
			d.rows[n-1].end = r.start
			r.line = d.rows[n-1].line
		}
		if m[1][0] <= '9' {
			r.line = int(number(m[1], 10))
		}
		d.rows = append(d.rows, r)
	}
}

// detail reads a line that belongs to a record.
func (d *dumper) detail(text string) {
	switch d.record {
	case "S_PUB32":
		if m := dumpPlace.FindStringSubmatch(text); m != nil {
			d.publics = append(d.publics, public{d.place(number(m[1], 10), number(m[2], 10)), d.named, strings.Contains(text, "function")})
		}
	case "S_GPROC32", "S_LPROC32", "S_GPROC32_ID", "S_LPROC32_ID", "S_THUNK32", "S_SEPCODE":
		m, size := dumpPlace.FindStringSubmatch(text), dumpSize.FindStringSubmatch(text)
		if m != nil && size != nil {
			d.last.start = d.place(number(m[1], 10), number(m[2], 10))
			d.last.end = d.last.start + number(size[1], 10)
		}
	case "S_INLINESITE", "S_INLINESITE2":
		if m := dumpCall.FindStringSubmatch(text); m != nil {
			if d.last.inlinee, d.last.name = m[1], m[2]; m[2] == "" || strings.HasSuffix(m[2], "...") {
				d.last.name = unnamed
			}
		} else {
			d.last.annotate(dumpStep.FindAllStringSubmatch(text, -1))
		}
	}
}

// annotate follows one annotation. Places count from the procedure's start.
func (s *scope) annotate(steps [][]string) {
	moved, length := false, uint64(0)
	for _, m := range steps {
		switch m[1] {
		case "line":
			s.line, _ = strconv.Atoi(m[2])
		case "code":
			s.end, moved = s.end+number(m[3], 16), true
		case "code end":
			length = number(m[3], 16)
		}
	}
	if n := len(s.rows); n > 0 && s.rows[n-1].end == 0 && (moved || length > 0) {
		s.rows[n-1].end = s.end // the next one begins
		if !moved {
			s.rows[n-1].end += length
		}
	}
	if !moved {
		s.end += length
		return
	}
	r := row{start: s.end, line: s.line}
	if length > 0 {
		r.end = s.end + length
	}
	s.rows = append(s.rows, r)
}

// declare adds to the rows of calls where the procedure begins and where the
// function is declared.
func (d *dumper) declare(s *scope, start uint64) {
	for _, c := range s.calls {
		at := d.inlinees[declared{c.module, c.inlinee}]
		for i := range c.rows {
			r := &c.rows[i]
			r.start, r.end, r.file, r.line = start+r.start, start+r.end, at.file, at.line+r.line
		}
		d.declare(c, start)
	}
}
