package retain

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/console"
	"symbolon/internal/fault"
	"symbolon/internal/store"
)

// The time between two lines of text for people, and between two reports.
const (
	textEvery   = 10 * time.Second
	reportEvery = time.Second
)

// Progress is called with the bytes that were checked, now and then. If it is nil, text
// for people has them.
type Progress func(bytes int64)

// inspection is a run of Check or Rebuild.
type inspection struct {
	*Keeper
	repair  bool
	out     io.Writer
	gone    map[string]store.Gone
	uploads set // that have a record
	checked set // copies
	lost    set // uploads without a record
	shown   time.Time
	report  Progress

	mu                               sync.Mutex
	files, repaired, problems, total int
	bytes                            int64
}

// Check reads all files of all uploads, and reports missing and damaged ones, and missing
// keys. The error of a store with problems is Malformed.
func (k *Keeper) Check(ctx context.Context, out io.Writer, report Progress) error {
	return k.inspect(ctx, false, out, report)
}

// Rebuild does the same, and makes the records of files again from their bytes and the
// identifiers from the records.
func (k *Keeper) Rebuild(ctx context.Context, out io.Writer, report Progress) error {
	return k.inspect(ctx, true, out, report)
}

func (k *Keeper) inspect(ctx context.Context, repair bool, out io.Writer, report Progress) (err error) {
	in := &inspection{Keeper: k, repair: repair, out: out, uploads: newSet(), checked: newSet(), lost: newSet(), shown: k.deps.Now(), report: report}
	if in.gone, err = k.deps.Store.GoneUploads(ctx); err != nil {
		return err
	}
	began := k.deps.Now()
	err = k.deps.Store.EachUpload(ctx, func(id string, u *store.Upload, damaged error) error {
		in.uploads.add(id)
		if _, isGone := in.gone[id]; isGone {
			return nil
		}
		in.total++
		if damaged != nil {
			in.problem("upload %s: its record cannot be read: restore it from a backup, or remove it and send the files again: %v", id, damaged)
			return nil
		}
		return in.upload(ctx, u)
	})
	if err == nil {
		err = in.findLost(ctx, began)
	}
	if err != nil {
		return err
	}
	console.Printf(out, "checked %s, %s, %s\n", console.Count(in.total, "upload"), console.Count(in.files, "file"), console.Count(in.bytes, "byte"))
	if repair {
		console.Printf(out, "wrote %s\n", console.Count(in.repaired, "key"))
	}
	if in.problems > 0 {
		return fault.New(fault.Malformed, "store", "it has %s", console.Count(in.problems, "problem"))
	}
	return nil
}

// problem reports a problem.
func (in *inspection) problem(format string, args ...any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.problems++
	console.Printf(in.out, "%s\n", console.Printable(fmt.Sprintf(format, args...)))
}

// upload inspects an upload that is not deleted.
func (in *inspection) upload(ctx context.Context, u *store.Upload) error {
	var files []*store.UploadedFile
	for i := range u.Files {
		if name := u.Files[i].Stored().String(); !in.checked.has(name) {
			in.checked.add(name)
			files = append(files, &u.Files[i])
		}
	}
	err := bucket.Each(len(files), func(i int) error { return in.file(ctx, u, files[i]) })
	entries := u.Entries()
	if err == nil {
		err = bucket.Each(len(entries), func(i int) error { return in.entry(ctx, u, entries[i]) })
	}
	return err
}

// file inspects the bytes and the record of a file.
func (in *inspection) file(ctx context.Context, u *store.Upload, f *store.UploadedFile) error {
	repaired, err := in.deps.Store.Verify(ctx, f, in.repair)
	if err != nil {
		if kind := fault.KindOf(err); kind != fault.NotFound && kind != fault.Malformed && kind != fault.Unsupported {
			return err
		}
		in.problem("upload %s, file %s: %v", u.ID, f.Name, err)
		if in.repair { // so that another upload of the file brings its bytes
			if err := in.deps.Store.Mark(ctx, f.Stored()); err != nil {
				return err
			}
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.files++
	in.bytes += f.Size
	if repaired {
		in.repaired++
	}
	switch since := in.deps.Now().Sub(in.shown); {
	case in.report != nil && since >= reportEvery:
		in.shown = in.shown.Add(since)
		in.report(in.bytes)
	case in.report == nil && since >= textEvery:
		in.shown = in.shown.Add(since)
		console.Printf(in.out, "%s, %s so far\n", console.Count(in.files, "file"), console.Count(in.bytes, "byte"))
	}
	return nil
}

// entry inspects a key by which a file is found.
func (in *inspection) entry(ctx context.Context, u *store.Upload, key string) error {
	_, err := in.deps.Bucket.Stat(ctx, key)
	if fault.KindOf(err) != fault.NotFound {
		return err
	}
	if !in.repair {
		in.problem("upload %s: the key %s is missing", u.ID, key)
		return nil
	}
	_, err = in.deps.Bucket.Put(ctx, key, strings.NewReader(""), bucket.Attrs{IfAbsent: true})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.repaired++
	return err
}

// findLost reports uploads that have identifiers and no record.
func (in *inspection) findLost(ctx context.Context, began time.Time) error {
	return in.each(ctx, "id/", func(key string) error {
		id, at, _, ok := store.ParseEntryKey(key)
		if !ok || began.Sub(at) < grace || in.uploads.has(id) {
			return nil
		}
		in.mu.Lock()
		isNew := !in.lost.has(id)
		in.lost.add(id)
		in.mu.Unlock()
		if isNew {
			in.problem("upload %s: it has no record: it was not accepted, or its record is lost; send its files again", id)
		}
		return nil
	})
}
