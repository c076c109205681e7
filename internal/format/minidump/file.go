package minidump

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Errors of Open. Their texts are the names that rust-minidump prints.
var (
	ErrMissingHeader     = errors.New("MissingHeader")
	ErrHeaderMismatch    = errors.New("HeaderMismatch")
	ErrVersionMismatch   = errors.New("VersionMismatch")
	ErrMissingDirectory  = errors.New("MissingDirectory")
	ErrMissingThreadList = errors.New("MissingThreadList")
	ErrMissingSystemInfo = errors.New("MissingSystemInfo")
)

// A File is an open minidump.
type File struct {
	Time      uint32 // when it was written, in seconds since 1970
	Streams   []Stream
	System    *System
	Threads   []Thread
	Modules   []Module // the program first; addresses may overlap
	Unloaded  []Unloaded
	Memory    *bin.Memory
	Mappings  []Mapping   // sorted; nil: missing
	LinuxMaps []Mapping   // those of /proc/PID/maps, which are Mappings too unless Windows' are present; nil: missing
	Handles   []Handle    // nil: missing
	MacCrash  []MacRecord // nil: missing
	BootArgs  *string     // of macOS
	Client    []ClientStack
	Problems  bin.Problems

	// These are nil if they are missing.
	Exception *Exception
	Breakpad  *Breakpad
	Assertion *Assertion
	Crashpad  *Crashpad
	Misc      *Misc

	reader reader
}

const (
	magic        = 0x504d444d
	magicSwapped = 0x4d444d50
	version      = 0xa793
)

// Open reads the lists of a minidump. See the package comment for damage; errors
// wrap ErrMissingHeader and those after it. Memory is read from src in place, so src
// should be the result of bin.InPlace.
func Open(src bin.Source) (*File, error) {
	f := &File{reader: reader{src: src, order: binary.LittleEndian, text: maxText}}
	r := &f.reader
	if err := f.readDirectory(); err != nil {
		return nil, err
	}
	if !setRecord(f, SystemInfo, 56, &f.System, r.system) {
		return nil, f.missing(SystemInfo, ErrMissingSystemInfo)
	}
	r.sys = f.System
	if !set(f, ThreadList, &f.Threads, r.threads) {
		return nil, f.missing(ThreadList, ErrMissingThreadList)
	}
	set(f, ThreadNames, &f.Threads, func(l Location) ([]Thread, error) { return r.threadNames(l, f.Threads) })
	setRecord(f, Exceptions, 168, &f.Exception, r.exception)
	setRecord(f, BreakpadInfo, 12, &f.Breakpad, r.breakpad)
	set(f, ModuleList, &f.Modules, r.modules)
	set(f, UnloadedModuleList, &f.Unloaded, r.unloaded)
	set(f, LinuxMaps, &f.LinuxMaps, r.maps)
	if !set(f, MemoryInfoList, &f.Mappings, r.memoryInfo) {
		f.Mappings = f.LinuxMaps
	}
	setRecord(f, MiscInfo, 24, &f.Misc, r.misc)
	set(f, HandleData, &f.Handles, r.handles)
	setRecord(f, AssertionInfo, 776, &f.Assertion, r.assertion)
	setRecord(f, CrashpadInfo, 52, &f.Crashpad, r.crashpad)
	set(f, MacCrashInfo, &f.MacCrash, r.macCrashInfo)
	setRecord(f, MacBootArgs, 12, &f.BootArgs, r.bootArgs)
	set(f, ClientStacks, &f.Client, r.clientStacks)
	f.readMemory()
	f.Problems = r.problems
	return f, nil
}

