package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket/numbered"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/metric"
)

const (
	watchEvery  = 500 * time.Millisecond
	resyncEvery = 60              // looks for the next change
	maxChanges  = 1000            // that are kept; a process that misses more continues with the newest
	maxFailed   = 3               // looks in a row that fail before the bucket counts as unavailable
	lookTime    = 5 * time.Second // for one request of a look
)

// change is a change that other processes look for. It is a hint: the records are the
// truth.
type change struct {
	Upload string `json:"upload,omitempty"`
	Gone   bool   `json:"gone,omitempty"`

	// A file that is in the bucket without an upload.
	FileID ident.FileID `json:"file_id,omitzero"`
	CodeID ident.CodeID `json:"code_id,omitempty"`
}

// changes are the changes that this process has seen.
type changes struct {
	mu   sync.Mutex
	last int          // number of the last one that Watch has seen
	own  map[int]bool // those of this process after it
}

// OnChange sets the function that is called with the identifiers of each upload and
// deletion: by Commit and Delete before they return, and by Watch for changes of other
// processes. It must be called before the Store is used.
func (s *Store) OnChange(do func(ids []ident.Module)) { s.onChange = do }

func (s *Store) log() numbered.Versions {
	return numbered.Versions{Bucket: s.deps.Bucket, Prefix: "change"}
}

// Announce announces a symbfile, which is in the bucket without an upload: the function of
// OnChange is called with m before it returns, and by Watch of other processes.
func (s *Store) Announce(ctx context.Context, m ident.Module) {
	s.announce(ctx, change{FileID: m.FileID, CodeID: m.CodeID}, []ident.Module{m})
}

// announce announces a change to all processes. If that fails, they see the change when
// their cached entries expire.
func (s *Store) announce(ctx context.Context, c change, ids []ident.Module) {
	defer s.onChange(ids)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	known := s.changes.last
	for n := range s.changes.own {
		known = max(known, n)
	}
	known, err := s.newestChange(ctx, known)
	for isNew := false; err == nil && !isNew; {
		known++
		isNew, err = s.log().Create(ctx, known, encode(c))
	}
	if err == nil {
		if s.changes.own == nil {
			s.changes.own = map[int]bool{}
		}
		s.changes.own[known] = true
		if old := known - maxChanges; old > 0 {
			err = s.deps.Bucket.Delete(ctx, s.log().Key(old))
		}
	}
	if err != nil {
		s.deps.Log.Warn("cannot announce a change to other nodes; they see it later", "upload", c.Upload, "error", err)
	}
}

// newestChange returns the number of the newest change, at least known. A process that
// knows none lists them, as old ones are removed.
func (s *Store) newestChange(ctx context.Context, known int) (int, error) {
	if known > 0 {
		return s.log().Newest(ctx, known)
	}
	for key, err := range s.keys(ctx, "change/") {
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(key, "change/")); err == nil {
			known = max(known, n)
		}
	}
	return known, nil
}

// Watch looks for uploads and deletions of other processes twice a second, until ctx
// ends. It logs when the bucket becomes unavailable, at once if it is at the start, and
// when it is available again. Meanwhile Find fails without asking the bucket.
func (s *Store) Watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	failed := maxFailed - 1
	for i := 0; ; i++ {
		err := s.look(ctx, i%resyncEvery == 0 || failed > 0) // only a list tells a missing bucket from a missing change
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && failed >= maxFailed:
			s.deps.Log.Info("the state is available again")
			fallthrough
		case err == nil:
			metric.StateUp.Set(1)
			s.away.Store(nil)
			failed = 0
		default:
			if failed++; failed == maxFailed {
				s.deps.Log.Warn("the state is unavailable: uploads fail, and uploaded files are not found", "error", err)
				metric.StateUp.Set(0)
				s.away.Store(fault.New(fault.Transport, "", "the state is unavailable: %w", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// IsAway reports whether the bucket is unavailable, as Watch has seen.
func (s *Store) IsAway() bool { return s.away.Load() != nil }

// look looks for changes. With isLost it also finds those after one that was removed, or
// of a process that knows none.
func (s *Store) look(ctx context.Context, isLost bool) error {
	s.changes.mu.Lock()
	last := s.changes.last
	s.changes.mu.Unlock()
	if isLost {
		bounded, cancel := context.WithTimeout(ctx, lookTime)
		newest, err := s.newestChange(bounded, 0)
		cancel()
		if err != nil {
			return err
		}
		if last == 0 || newest-last >= maxChanges {
			s.projects.Expire()
			s.seen(newest)
			return nil
		}
	}
	for {
		s.changes.mu.Lock()
		next := s.changes.last + 1
		isOwn := s.changes.own[next]
		s.changes.mu.Unlock()
		if !isOwn {
			bounded, cancel := context.WithTimeout(ctx, lookTime)
			text, _, err := s.log().Read(bounded, next)
			cancel()
			if fault.KindOf(err) == fault.NotFound {
				return nil
			}
			if err != nil {
				return err
			}
			s.apply(ctx, text)
		}
		s.seen(next)
	}
}

// seen notes that the changes up to n are known.
func (s *Store) seen(n int) {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	s.changes.last = n
	maps.DeleteFunc(s.changes.own, func(own int, _ bool) bool { return own <= n })
}

// apply makes a change of another process known to this one.
func (s *Store) apply(ctx context.Context, text []byte) {
	s.projects.Expire()
	var c change
	err := json.Unmarshal(text, &c)
	if !c.FileID.IsZero() {
		s.onChange([]ident.Module{{Type: ident.TypeELF, FileID: c.FileID, CodeID: c.CodeID}})
	}
	if project, name, ok := splitID(c.Upload); err == nil && ok {
		var u *Upload
		if u, err = s.load(ctx, project, name, 0, allFiles); err == nil {
			for ids := range slices.Chunk(u.modules(), 1000) {
				s.onChange(ids)
			}
		}
	}
	if err != nil {
		s.deps.Log.Debug("cannot read a change of another node", "error", err)
	}
}
