package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	lockWait  = 500 * time.Millisecond // a process that is ending may still have the lock
	lockRetry = 25 * time.Millisecond
	damaged   = ".damaged"
)

var errInUse = errors.New("the index is locked")

// ledger is index.db. One goroutine at a time uses it.
type ledger struct {
	db     *bbolt.DB
	file   *os.File // that of db
	broken error    // bbolt has panicked, and its locks are never released
}

// openLedger opens or creates the index and locks it. It returns errInUse if
// another process has it open.
func openLedger(path string, log *slog.Logger) (*ledger, error) {
	l := &ledger{}
	err := l.guard(func() (err error) {
		l.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout: lockWait,
			OpenFile: func(path string, flag int, perm os.FileMode) (_ *os.File, err error) {
				l.file, err = openIndex(path, flag, perm, log)
				return l.file, err
			},
		})
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = errInUse
	}
	return l, err
}

// openIndex opens, locks and checks index.db for bbolt. A damaged one is renamed
// first, while it is locked, so that no other process is using it.
func openIndex(path string, flag int, perm os.FileMode, log *slog.Logger) (*os.File, error) {
	f, err := openLocked(path, flag, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		return f, nil
	}
	if err == nil {
		err = checkIndex(f, info.Size())
	}
	if err == nil {
		return f, nil
	}
	log.Warn("the index of the disk cache is damaged and is rebuilt from the files; remembered faults are lost",
		"index", path, "kept as", path+damaged, "error", err)
	moved := os.Rename(path, path+damaged)
	f.Close()
	if moved != nil { // some systems do not rename open files
		moved = os.Rename(path, path+damaged)
	}
	if moved != nil {
		return nil, moved
	}
	return openLocked(path, flag, perm)
}

// openLocked opens a file and locks it.
func openLocked(path string, flag int, perm os.FileMode) (*os.File, error) {
	for end := time.Duration(0); ; end += lockRetry {
		f, err := os.OpenFile(path, flag, perm)
		if err != nil {
			return nil, err
		}
		locked, err := tryLock(f)
		if locked {
			// The previous owner of the lock may have renamed the file.
			var mine, there fs.FileInfo
			if mine, err = f.Stat(); err == nil {
				if there, err = os.Stat(path); err == nil && os.SameFile(mine, there) {
					return f, nil
				}
			}
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if end >= lockWait {
			return nil, errInUse
		}
		time.Sleep(lockRetry)
	}
}

// load yields the valid records, and returns the ids of the others.
func (l *ledger) load(yield func(*entry)) (bad []id, err error) {
	err = l.guard(func() error {
		return l.db.View(func(tx *bbolt.Tx) error {
			for number, kind := range kinds {
				bucket := tx.Bucket([]byte(kind))
				if bucket == nil {
					continue
				}
				err := bucket.ForEach(func(k, v []byte) error {
					of := id{kind: uint8(number)}
					if len(k) != len(of.key) {
						return nil
					}
					copy(of.key[:], k)
					if e, ok := readRecord(of, v); ok {
						yield(e)
					} else {
						bad = append(bad, of)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	return bad, err
}

// save writes a batch of records in one transaction, which needs one or two
// syncs whatever its size. A nil record is deleted.
func (l *ledger) save(batch map[id][]byte) error {
	return l.guard(func() error {
		return l.db.Update(func(tx *bbolt.Tx) error {
			for of, value := range batch {
				bucket, err := tx.CreateBucketIfNotExists([]byte(kinds[of.kind]))
				switch {
				case err != nil:
				case value == nil:
					err = bucket.Delete(of.key[:])
				default:
					err = bucket.Put(of.key[:], value)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (l *ledger) close() error {
	if l.broken != nil {
		return errors.Join(unlock(l.file), l.file.Close())
	}
	return l.guard(l.db.Close)
}

// guard calls do, which reads the mapped index. If a page cannot be read,
// because the disk fails or the file was truncated, do ends with an error and
// not the process. The ledger cannot be used afterwards.
func (l *ledger) guard(do func() error) (err error) {
	if l.broken != nil {
		return l.broken
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(runtime.Error); ok { // of bbolt, from what it has read
				p = "a page cannot be read or is invalid"
			}
			l.broken = fmt.Errorf("the index was damaged while it was in use, and is rebuilt at the next start: %v", p)
			err = l.broken
		}
	}()
	return do()
}
