// Package retain removes the uploads of a store that have expired, and the bytes that no
// upload refers to. It also checks a store and rebuilds its derived records.
//
// # Collection
//
// A collection reads the records of all uploads first. Then it
//
//   - deletes the uploads that their rules keep no longer;
//   - removes the keys of uploads that were deleted a day ago;
//   - marks copies of files that no upload names, and removes those that were marked a
//     day before the records were read: an upload does not begin to rely on a marked
//     copy, and writes its record long before a day has passed;
//   - removes pieces of files that were not assembled after a day;
//   - removes identifiers of uploads that have no record after a week: that is how
//     interrupted uploads look, and those whose record is lost.
//
// Marks stay, so that the name of a copy is never used again. A collection may end at any
// point, and may run concurrently with uploads and with another collection: each deletion
// is correct on its own, and in any order of them, uploads that are not deleted keep
// their bytes. An upload whose record is lost or cannot be read is reported, and keeps
// the files that its identifiers name.
//
// # Memory
//
// The names of uploads and copies are kept as hashes, 16 bytes each. Two names with the
// same hash are both kept until the next collection, which hashes differently.
package retain

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/store"
)

const (
	grace     = 24 * time.Hour // from a mark to the removal
	lostGrace = 7 * grace      // of an upload without a record

	endTime     = 10 * time.Second // to write the last uses
	firstRun    = 10 * time.Minute
	betweenRuns = grace + time.Hour // so that each run removes the copies that the last one marked
)

// Deps are the dependencies of a Keeper. The bucket is that of the store.
type Deps struct {
	Store  *store.Store
	Bucket bucket.Bucket
	Now    func() time.Time
	Log    *slog.Logger
}

// A Keeper collects and checks a store. It is safe for concurrent use.
type Keeper struct {
	cfg  store.Config
	deps Deps
}

// New returns a Keeper. Uploads that no rule matches are kept.
func New(cfg store.Config, d Deps) *Keeper { return &Keeper{cfg, d} }

// Run collects some minutes after the start and then once a day, until ctx ends. It
// writes the times of last use every hour and at the end.
func (k *Keeper) Run(ctx context.Context) {
	first := firstRun
	if k.cfg.MaxProject+k.cfg.MaxTotal > 0 { // which need a count
		first = 0
	}
	next, hour := time.NewTimer(first), time.NewTicker(time.Hour)
	defer next.Stop()
	defer hour.Stop()
	l := &ledger{process: strings.ToLower(rand.Text())}
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
			defer cancel()
			k.writeUses(ctx, l)
			return
		case <-hour.C:
			k.writeUses(ctx, l)
			continue
		case <-next.C:
		}
		switch r, err := k.Collect(ctx, false); {
		case err == nil:
			k.deps.Log.Info("collected uploads", "uploads", r.Uploads, "marked", r.Marked, "removed", r.Removed, "bytes", r.Bytes)
			if len(r.Broken) > 0 {
				k.deps.Log.Warn("records of uploads are lost or cannot be read: see symbolon store check", "uploads", r.Broken)
			}
		case ctx.Err() == nil:
			k.deps.Log.Warn("cannot collect uploads; the next try is in a day", "error", err)
		}
		next.Reset(betweenRuns)
	}
}

// set is a set of names, by their hashes.
type set struct {
	seed  maphash.Seed
	names map[uint64]struct{}
}

func newSet() set { return set{maphash.MakeSeed(), map[uint64]struct{}{}} }

func (s set) add(name string) { s.names[maphash.String(s.seed, name)] = struct{}{} }

// has reports whether a name was added, or another one with its hash.
func (s set) has(name string) bool {
	_, ok := s.names[maphash.String(s.seed, name)]
	return ok
}

// collection is a run of Collect.
type collection struct {
	*Keeper
	dry     bool
	began   time.Time             // before the records were read
	gone    map[string]store.Gone // deleted uploads
	uploads set                   // that have a record
	damaged set                   // uploads whose record cannot be read
	lost    set                   // uploads without a record
	live    set                   // copies, files, and files of projects, of uploads that are not deleted
	limited []limited

	mu     sync.Mutex
	report *Report
	full   error // of a step that found no space; the others remove what they can
}

// count adds to a number of the report.
func (c *collection) count(number *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*number++
}

// Collect removes expired uploads and unused bytes, or with dry only counts them.
func (k *Keeper) Collect(ctx context.Context, dry bool) (*Report, error) {
	c := &collection{
		Keeper: k, dry: dry, began: k.deps.Now(), uploads: newSet(), damaged: newSet(), lost: newSet(), live: newSet(),
		report: &Report{Dry: dry, Usage: store.Usage{Projects: map[string]int64{}, Uploads: map[string]int{}}},
	}
	for _, r := range k.cfg.Keep {
		c.report.Rules = append(c.report.Rules, RuleReport{Rule: r})
	}
	for _, step := range []func(context.Context) error{c.read, c.expire, c.eraseGone, c.sweepEntries, c.sweepCopies, c.sweepChunks} {
		if err := c.noteFull(step(ctx)); err != nil {
			return c.report, err
		}
	}
	return c.report, c.full
}

// noteFull returns an error unless it means that a disk is full.
func (c *collection) noteFull(err error) error {
	if !bucket.IsFull(err) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = err
	return nil
}

