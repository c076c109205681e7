package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
)

const (
	place = "disk cache" // of the faults of this package
	tier  = "disk"

	saveEvery  = 5 * time.Second
	sweepEvery = time.Minute
	saveAfter  = 4096    // changes after which saving does not wait for saveEvery
	maxDirty   = 1 << 18 // changes that are kept while saving fails

	warnEvery = 10 * time.Minute // for the same warning
)

var _ cache.Tier = (*Store)(nil)

var errBound = errors.New("files in progress need more than the limit")

// Store is the disk cache of one folder. Make it with Open and close it.
type Store struct {
	dir    string
	cfg    Config
	now    func() time.Time
	log    *slog.Logger
	ledger *ledger
	write  func(f *os.File, p []byte) (int, error) // (*os.File).Write, except in tests

	saveNow chan struct{} // makes keep save at once
	stop    chan struct{}
	done    chan struct{}

	saving sync.Mutex // guards ledger; taken before mu

	mu     sync.Mutex
	book   book
	held   int64         // bytes of spools, of unfinished entries and of Hold
	freed  chan struct{} // closed when held decreases
	closed bool
	warned map[string]time.Time // time of the last warning, by message

	line chan struct{} // taken by the first in line in Hold

	memoryUsed atomic.Int64 // bytes in memory because the disk failed
	maxMemory  int64
}

// Open opens the cache in dir, which is created if it is missing, and locks it
// until Close.
func Open(cfg Config, dir string, now func() time.Time, log *slog.Logger) (*Store, error) {
	s := &Store{
		dir: dir, cfg: cfg.Defaults(), now: now, log: log, write: (*os.File).Write, book: newBook(), maxMemory: cmp.Or(int64(cfg.SpareMemory), maxMemory), warned: map[string]time.Time{},
		freed: make(chan struct{}), line: make(chan struct{}, 1),
		saveNow: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if err := os.MkdirAll(s.temps(), 0o700); err != nil {
		return nil, fmt.Errorf("create the data directory: %w; choose another with --data", err)
	}
	var err error
	if s.ledger, err = openLedger(s.index()); errors.Is(err, ErrInUse) {
		return nil, fmt.Errorf("data directory %s %w (lock on %s); stop it or choose another --data", dir, ErrInUse, s.index())
	} else if err != nil {
		return nil, fmt.Errorf("open the index of the data directory: %w; choose another with --data", err)
	}
	if err := s.reconcile(); err != nil {
		return nil, errors.Join(err, s.ledger.file.Close())
	}
	s.mu.Lock()
	s.trim()
	s.mu.Unlock()
	go s.keep()
	return s, nil
}

// Close saves the index and unlocks the folder. Open blobs and spools stay
// usable.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	<-s.done
	err := s.save()
	s.saving.Lock()
	defer s.saving.Unlock()
	return errors.Join(err, s.ledger.file.Close())
}

func (s *Store) index() string { return filepath.Join(s.dir, "index.db") }
func (s *Store) temps() string { return filepath.Join(s.dir, "tmp") }

func (s *Store) folder(kind uint8) string {
	return filepath.Join(s.dir, "cache", string(kinds[kind]))
}

func (s *Store) path(of id) string {
	name := of.key.String()
	return filepath.Join(s.folder(of.kind), name[:2], name)
}

func (s *Store) clock() int64 { return s.now().UnixNano() }

// Get opens the file of an entry, or returns its fault. It is quick, and ignores
// ctx.
func (s *Store) Get(_ context.Context, kind cache.Kind, key cache.Key) (cache.Blob, error) {
	of := idOf(kind, key)
	s.mu.Lock()
	size, err := s.look(of)
	s.mu.Unlock()
	var blob cache.Blob
	outcome := "hit"
	if err == nil && size >= 0 {
		var failed error
		if blob, failed = openBlob(s.path(of), of.kind, size); failed != nil {
			blob, err = s.reopen(of)
		}
	}
	switch {
	case err != nil:
		outcome = "fault"
	case blob == nil:
		outcome = "miss"
	}
	metric.CacheLookups.Add(1, tier, string(kind), outcome)
	return blob, err
}

