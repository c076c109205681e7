package minidump

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf16"

	"symbolon/internal/bin"
)

// Misc describes the process. Linux has the id of the process in a text.
type Misc struct {
	PID        uint32
	CreateTime uint32 // in seconds since 1970
	HasPID     bool
	HasTimes   bool
}

// misc reads the fields that all versions of the stream have.
func (r *reader) misc(c *bin.Cursor) (*Misc, error) {
	c.Skip(4)
	flags := c.U32()
	return &Misc{c.U32(), c.U32(), flags&1 != 0, flags&2 != 0}, nil
}

// An Assertion is a failed check of a program that was built by Microsoft's
// compiler.
type Assertion struct {
	Expression, Function, File string
	Line                       uint32
	Kind                       string // empty if unknown
}

func (r *reader) assertion(c *bin.Cursor) (*Assertion, error) {
	a := &Assertion{}
	for _, text := range []*string{&a.Expression, &a.Function, &a.File} {
		*text = fixedText(c)
	}
	a.Line = c.U32()
	switch c.U32() {
	case 1:
		a.Kind = "invalid parameter"
	case 2:
		a.Kind = "pure virtual call"
	}
	return a, nil
}

// fixedText reads an array of 128 units of UTF-16, which a zero may end.
func fixedText(c *bin.Cursor) string {
	units := make([]uint16, 128)
	n := len(units)
	for i := range units {
		if units[i] = c.U16(); units[i] == 0 {
			n = min(n, i)
		}
	}
	return string(utf16.Decode(units[:n]))
}

// A Handle is an open object of a process on Windows.
type Handle struct {
	Value      uint64  `json:"handle"`
	TypeName   *string `json:"type_name"` // nil: missing
	ObjectName *string `json:"object_name"`
}

func (r *reader) handles(l Location) (handles []Handle, err error) {
	handles = []Handle{}
	err = r.table(l, 32, maxEntries, false, func(c *bin.Cursor) {
		h := Handle{Value: c.U64()}
		h.TypeName, h.ObjectName = r.handleName(c.U32()), r.handleName(c.U32())
		handles = append(handles, h)
	})
	return handles, err
}

func (r *reader) handleName(off uint32) *string {
	if off == 0 {
		return nil
	}
	name, ok := r.name("handle name", int64(off))
	if !ok {
		return nil
	}
	return &name
}

// A Mapping is a range of addresses with its protection.
type Mapping struct {
	Addr, Size uint64
	Protection bin.Protection // of a guard page none: the first access fails
	IsMapped   bool           // false: free or reserved
}

// memoryInfo reads the table of protections.
func (r *reader) memoryInfo(l Location) (list []Mapping, err error) {
	const (
		protectRead, protectWrite, protectExecute, protectGuard = 0x66, 0xcc, 0xf0, 0x100
		stateCommit                                             = 0x1000
	)
	err = r.table(l, 48, maxRanges, true, func(c *bin.Cursor) {
		m := Mapping{Addr: r.sys.address(c.U64())}
		c.Skip(16)
		m.Size = c.U64()
		state, protect := c.U32(), c.U32()
		if m.IsMapped = state == stateCommit; protect&protectGuard == 0 {
			m.Protection = bin.NewProtection(protect&protectRead != 0, protect&protectWrite != 0, protect&protectExecute != 0)
		}
		list = append(list, m)
	})
	sortMappings(list)
	return list, err
}

func sortMappings(list []Mapping) {
	slices.SortStableFunc(list, func(a, b Mapping) int { return cmp.Compare(a.Addr, b.Addr) })
}

// maps reads /proc/PID/maps.
func (r *reader) maps(l Location) (list []Mapping, err error) {
	text, err := r.bytes(l)
	if err != nil {
		return nil, err
	}
	list = []Mapping{}
	off := l.Off
	for line := range bytes.Lines(text) {
		m, ok := parseMapping(line)
		switch {
		case ok && len(list) < maxRanges:
			list = append(list, m)
		case len(bytes.TrimSpace(line)) > 0:
			r.problems.Add("memory maps", off, "invalid line, or more than %d lines", maxRanges)
		}
		off += int64(len(line))
	}
	sortMappings(list)
	return list, nil
}

// parseMapping reads a line such as 7fff0000-7fff1000 rw-p 00000000 00:00 0.
func parseMapping(line []byte) (m Mapping, ok bool) {
	addrs, rest, _ := bytes.Cut(line, []byte(" "))
	from, to, _ := bytes.Cut(addrs, []byte("-"))
	start, err := strconv.ParseUint(string(from), 16, 64)
	end, endErr := strconv.ParseUint(string(to), 16, 64)
	if err != nil || endErr != nil || end <= start || len(rest) < 4 {
		return m, false
	}
	return Mapping{start, end - start, bin.NewProtection(rest[0] == 'r', rest[1] == 'w', rest[2] == 'x'), true}, true
}
