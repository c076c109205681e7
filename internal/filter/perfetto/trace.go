package perfetto

import (
	"bytes"
	"compress/zlib"
	"io"

	"symbolon/internal/filter/wire"
)

// Tags of a TracePacket.
const (
	tagPacket       = 1<<3 | wire.Bytes // of a Trace
	tagTrustedUID   = 3<<3 | wire.Varint
	tagTimestamp    = 8<<3 | wire.Varint
	tagSequence     = 10<<3 | wire.Varint
	tagInternedData = 12<<3 | wire.Bytes
	tagFlags        = 13<<3 | wire.Varint
	tagProfile      = 37<<3 | wire.Bytes
	tagIsCleared    = 41<<3 | wire.Varint
	tagCompressed   = 50<<3 | wire.Bytes
	tagSymbols      = 61<<3 | wire.Bytes

	flagCleared = 1
)

// layout has the tags of the interned messages of a packet.
type layout struct{ buildIDs, paths, mappings, frames wire.Tag }

var (
	internedData  = layout{16<<3 | wire.Bytes, 17<<3 | wire.Bytes, 19<<3 | wire.Bytes, 6<<3 | wire.Bytes}
	profilePacket = layout{1<<3 | wire.Bytes, 1<<3 | wire.Bytes, 4<<3 | wire.Bytes, 2<<3 | wire.Bytes}
)

// Tags of interned messages, and of the symbols of an address.
const (
	tagID      = 1<<3 | wire.Varint
	tagText    = 2<<3 | wire.Bytes  // of a string
	tagBuildID = 2<<3 | wire.Varint // of a mapping
	tagPath    = 7<<3 | wire.Varint
	tagPaths   = 7<<3 | wire.Bytes // the same, packed

	tagMapping    = 3<<3 | wire.Varint // of a frame
	tagRelPC      = 4<<3 | wire.Varint
	tagSourcePath = 5<<3 | wire.Varint
	tagKind       = 7<<3 | wire.Varint

	kindNative = 1 // lesser is unknown, greater has no file
)

// trace has the frames of a trace.
type trace struct {
	left      int // bytes that may still be inflated
	kept      int // bytes of them that may still be kept
	inflated  bytes.Buffer
	isPacked  bool // the packet that is read is in inflated
	sequences map[uint64]*sequence
	modules   []module
	indices   map[module]int32
	isNamed   map[address]bool // of all frames: whether the trace has a name
}

// module is a module as the trace names it.
type module struct{ path, buildID string }

// address is an address of a frame.
type address struct {
	module int32
	pc     uint64
}

// sequence has the interned messages of a writer, by their ids. The maps are nil while they
// are empty.
type sequence struct {
	buildIDs, paths, mappings map[uint64][]byte
	modules                   map[uint64]int32 // of mappings that frames use
}

// Limits of a trace. Frames beyond them get no names.
const (
	maxPath    = 4096 // as the greatest of Linux
	maxBuildID = 64
	maxModules = 1 << 16
	maxWriters = 1 << 16

	freeInflated = 16 << 20 // inflated bytes,
	maxInflation = 32       // and those for each byte of the trace
	maxPacked    = 64 << 20 // inflated bytes of a packet, of which writers put less than 1 MiB there
	entryCost    = 64       // bytes of memory that an entry of a map takes
)

// packet reads a packet: the frames and the names in it. Damage costs only the
// part that it is in.
func (t *trace) packet(msg []byte) {
	var id uint64
	isCleared := false
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag {
		case tagSequence:
			id = r.Value
		case tagFlags:
			isCleared = isCleared || r.Value&flagCleared != 0
		case tagIsCleared:
			isCleared = isCleared || r.Value != 0
		}
	}
	if isCleared {
		delete(t.sequences, id)
	}
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag {
		case tagInternedData:
			t.interned(id, r.Bytes, &internedData)
		case tagProfile:
			t.interned(id, r.Bytes, &profilePacket)
		case tagSymbols:
			t.symbols(r.Bytes)
		case tagCompressed:
			if !t.isPacked {
				t.inflate(r.Bytes)
			}
		}
	}
}

func (t *trace) inflate(data []byte) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil || t.left == 0 {
		return
	}
	// The packets before damage are used.
	t.inflated.Reset()
	_, _ = t.inflated.ReadFrom(io.LimitReader(z, int64(min(t.left, maxPacked))))
	t.left -= t.inflated.Len()
	t.isPacked = true
	for r := wire.NewReader(t.inflated.Bytes()); r.Next(); {
		if r.Tag == tagPacket {
			t.packet(r.Bytes)
		}
	}
	t.isPacked = false
}