// read reads the records of all uploads.
func (c *collection) read(ctx context.Context) (err error) {
	if c.gone, err = c.deps.Store.GoneUploads(ctx); err != nil {
		return err
	}
	return c.deps.Store.EachUpload(ctx, func(id string, u *store.Upload, damaged error) error {
		c.uploads.add(id)
		if _, isGone := c.gone[id]; isGone {
			return nil
		}
		if damaged != nil {
			c.damaged.add(id)
			c.report.note(id)
			return nil
		}
		c.report.Uploads++
		c.report.Usage.Uploads[u.Project]++
		for i := range u.Files {
			f := &u.Files[i]
			c.live.add(f.Stored().String())
			c.live.add(f.SHA256.String())
			if name := u.Project + " " + f.SHA256.String(); !c.live.has(name) {
				c.live.add(name)
				c.report.Usage.Add(u.Project, f.Size)
			}
		}
		return c.match(u)
	})
}

// isOld reports whether the grace of something has passed.
func (c *collection) isOld(at time.Time) bool { return c.began.Sub(at) >= grace }

// eraseGone removes the keys of uploads that were deleted a day ago.
func (c *collection) eraseGone(ctx context.Context) error {
	for id, gone := range c.gone {
		if !c.isOld(gone.Time) {
			c.report.Deleted++
			continue
		}
		c.report.Erased++
		if c.dry {
			continue
		}
		if err := c.deps.Store.Erase(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// sweepCopies marks copies that no upload names, and removes those that were marked a day
// before the records were read.
func (c *collection) sweepCopies(ctx context.Context) error {
	return c.each(ctx, "blob/", func(key string) error {
		one, ok := store.ParseCopyKey(key)
		if !ok || one.BlobKey() != key || c.live.has(one.String()) {
			return nil
		}
		text, err := bucket.Read(ctx, c.deps.Bucket, one.DeadKey(), 0, -1)
		var m store.Mark
		switch {
		case fault.KindOf(err) == fault.NotFound:
			c.count(&c.report.Marked)
			return c.mark(ctx, one)
		case err != nil:
			return err
		case json.Unmarshal(text, &m) != nil:
			c.deps.Log.Warn("cannot read the mark of a copy, which is kept", "key", one.DeadKey())
			return nil
		case !c.isOld(m.Time):
			c.count(&c.report.Waiting)
			return nil
		}
		return c.removeCopy(ctx, one)
	})
}

// mark marks a copy.
func (c *collection) mark(ctx context.Context, one store.Copy) error {
	if c.dry {
		return nil
	}
	return c.noteFull(c.deps.Store.Mark(ctx, one))
}

// removeCopy removes the record of the file, which is written again if another upload has
// the file, and then the bytes of a copy.
func (c *collection) removeCopy(ctx context.Context, one store.Copy) error {
	a, err := c.deps.Bucket.Stat(ctx, one.BlobKey())
	if fault.KindOf(err) == fault.NotFound {
		return nil // another collection was faster
	}
	if err == nil {
		c.count(&c.report.Removed)
		c.mu.Lock()
		c.report.Bytes += a.Size
		c.mu.Unlock()
	}
	if err == nil && !c.live.has(one.SHA256.String()) {
		err = c.remove(ctx, one.RecordKey())
	}
	if err == nil {
		err = c.remove(ctx, one.BlobKey())
	}
	return err
}

// sweepEntries removes the identifiers of uploads that have had no record for a week, and
// keeps the files of younger ones and of those whose record cannot be read.
func (c *collection) sweepEntries(ctx context.Context) error {
	return c.each(ctx, "id/", func(key string) error {
		id, at, file, ok := store.ParseEntryKey(key)
		if !ok || c.uploads.has(id) && !c.damaged.has(id) {
			return nil
		}
		has, err := c.deps.Store.HasRecord(ctx, id) // its time is that of another machine
		if err != nil {
			return err
		}
		c.mu.Lock()
		if !has && c.isOld(at) && !c.lost.has(id) {
			c.lost.add(id)
			c.report.note(id)
		}
		isKept := has || c.began.Sub(at) < lostGrace
		if isKept {
			c.live.add(file.String())
			c.live.add(file.SHA256.String())
		} else {
			c.report.Entries++
		}
		c.mu.Unlock()
		if isKept {
			return nil
		}
		return c.remove(ctx, key)
	})
}

// sweepChunks removes pieces of files that were sent the day before yesterday or earlier.
func (c *collection) sweepChunks(ctx context.Context) error {
	end := store.ChunkFolder(c.began.Add(-grace))
	return c.each(ctx, "chunk/", func(key string) error {
		if key >= end {
			return nil
		}
		c.count(&c.report.Chunks)
		return c.remove(ctx, key)
	})
}

// remove removes a blob, unless the run only counts.
func (c *collection) remove(ctx context.Context, key string) error {
	if c.dry {
		return nil
	}
	return c.deps.Bucket.Delete(ctx, key)
}

// each calls do for the keys with a prefix, some at a time, until it fails.
func (k *Keeper) each(ctx context.Context, prefix string, do func(key string) error) error {
	for after := ""; ; {
		page, more, err := k.deps.Bucket.List(ctx, prefix, after, bucket.MaxPage)
		if err == nil {
			err = bucket.Each(len(page), func(i int) error { return do(page[i]) })
		}
		if err != nil || !more {
			return err
		}
		after = page[len(page)-1]
	}
}
