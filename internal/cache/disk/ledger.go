package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

const (
	lockWait  = 500 * time.Millisecond // a process that is ending may still have the lock
	lockRetry = 25 * time.Millisecond
	minLong   = 1 << 20 // bytes up to which the index is not shortened
)

// ErrInUse is the cause of the error of Open for a directory that another process has open.
var ErrInUse = errors.New("is in use by another symbolon")

// ledger is index.db, which grows by the records of changed entries. One
// goroutine at a time uses it.
type ledger struct {
	file      *os.File
	size      int64 // of the complete records
	short     int64 // size when it had one record for each entry; zero: not known
	isDamaged bool  // the records after size are not complete
}

// openLedger opens or creates the index and locks it until it is closed. It
// returns ErrInUse if another process has it open.
func openLedger(path string) (*ledger, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for waited := time.Duration(0); ; waited += lockRetry {
		locked, err := tryLock(f)
		switch {
		case locked:
			return &ledger{file: f}, nil
		case err == nil && waited < lockWait:
			time.Sleep(lockRetry)
			continue
		case err == nil:
			err = ErrInUse
		}
		return nil, errors.Join(err, f.Close())
	}
}

// load yields the ids of the records in the order in which they were written, with their
// entries, or nil for a removed entry. An incomplete record at the end was being written
// when the process ended. An error means that the index is damaged after the records that
// were yielded.
func (l *ledger) load(yield func(id, *entry)) error {
	in := bufio.NewReaderSize(io.NewSectionReader(l.file, 0, math.MaxInt64), maxRecord)
	for {
		b, err := in.Peek(recordHead)
		if err == nil {
			b, err = in.Peek(recordHead + int(binary.LittleEndian.Uint16(b)))
		}
		if err == io.EOF {
			return l.file.Truncate(l.size)
		}
		of, e, ok := readRecord(b)
		if err == bufio.ErrBufferFull || err == nil && !ok {
			err = fmt.Errorf("invalid record at %#x", l.size)
		}
		if err != nil {
			l.isDamaged = true
			return err
		}
		yield(of, e)
		l.size += int64(len(b))
		_, _ = in.Discard(len(b)) // they are in the buffer
	}
}

// isLong reports whether the index must be written again, with one record for each
// entry: because it is damaged, or because most of its records were replaced.
func (l *ledger) isLong() bool { return l.isDamaged || l.size > max(2*l.short, minLong) }

// save appends records, or replaces all records by them.
func (l *ledger) save(records []byte, replace bool) error {
	if replace {
		if err := l.file.Truncate(0); err != nil {
			return err
		}
		l.size, l.short, l.isDamaged = 0, int64(len(records)), true
	}
	if _, err := l.file.WriteAt(records, l.size); err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(records))
	l.isDamaged = false
	return l.file.Sync()
}