// keep sets an entry to bytes that stay valid after their packet. If there are too many, it
// removes the entry and ends the inflation.
func (t *trace) keep(entries *map[uint64][]byte, id uint64, b []byte) {
	if t.isPacked {
		if t.kept -= entryCost + len(b); t.kept < 0 {
			t.left = 0
			delete(*entries, id)
			return
		}
		b = bytes.Clone(b)
	}
	set(entries, id, b)
}

// set sets an element of a map that is nil while it is empty.
func set[V any](m *map[uint64]V, id uint64, v V) {
	if *m == nil {
		*m = map[uint64]V{}
	}
	(*m)[id] = v
}

// interned reads the strings and mappings of a packet of a writer, and then its frames.
func (t *trace) interned(writer uint64, msg []byte, l *layout) {
	s := t.sequences[writer]
	if s == nil {
		if len(t.sequences) == maxWriters {
			return
		}
		s = &sequence{}
		t.sequences[writer] = s
	}
	for r := wire.NewReader(msg); r.Next(); {
		id, text := entry(r.Bytes)
		if r.Tag == l.buildIDs {
			t.keep(&s.buildIDs, id, text[:min(len(text), maxBuildID+1)])
		}
		if r.Tag == l.paths {
			t.keep(&s.paths, id, text[:min(len(text), maxPath+1)])
		}
		if r.Tag == l.mappings {
			t.keep(&s.mappings, id, r.Bytes)
			delete(s.modules, id)
		}
	}
	for r := wire.NewReader(msg); r.Next(); {
		if r.Tag == l.frames {
			t.frame(s, r.Bytes)
		}
	}
}

// entry returns the id of a message, and the text of a string.
func entry(msg []byte) (id uint64, text []byte) {
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag {
		case tagID:
			id = r.Value
		case tagText:
			text = r.Bytes
		}
	}
	return id, text
}

// frame adds a frame, if its code comes from a file.
func (t *trace) frame(s *sequence, msg []byte) {
	var mapping, pc, kind uint64
	hasSource := false
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag {
		case tagMapping:
			mapping = r.Value
		case tagRelPC:
			pc = r.Value
		case tagSourcePath:
			hasSource = true
		case tagKind:
			kind = r.Value
		}
	}
	m, ok := s.modules[mapping]
	if !ok {
		data, ok := s.mappings[mapping]
		if !ok {
			return
		}
		m = t.module(s.name(data))
		set(&s.modules, mapping, m)
	}
	if kind <= kindNative && m >= 0 {
		a := address{m, pc}
		t.isNamed[a] = t.isNamed[a] || hasSource
	}
}

// name returns the path and the build id of a mapping. Readers of traces find
// modules by both, so the path is made as they make it.
func (s *sequence) name(mapping []byte) (path, buildID []byte) {
	add := func(id uint64) {
		if p := s.paths[id]; len(path) <= maxPath { // a longer one is rejected
			path = append(append(path, '/'), p...)
		}
	}
	for r := wire.NewReader(mapping); r.Next(); {
		switch r.Tag {
		case tagBuildID:
			buildID = s.buildIDs[r.Value]
		case tagPath:
			add(r.Value)
		case tagPaths:
			for id := range wire.Numbers(r.Bytes) {
				add(id)
			}
		}
	}
	if bytes.HasPrefix(path, []byte("//")) {
		path = path[1:] // Chrome writes whole paths
	}
	return path, buildID
}

// module returns the index of a module, -1 for one that exceeds the limits.
func (t *trace) module(path, buildID []byte) int32 {
	if len(path) > maxPath || len(buildID) > maxBuildID {
		return -1
	}
	m := module{string(path), string(buildID)}
	i, ok := t.indices[m]
	if !ok && len(t.modules) == maxModules {
		return -1
	}
	if !ok {
		i = int32(len(t.modules))
		t.indices[m] = i
		t.modules = append(t.modules, m)
	}
	return i
}

// symbols marks the addresses that a packet names.
func (t *trace) symbols(msg []byte) {
	var path, buildID []byte
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag {
		case 1<<3 | wire.Bytes:
			path = r.Bytes
		case 2<<3 | wire.Bytes:
			buildID = r.Bytes
		}
	}
	m := t.module(path, buildID)
	for r := wire.NewReader(msg); m >= 0 && r.Next(); {
		if r.Tag == 3<<3|wire.Bytes {
			pc, _ := entry(r.Bytes)
			t.isNamed[address{m, pc}] = true
		}
	}
}