// readDirectory reads the header and the list of streams.
func (f *File) readDirectory() error {
	const place = "minidump, header"
	r := &f.reader
	c, err := r.cursor(Location{0, 32})
	if err != nil {
		return fault.New(fault.Malformed, place, "%w: the file has %d bytes", ErrMissingHeader, r.src.Size())
	}
	signature := c.U32()
	if signature == magicSwapped {
		r.order = binary.BigEndian
		c, _ = r.cursor(Location{0, 32})
		signature = c.U32()
	}
	if signature != magic {
		return fault.New(fault.Malformed, place, "%w: invalid signature %#x", ErrHeaderMismatch, signature)
	}
	if v := c.U32(); v&0xffff != version {
		return fault.New(fault.Malformed, place, "%w: version %#x", ErrVersionMismatch, v)
	}
	count, off := uint64(c.U32()), int64(c.U32())
	c.Skip(4)
	f.Time = c.U32()
	err = r.entries(off, 12, count, maxEntries, func(c *bin.Cursor) {
		f.Streams = append(f.Streams, Stream{StreamType(c.U32()), location(c)})
	})
	if err != nil {
		return fault.New(fault.Malformed, "minidump, directory", "%w: %v", ErrMissingDirectory, err)
	}
	return nil
}

// set reads the last stream of a type that is not damaged to dst.
func set[T any](f *File, t StreamType, dst *T, read func(Location) (T, error)) bool {
	for _, s := range slices.Backward(f.Streams) {
		if s.Type != t {
			continue
		}
		v, err := read(s.Location)
		if err == nil {
			*dst = v
			return true
		}
		f.reader.problems.Add(t.String(), s.Off, "%v", err)
	}
	return false
}

// setRecord is set for a stream that begins with a record of size bytes.
func setRecord[T any](f *File, t StreamType, size int64, dst *T, read func(c *bin.Cursor) (T, error)) bool {
	return set(f, t, dst, func(l Location) (v T, err error) {
		c, err := f.reader.fixed(l, size)
		if err != nil {
			return v, err
		}
		return read(c)
	})
}

// missing returns the error for a required stream.
func (f *File) missing(t StreamType, name error) error {
	place := "minidump, " + t.String()
	if p := f.reader.problems; len(p) > 0 && p[len(p)-1].Place == t.String() {
		return fault.New(fault.Malformed, place, "%w: offset %#x: %s", name, p[len(p)-1].Off, p[len(p)-1].Reason)
	}
	return fault.New(fault.Malformed, place, "%w: the file does not have this stream", name)
}

// readMemory joins all ranges of memory.
func (f *File) readMemory() {
	r := &f.reader
	var wide, ranges []bin.Range
	set(f, Memory64List, &wide, r.memory64List)
	set(f, MemoryList, &ranges, r.memoryList)
	ranges = append(wide, ranges...)
	for _, t := range f.Threads {
		if r.isRange(t.Stack) {
			ranges = append(ranges, t.Stack)
		}
	}
	f.Memory, _ = bin.NewMemory(r.src, ranges)
}

// BigEndian reports the byte order of the file and its memory.
func (f *File) BigEndian() bool { return f.reader.order == binary.BigEndian }

func (r *reader) system(c *bin.Cursor) (*System, error) {
	s := &System{order: r.order, CPU: "unknown", Arch: ident.ArchUnknown}
	cpu := c.U16()
	s.Level, s.Revision = c.U16(), c.U16()
	s.CPUs = c.U8()
	c.Skip(1)
	s.Major, s.Minor, s.Build = c.U32(), c.U32(), c.U32()
	number := c.U32()
	pack := int64(c.U32())
	c.Skip(4)
	copy(s.details[:], c.Bytes(len(s.details)))
	system := systems[number]
	s.OS, s.OSName, s.module = system.os, cmp.Or(system.name, fmt.Sprintf("%#x", number)), system.module
	if x, ok := cpus[cpu]; ok {
		if s.CPU, s.Wide, s.Arch = x.name, x.isWide, x.little; r.order == binary.BigEndian {
			s.Arch = x.big
		}
	}
	if pack != 0 {
		s.ServicePack, _ = r.name("service pack", pack)
	}
	return s, nil
}
