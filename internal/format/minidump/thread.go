package minidump

import (
	"symbolon/internal/bin"
)

// A Thread is a thread of the process.
type Thread struct {
	ID      uint32
	Name    string
	IsNamed bool // the name may be empty
	TEB     uint64
	Stack   bin.Range // in File.Memory, if the file has it
	Context Location  // for File.Context
}

// threads reads the list of threads. The stack of a thread may be missing.
func (r *reader) threads(l Location) (threads []Thread, err error) {
	err = r.list(l, 48, maxEntries, func(c *bin.Cursor) {
		t := Thread{ID: c.U32()}
		c.Skip(12)
		t.TEB = r.sys.address(c.U64())
		t.Stack = r.readRange(c)
		t.Context = location(c)
		threads = append(threads, t)
	})
	return threads, err
}

// threadNames returns threads with their names. Several threads may have the same
// id; the last name of an id counts.
func (r *reader) threadNames(l Location, threads []Thread) ([]Thread, error) {
	names := map[uint32]string{}
	err := r.list(l, 12, maxEntries, func(c *bin.Cursor) {
		id, off := c.U32(), int64(c.U64())
		if name, ok := r.name("thread name", off); ok {
			names[id] = name
		}
	})
	for i := range threads {
		t := &threads[i]
		t.Name, t.IsNamed = names[t.ID]
	}
	return threads, err
}

// An Exception is the reason of a crash. The meaning of its numbers depends on
// the system.
type Exception struct {
	ThreadID   uint32
	Code       uint32
	Flags      uint32
	Address    uint64
	Parameters []uint64 // up to 15
	Context    Location // for File.Context
}

func (r *reader) exception(c *bin.Cursor) (*Exception, error) {
	e := &Exception{ThreadID: c.U32()}
	c.Skip(4)
	e.Code, e.Flags = c.U32(), c.U32()
	c.Skip(8)
	e.Address = r.sys.address(c.U64())
	count := min(c.U32(), 15)
	c.Skip(4)
	e.Parameters = make([]uint64, 15)
	for i := range e.Parameters {
		e.Parameters[i] = c.U64()
	}
	e.Parameters = e.Parameters[:count]
	e.Context = location(c)
	return e, nil
}

// Breakpad has the threads that took part in writing the dump.
type Breakpad struct {
	DumpThread, RequestingThread       uint32
	HasDumpThread, HasRequestingThread bool
}

func (r *reader) breakpad(c *bin.Cursor) (*Breakpad, error) {
	valid := c.U32()
	return &Breakpad{c.U32(), c.U32(), valid&1 != 0, valid&2 != 0}, nil
}