// look finds an entry in the book and records its use. The size is negative if
// there is no file. mu is held.
func (s *Store) look(of id) (int64, error) {
	e := s.book.entries[of]
	switch {
	case e == nil || s.closed:
		return -1, nil
	case e.fault == nil:
		s.book.touch(e, s.clock())
		return e.size, nil
	case !e.holds(s.clock()):
		s.book.remove(e)
		return -1, nil
	}
	return -1, e.remembered()
}

// reopen retries to open a file, with mu held, so that it is neither replaced nor
// evicted meanwhile. If that fails, the entry is dropped.
func (s *Store) reopen(of id) (cache.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, err := s.look(of)
	if err != nil || size < 0 {
		return nil, err
	}
	blob, err := openBlob(s.path(of), of.kind, size)
	switch {
	case err == nil:
		return blob, nil
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		s.warn("cannot open a file of the disk cache for lack of files or memory", err)
		return nil, nil
	case !errors.Is(err, fs.ErrNotExist): // files may be deleted
		s.log.Warn("a file of the disk cache is damaged or cannot be read, and is removed", "file", s.path(of), "error", err)
	}
	s.drop(s.book.entries[of])
	s.publish()
	return nil, nil
}

// warn logs a warning, unless it has logged the same one recently. mu is held.
func (s *Store) warn(what string, err error) {
	if now, last := s.now(), s.warned[what]; last.IsZero() || now.Sub(last).Abs() >= warnEvery {
		s.warned[what] = now
		s.log.Warn(what, "error", err)
	}
}

// Remember stores a fault.
func (s *Store) Remember(_ context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	if f == nil || f.Kind == fault.Internal || life <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	now := s.clock()
	e := &entry{id: idOf(kind, key), created: now, used: now, fault: newNegative(f, now+int64(life))}
	s.drop(s.book.entries[e.id])
	s.book.add(e)
	if s.book.faults.count > maxFaults {
		s.drop(s.book.faults.first)
	}
	s.publish()
}

// Forget removes an entry or a fault.
func (s *Store) Forget(_ context.Context, kind cache.Kind, key cache.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.entries[idOf(kind, key)]
	if s.closed {
		return
	}
	if e != nil && e.fault != nil {
		s.saveSoon() // after a crash it should not come back
	}
	s.drop(e)
	s.publish()
}

// drop removes an entry from the book, and its file from the disk. e may be nil.
// mu is held, so that a new file cannot get that name meanwhile.
func (s *Store) drop(e *entry) {
	if e == nil {
		return
	}
	s.book.remove(e)
	if e.fault != nil {
		return
	}
	if err := os.RemoveAll(s.path(e.id)); err != nil { // it may be a folder
		s.log.Warn("cannot remove a file of the disk cache", "error", err)
	}
}

// reserve adds n held bytes, and evicts files if the limit is exceeded.
func (s *Store) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := int64(s.cfg.MaxBytes); limit >= 0 && s.held+n > limit {
		return fault.New(fault.Internal, place, "%w of %v of the disk cache: raise max_bytes", errBound, s.cfg.MaxBytes)
	}
	s.held += n
	s.trim()
	return nil
}

func (s *Store) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unhold(n)
	s.publish()
}

// unhold subtracts n held bytes, and wakes the first in line. mu is held.
func (s *Store) unhold(n int64) {
	s.held -= n
	close(s.freed)
	s.freed = make(chan struct{})
}

// trim evicts files down to nine tenths of a limit that is exceeded. mu is held,
// and released between two files.
func (s *Store) trim() {
	target := func(bound int64, now int64) int64 {
		switch {
		case bound < 0:
			return math.MaxInt64
		case now > bound:
			return bound - bound/10
		}
		return bound
	}
	files, bytes := s.book.totals()
	files, bytes = target(s.cfg.MaxFiles, files), target(int64(s.cfg.MaxBytes), bytes+s.held)
	s.evict(func(int64) bool {
		f, b := s.book.totals()
		return f > files || b+s.held > bytes
	})
}

