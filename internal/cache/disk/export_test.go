package disk

import (
	"io"
	"os"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// SetWrite puts a function in the place of (*os.File).Write.
func (s *Store) SetWrite(write func(f *os.File, p []byte) (int, error)) { s.write = write }

// SetMaxLent sets how much memory may stand in for the disk.
func (s *Store) SetMaxLent(n int64) { s.maxLent = n }

// Save writes the index now, as the keeper does some seconds later.
func (s *Store) Save() error { return s.save() }

// CheckIndex is what decides whether bbolt may open a file.
func CheckIndex(src io.ReaderAt, size int64) error { return checkIndex(src, size) }

// ReadRecord reads a record and writes it again.
func ReadRecord(kind int, key cache.Key, record []byte) (again []byte, ok bool) {
	e, ok := readRecord(id{uint8(kind), key}, record)
	if !ok {
		return nil, false
	}
	return e.record(), true
}

// FileRecord is the record of a file.
func FileRecord(kind int, key cache.Key, size int64, created, used time.Time) []byte {
	e := &entry{id: id{uint8(kind), key}, size: size, created: created.UnixNano(), used: used.UnixNano()}
	return e.record()
}

// FaultRecord is the record of a fault.
func FaultRecord(kind int, key cache.Key, f *fault.Error, created, until time.Time) []byte {
	e := &entry{id: id{uint8(kind), key}, created: created.UnixNano(), used: created.UnixNano()}
	e.fault = newVerdict(f, until.UnixNano())
	return e.record()
}
