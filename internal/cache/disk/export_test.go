package disk

import (
	"io"
	"os"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// SetWrite replaces (*os.File).Write.
func (s *Store) SetWrite(write func(f *os.File, p []byte) (int, error)) { s.write = write }

// SetMaxMemory sets how much memory may replace the disk.
func (s *Store) SetMaxMemory(n int64) { s.maxMemory = n }

// Save writes the index now, as the keeper does some seconds later.
func (s *Store) Save() error { return s.save() }

// CheckIndex reports why bbolt may not open a file.
func CheckIndex(src io.ReaderAt, size int64) error { return checkIndex(src, size) }

// ReadRecord parses a record and encodes it again.
func ReadRecord(kind int, key cache.Key, record []byte) (again []byte, ok bool) {
	e, ok := readRecord(id{uint8(kind), key}, record)
	if !ok {
		return nil, false
	}
	return e.record(), true
}

// FileRecord returns the record of a file.
func FileRecord(kind int, key cache.Key, size int64, created, used time.Time) []byte {
	e := &entry{id: id{uint8(kind), key}, size: size, created: created.UnixNano(), used: used.UnixNano()}
	return e.record()
}

// FaultRecord returns the record of a fault.
func FaultRecord(kind int, key cache.Key, f *fault.Error, created, until time.Time) []byte {
	e := &entry{id: id{uint8(kind), key}, created: created.UnixNano(), used: created.UnixNano()}
	e.fault = newNegative(f, until.UnixNano())
	return e.record()
}
