package disk

import (
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

// ReadRecord parses a record and encodes it again.
func ReadRecord(record []byte) (again []byte, ok bool) {
	of, e, ok := readRecord(record)
	if !ok {
		return nil, false
	}
	return appendRecord(nil, of, e), true
}

// RemovedRecord returns the record of an entry that was removed.
func RemovedRecord(kind int, key cache.Key) []byte {
	return appendRecord(nil, id{uint8(kind), key}, nil)
}

// FileRecord returns the record of a file.
func FileRecord(kind int, key cache.Key, size int64, created, used time.Time) []byte {
	e := &entry{id: id{uint8(kind), key}, size: size, created: created.UnixNano(), used: used.UnixNano()}
	return appendRecord(nil, e.id, e)
}

// FaultRecord returns the record of a fault.
func FaultRecord(kind int, key cache.Key, f *fault.Error, created, until time.Time) []byte {
	e := &entry{id: id{uint8(kind), key}, created: created.UnixNano(), used: created.UnixNano()}
	e.fault = newNegative(f, until.UnixNano())
	return appendRecord(nil, e.id, e)
}
