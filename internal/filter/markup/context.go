package markup

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"symbolon/internal/filter"
)

// A Module is a file whose parts are mapped.
type Module struct {
	ID      uint64
	Name    string
	BuildID []byte
}

// A Map is a range of memory with a part of a module.
type Map struct {
	Module     *Module
	Addr, Size uint64
	Offset     uint64 // address as linked of the first byte
	Mode       string // letters of rwx
}

// space returns how addresses as linked are counted: a module that is at them is not
// relocated.
func (m *Map) space() filter.Space {
	if m.Addr == m.Offset {
		return filter.Fixed
	}
	return filter.Linked
}

// contains reports whether an address is in the range. That of a range beyond the
// end of memory is not.
func (m *Map) contains(addr uint64) bool { return addr >= m.Addr && addr < m.Addr+m.Size }

// A Place is the code or data of a reference.
type Place struct {
	Frame uint64 // number in a backtrace
	Addr  uint64 // in memory; that of the call for a return address
	Map   *Map   // nil if none covers the address
}

// Linked returns the address as linked.
func (p *Place) Linked() uint64 { return p.Addr - p.Map.Addr + p.Map.Offset }

// maxContext limits the modules and the maps, whose insertion is linear.
const maxContext = 1 << 14

// A Context has the modules and maps at a place in a text.
type Context struct {
	// Report is called with the error at an offset in the text of an element. It may be
	// nil.
	Report func(e *Element, at int, isWarning bool, text string)

	modules map[uint64]*Module
	maps    []*Map // by address
}

// IsEmpty reports whether there are no modules.
func (c *Context) IsEmpty() bool { return len(c.modules) == 0 }

// Reset forgets the modules and maps.
func (c *Context) Reset() { c.modules, c.maps = nil, nil }

// AddModule adds the module of an element, and returns nil if it is invalid.
func (c *Context) AddModule(e *Element) *Module {
	if !c.atLeast(e, 3) {
		return nil
	}
	id, ok := c.number(e, 0, 0, "module ID")
	switch {
	case !ok:
		return nil
	case string(e.Field(2)) != "elf":
		c.fail(e, e.FieldStart(2), "unknown module type")
		return nil
	case !c.Exactly(e, 4):
		return nil
	}
	build := string(e.Field(3))
	if len(build)%2 > 0 {
		build = "0" + build
	}
	m := &Module{ID: id, Name: string(e.Field(1))}
	var err error
	switch m.BuildID, err = hex.DecodeString(build); {
	case err != nil || build == "":
		c.invalid(e, 3, "build ID")
		return nil
	case c.modules[id] != nil:
		c.fail(e, e.FieldStart(0), "duplicate module ID")
		return nil
	case len(c.modules) == maxContext:
		c.fail(e, e.FieldStart(0), "too many modules")
		return nil
	case c.modules == nil:
		c.modules = map[uint64]*Module{}
	}
	c.modules[id] = m
	return m
}

// AddMap adds the map of an element, and returns nil if it is invalid.
func (c *Context) AddMap(e *Element) *Map {
	m := c.parseMap(e)
	if m == nil {
		return nil
	}
	i := c.after(m.Addr)
	var other *Map
	switch {
	case i < len(c.maps) && m.contains(c.maps[i].Addr):
		other = c.maps[i]
	case i > 0 && c.maps[i-1].contains(m.Addr):
		other = c.maps[i-1]
	case len(c.maps) == maxContext:
		c.fail(e, e.FieldStart(0), "too many maps")
		return nil
	}
	if other != nil {
		if c.Report != nil {
			c.fail(e, e.FieldStart(0), fmt.Sprintf("overlapping mmap: #%#x [%#x-%#x]",
				other.Module.ID, other.Addr, other.Addr+other.Size-1))
		}
		return nil
	}
	c.maps = slices.Insert(c.maps, i, m)
	return m
}

