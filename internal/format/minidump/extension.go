package minidump

import (
	"errors"
	"fmt"

	"symbolon/internal/bin"
)

// An Annotation is a key and a value that a program set for its crashes.
type Annotation struct {
	Key   string `json:"key"`
	Type  uint16 `json:"type,omitempty"` // of an object: 1 is text; those from 0x8000 on are the program's
	Value string `json:"value"`          // of an object of another type than text: its bytes
}

// Crashpad has the additions of Crashpad to a dump.
type Crashpad struct {
	ReportID    string           `json:"report_id,omitempty"` // UUIDs, empty if missing
	ClientID    string           `json:"client_id,omitempty"`
	Annotations []Annotation     `json:"annotations"`
	Modules     []CrashpadModule `json:"modules"`
}

// CrashpadModule has the annotations of a module.
type CrashpadModule struct {
	Index       uint32       `json:"module"` // in the list of modules
	List        []string     `json:"list,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
	Objects     []Annotation `json:"objects,omitempty"`
}

func (r *reader) crashpad(c *bin.Cursor) (*Crashpad, error) {
	version := c.U32()
	x := &Crashpad{ReportID: r.uuid(c), ClientID: r.uuid(c)}
	simple, modules := location(c), location(c)
	if version == 0 {
		return nil, errors.New("invalid version 0")
	}
	x.Annotations = r.dictionary(simple)
	r.counted("modules of Crashpad", modules, 12, func(c *bin.Cursor) {
		m := CrashpadModule{Index: c.U32()}
		if at := location(c); r.crashpadModule(at, &m) {
			x.Modules = append(x.Modules, m)
		}
	})
	return x, nil
}

func (r *reader) uuid(c *bin.Cursor) string {
	var id [16]byte
	copy(id[:], c.Bytes(16))
	if d := r.debugID(id, 0); !d.IsZero() {
		return d.String()
	}
	return ""
}

func (r *reader) crashpadModule(l Location, m *CrashpadModule) bool {
	c, err := r.fixed(l, 28)
	if err != nil {
		r.problems.Add("module of Crashpad", l.Off, "%v", err)
		return false
	}
	c.Skip(4)
	list, simple, objects := location(c), location(c), location(c)
	r.counted("list annotations", list, 4, func(c *bin.Cursor) {
		m.List = append(m.List, r.utf8(int64(c.U32())))
	})
	m.Annotations = r.dictionary(simple)
	r.counted("annotation objects", objects, 12, func(c *bin.Cursor) {
		a := Annotation{Key: r.utf8(int64(c.U32())), Type: c.U16()}
		c.Skip(2)
		a.Value = r.utf8(int64(c.U32()))
		m.Objects = append(m.Objects, a)
	})
	return true
}

func (r *reader) dictionary(l Location) (list []Annotation) {
	r.counted("annotations", l, 8, func(c *bin.Cursor) {
		a := Annotation{Key: r.utf8(int64(c.U32()))}
		a.Value = r.utf8(int64(c.U32()))
		list = append(list, a)
	})
	return list
}

// counted reads a list that may be missing. Each entry is charged, since several
// lists may be the same.
func (r *reader) counted(place string, l Location, entry int64, decode func(c *bin.Cursor)) {
	const charged = 64
	if l.Size == 0 {
		return
	}
	err := r.charge(l.Size / entry * charged)
	if err == nil {
		err = r.list(l, entry, maxEntries, decode)
	}
	if err != nil {
		r.problems.Add(place, l.Off, "%v", err)
	}
}

// A MacRecord is a message of a module on macOS about the crash. Numbers and
// texts may be 0 and empty.
type MacRecord struct {
	Thread, DialogMode, AbortCause                  uint64
	Module, Message, Signature, Backtrace, Message2 string
}

// Limits of the writer of MacRecords.
const (
	maxMacRecords = 20
	maxMacText    = 8192
)

func (r *reader) macCrashInfo(l Location) (records []MacRecord, err error) {
	c, err := r.cursor(Location{l.Off, min(l.Size, 12+8*maxMacRecords)})
	if err != nil {
		return nil, err
	}
	c.Skip(4)
	count, start := min(c.U32(), maxMacRecords), int64(c.U32())
	if c.Err() != nil || int64(c.Len()) < 8*int64(count) {
		return nil, fmt.Errorf("%d bytes are too few for %d records", l.Size, count)
	}
	records = []MacRecord{}
	var first uint64
	for i := range count {
		at := location(c)
		record, version, err := r.macRecord(at, start)
		if i == 0 {
			first = version
		}
		if err == nil && version != first {
			err = fmt.Errorf("records of versions %d and %d", first, version)
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
		records = append(records, record)
	}
	return records, nil
}

// macRecord reads a record, whose texts are at offset start.
func (r *reader) macRecord(l Location, start int64) (m MacRecord, version uint64, err error) {
	c, err := r.cursor(l)
	if err != nil {
		return m, 0, err
	}
	c.Skip(8)
	if version = c.U64(); version >= 4 {
		m.Thread, m.DialogMode = c.U64(), c.U64()
	}
	if version >= 5 {
		m.AbortCause = c.U64()
	}
	if c.Err() != nil || start < int64(c.Off()) || start > l.Size {
		return m, 0, fmt.Errorf("%d bytes are too few, with texts at %d", l.Size, start)
	}
	c.Skip(int(start) - c.Off())
	for _, text := range []*string{&m.Module, &m.Message, &m.Signature, &m.Backtrace, &m.Message2} {
		if c.Len() == 0 {
			break
		}
		b := c.CString()
		if err := r.charge(int64(len(b))); err != nil {
			return m, 0, err
		}
		*text = valid(b[:min(len(b), maxMacText)])
	}
	return m, version, c.Err()
}

func (r *reader) bootArgs(c *bin.Cursor) (*string, error) {
	c.Skip(4)
	text, err := r.utf16(int64(c.U64()))
	return &text, err
}

// A ClientStack is the stack of a thread as Sentry's client walked it.
type ClientStack struct {
	ThreadID uint32
	Frames   []ClientFrame
}

// A ClientFrame is a return address. The function may be empty.
type ClientFrame struct {
	Addr     uint64
	Function string
}

// clientStacks reads the stream of Sentry's client.
//
//	{version, threads, frames, bytes of text}
//	{thread id, first frame, frames} for each thread, and padding to 8 bytes
//	{address of 64 bits, offset and size in the text} for each frame
//	text
func (r *reader) clientStacks(l Location) (stacks []ClientStack, err error) {
	c, err := r.fixed(l, 16)
	if err != nil {
		return nil, err
	}
	version, threads, count, text := c.U32(), int64(c.U32()), int64(c.U32()), int64(c.U32())
	framesAt := 16 + (threads*12+7)&^7
	if textAt := framesAt + count*16; version != 1 || textAt+text != l.Size {
		return nil, fmt.Errorf("invalid version %d, or %d bytes do not fit %d threads and %d frames", version, l.Size, threads, count)
	}
	words, err := r.bytes(Location{l.Off + l.Size - text, text})
	if err != nil {
		return nil, err
	}
	var frames []ClientFrame
	err = r.entries(l.Off+framesAt, 16, uint64(count), maxRanges, func(c *bin.Cursor) {
		f := ClientFrame{Addr: r.sys.address(c.U64())}
		from, size := int64(c.U32()), int64(c.U32())
		if size > 0 && from <= text && size <= text-from && r.charge(size) == nil {
			f.Function = valid(words[from : from+size])
		}
		frames = append(frames, f)
	})
	if err != nil {
		return nil, err
	}
	err = r.entries(l.Off+16, 12, uint64(threads), maxEntries, func(c *bin.Cursor) {
		id, first, n := c.U32(), int64(c.U32()), int64(c.U32())
		if first > int64(len(frames)) || n > int64(len(frames))-first {
			r.problems.Add("client stack", l.Off, "frames %d to %d of thread %d are missing", first, first+n, id)
			return
		}
		stacks = append(stacks, ClientStack{id, frames[first : first+n : first+n]})
	})
	return stacks, err
}