// evict removes the least recently used files until more returns false. It
// returns the freed space. mu is held, and released between two files.
func (s *Store) evict(more func(freed int64) bool) (freed int64) {
	s.dropAll(func() *entry {
		if !more(freed) {
			return nil
		}
		e := s.book.oldest()
		if e != nil {
			freed += onDisk(e.size)
			metric.CacheEvictions.Add(1, tier, string(kinds[e.kind]))
		}
		return e
	})
	return freed
}

// makeRoom evicts files on a full disk: n bytes, and at least a tenth of the
// cache. It reports whether a file was evicted.
func (s *Store) makeRoom(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, bytes := s.book.totals()
	want := max(n, bytes/10, 1)
	return s.evict(func(freed int64) bool { return freed < want }) > 0
}

// publish updates the metrics, and wakes keep after many changes. mu is held.
func (s *Store) publish() {
	files, bytes := s.book.totals()
	metric.CacheEntries.Set(files, tier)
	metric.CacheBytes.Set(bytes+s.held, tier)
	if len(s.book.dirty) >= saveAfter {
		s.saveSoon()
	}
}

func (s *Store) saveSoon() {
	select {
	case s.saveNow <- struct{}{}:
	default:
	}
}

// keep saves and sweeps until Close.
func (s *Store) keep() {
	defer close(s.done)
	save, sweep := time.NewTicker(saveEvery), time.NewTicker(sweepEvery)
	defer save.Stop()
	defer sweep.Stop()
	failing := false
	for {
		select {
		case <-s.stop:
			return
		case <-sweep.C:
			s.Sweep()
		case <-save.C:
		case <-s.saveNow:
			if failing { // wait for the next tick
				continue
			}
		}
		err := s.save()
		if failing = err != nil; failing {
			what := "cannot save the index of the disk cache; a restart would lose the remembered faults"
			if isFull(err) {
				what = diskFailed
			}
			s.mu.Lock()
			s.warn(what, err)
			s.mu.Unlock()
		}
	}
}

// save writes the changes to index.db.
func (s *Store) save() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	dirty, all := s.book.dirty, s.ledger.isLong()
	s.book.dirty = map[id]struct{}{}
	var records []byte
	if all {
		for of, e := range s.book.entries {
			records = appendRecord(records, of, e)
		}
	} else {
		for of := range dirty {
			records = appendRecord(records, of, s.book.entries[of])
		}
	}
	s.mu.Unlock()
	if len(records) == 0 && !all {
		return nil
	}
	err := s.ledger.save(records, all)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for of := range dirty {
		// Records of removed entries need not be kept: the next start drops them.
		if s.book.entries[of] != nil || len(s.book.dirty) < maxDirty {
			s.book.dirty[of] = struct{}{}
		}
	}
	return fmt.Errorf("save the index: %w", err)
}

// diskFailed is the log message when the disk fails, for every kind of file.
const diskFailed = "cannot write to the disk: new files stay in memory while they are used, and are not cached"

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Sweep removes files that were unused for longer than the limit of their kind,
// and expired faults. It also runs once a minute. It returns the number of
// removed files and faults, and the space of the files.
func (s *Store) Sweep() (count, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	for e := s.book.faults.first; e != nil; {
		next := e.next
		if !e.holds(now) {
			s.drop(e)
			count++
		}
		e = next
	}
	files, bytes := s.dropAll(func() *entry {
		for i := range s.book.files {
			e, life := s.book.files[i].first, s.cfg.idle(kinds[i])
			if e != nil && life >= 0 && now-e.used > int64(life) {
				return e
			}
		}
		return nil
	})
	return count + files, bytes
}

// dropAll drops the entries that next returns, until it returns nil or the store
// is closed; then another process may own the files. mu is held, and released
// between two entries, so that readers do not wait for all of them.
func (s *Store) dropAll(next func() *entry) (count, bytes int64) {
	for e := next(); e != nil && !s.closed; e = next() {
		count++
		bytes += onDisk(e.size)
		s.drop(e)
		s.mu.Unlock()
		s.mu.Lock()
	}
	s.publish()
	return count, bytes
}