func (c *Context) parseMap(e *Element) *Map {
	if !c.atLeast(e, 3) {
		return nil
	}
	var m Map
	var ok bool
	if m.Addr, ok = c.address(e, 0); !ok {
		return nil
	}
	if m.Size, ok = c.number(e, 1, 0, "size"); !ok {
		return nil
	}
	if string(e.Field(2)) != "load" {
		c.fail(e, e.FieldStart(2), "unknown mmap type")
		return nil
	}
	if !c.Exactly(e, 6) {
		return nil
	}
	id, ok := c.number(e, 3, 0, "module ID")
	if !ok {
		return nil
	}
	m.Mode = strings.ToLower(string(e.Field(4)))
	if !isMode(m.Mode) {
		c.invalid(e, 4, "mode")
		return nil
	}
	if m.Module = c.modules[id]; m.Module == nil {
		c.fail(e, e.FieldStart(3), "unknown module ID")
		return nil
	}
	m.Offset, ok = c.address(e, 5)
	if !ok {
		return nil
	}
	return &m
}

// isMode reports whether s has some of the letters rwx in this order.
func isMode(s string) bool {
	rest := strings.TrimPrefix(s, "r")
	rest = strings.TrimPrefix(rest, "w")
	return s != "" && strings.TrimPrefix(rest, "x") == ""
}

// Place returns the place of an element bt, pc or data.
func (c *Context) Place(e *Element) (p Place, ok bool) {
	at := 0 // field with the address; after it is the type
	isReturn := false
	switch string(e.Tag) {
	case "data":
		ok = c.Exactly(e, 1)
	case "pc":
		if ok = c.atLeast(e, 1); ok {
			c.atMost(e, 2)
		}
	default:
		if ok = c.atLeast(e, 2); ok {
			c.atMost(e, 3)
			at, isReturn = 1, true
			p.Frame, ok = c.number(e, 0, 10, "frame number")
		}
	}
	if !ok {
		return p, false
	}
	if p.Addr, ok = c.address(e, at); !ok {
		return p, false
	}
	if e.N == at+2 && string(e.Tag) != "data" {
		switch string(e.Field(at + 1)) {
		case "ra":
			isReturn = true
		case "pc":
			isReturn = false
		default:
			c.invalid(e, at+1, "PC type")
			return p, false
		}
	}
	if isReturn {
		p.Addr--
	}
	if i := c.after(p.Addr); i > 0 && c.maps[i-1].contains(p.Addr) {
		p.Map = c.maps[i-1]
	} else {
		c.fail(e, e.FieldStart(0), "no mmap covers address")
	}
	return p, true
}

// after returns the index of the first map after an address.
func (c *Context) after(addr uint64) int {
	return sort.Search(len(c.maps), func(i int) bool { return c.maps[i].Addr > addr })
}

// address reads a hexadecimal number with 0x, or zeros.
func (c *Context) address(e *Element, i int) (uint64, bool) {
	s := e.Field(i)
	if len(s) > 0 && len(bytes.Trim(s, "0")) == 0 {
		return 0, true
	}
	if digits, ok := bytes.CutPrefix(s, []byte("0x")); ok {
		if n, err := strconv.ParseUint(string(digits), 16, 64); err == nil {
			return n, true
		}
	}
	c.invalid(e, i, "address")
	return 0, false
}

// number reads a number. In base 0 its prefix states the base.
func (c *Context) number(e *Element, i, base int, what string) (uint64, bool) {
	s := e.Field(i)
	if n, err := strconv.ParseUint(string(s), base, 64); err == nil && bytes.IndexByte(s, '_') < 0 {
		return n, true
	}
	c.invalid(e, i, what)
	return 0, false
}

// Exactly reports whether an element has a number of fields. More are reported, but
// not wrong.
func (c *Context) Exactly(e *Element, n int) bool {
	if e.N != n {
		c.count(e, e.N > n, "", n)
	}
	return e.N >= n
}

func (c *Context) atLeast(e *Element, n int) bool {
	if e.N < n {
		c.count(e, false, "at least ", n)
	}
	return e.N >= n
}

func (c *Context) atMost(e *Element, n int) {
	if e.N > n {
		c.count(e, true, "at most ", n)
	}
}

func (c *Context) count(e *Element, isWarning bool, limit string, n int) {
	if c.Report != nil {
		c.Report(e, e.TagEnd(), isWarning, fmt.Sprintf("expected %s%d field(s); found %d", limit, n, e.N))
	}
}

func (c *Context) invalid(e *Element, i int, what string) {
	if c.Report != nil {
		c.fail(e, e.FieldStart(i), fmt.Sprintf("expected %s; found '%s'", what, e.Field(i)))
	}
}

func (c *Context) fail(e *Element, at int, text string) {
	if c.Report != nil {
		c.Report(e, at, false, text)
	}
}
