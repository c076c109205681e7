package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	maxTries  = 10               // to commit while copies are marked
	cleanTime = 30 * time.Second // to withdraw a record after the client has left
)

// Commit makes the upload durable and visible. An upload without files is a *Refusal.
// If Commit fails otherwise the upload may be visible or not.
func (d *Draft) Commit(ctx context.Context) (u *Upload, err error) {
	defer func() {
		d.noteFull(err)
		d.noteRefusal("", err)
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.upload.Files) == 0 {
		return nil, refuse(fault.Unsupported, "upload", "it has no file that can be used")
	}
	if size := len(encode(d.upload.Labels)); size > maxText {
		return nil, refuse(fault.Unsupported, "upload", "its labels have %d bytes: must have at most %d", size, maxText)
	}
	slices.SortFunc(d.upload.Files, compare)
	d.upload.Files = slices.CompactFunc(d.upload.Files, func(a, b UploadedFile) bool { return compare(a, b) == 0 })
	size, err := d.store.admit(ctx, d.upload.Project, d.upload.Files)
	if err == nil {
		err = d.store.EnsureProject(ctx, d.upload.Project)
	}
	if err == nil {
		u, err = d.accept(ctx)
	}
	if err != nil {
		d.store.count(d.upload.Project, -size)
	}
	return u, err
}

// compare orders the files of an upload by name, content and claim.
func compare(a, b UploadedFile) int {
	if n := cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.SHA256[:], b.SHA256[:])); n != 0 || a.Claim == b.Claim {
		return n
	}
	return bytes.Compare(encode(a.Claim), encode(b.Claim))
}

// accept makes an upload of the files, whose bytes and records are stored.
func (d *Draft) accept(ctx context.Context) (*Upload, error) {
	s := d.store
	for range maxTries {
		if d.isOld() {
			if _, err := d.replaceDead(ctx, true); err != nil {
				return nil, err
			}
		}
		u, err := d.publish(ctx)
		if err != nil {
			return nil, err
		}
		isReplaced, err := d.replaceDead(ctx, false)
		if err == nil && !isReplaced && !d.isOld() {
			s.announce(ctx, change{Upload: u.ID}, u.modules())
			return u, nil
		}
		s.withdraw(ctx, u) // also if the process was suspended: its entries may be removed
		if err != nil {
			return nil, err
		}
	}
	return nil, fault.New(fault.Transport, "upload", "it took more than %v to write its record, %d times", draftAge, maxTries)
}

// isOld reports whether copies without a mark may have been marked and removed since:
// then marks are searched again. Removing them takes a day after the mark and looks at
// all records before, so a record that is written earlier keeps them.
func (d *Draft) isOld() bool { return d.now().Sub(d.checked) > draftAge }

// now returns the time of the system. It continues while the process is suspended, unlike
// the monotonic clock.
func (d *Draft) now() time.Time { return d.store.deps.Now().Round(0) }

// writeRecord writes the record of a file. One that a crash of the system has damaged is
// replaced.
func (s *Store) writeRecord(ctx context.Context, rec *Record) error {
	key, text := recordKey(rec.SHA256), encode(rec)
	isNew, err := s.create(ctx, key, text, true)
	if err != nil || isNew {
		return err
	}
	now, err := s.read(ctx, key)
	if err != nil && fault.KindOf(err) != fault.NotFound || err == nil && json.Unmarshal(now, new(Record)) == nil {
		return err
	}
	return s.replaceRecord(ctx, rec)
}

// publish writes the entries of an upload and then its record.
func (d *Draft) publish(ctx context.Context) (*Upload, error) {
	s := d.store
	name := s.newName()
	u := new(Upload)
	*u = d.upload
	if u.ID = u.Project + "." + name; u.Time.IsZero() {
		u.Time = nameTime(name)
	}
	u.sum()
	text, entries := u.text()
	err := bucket.Each(len(entries), func(i int) error {
		_, err := s.create(ctx, entries[i], nil, true)
		return err
	})
	if err == nil {
		// Its name is random: if it exists, the answer of an earlier try was lost.
		_, err = s.create(ctx, uploadKey(u.Project, name), text, false)
		d.hasRecord = d.hasRecord || !bucket.IsFull(err)
	}
	if bucket.IsFull(err) {
		s.withdraw(ctx, u)
	}
	return u, err
}

// newName returns a new name of an upload. Uploads of this process have times of their
// own, so that the newest is known.
func (s *Store) newName() string {
	for {
		last := s.last.Load()
		now := max(s.deps.Now().UnixMilli(), last+1)
		if s.last.CompareAndSwap(last, now) {
			return newName(now)
		}
	}
}

// withdraw removes an upload that was not accepted.
func (s *Store) withdraw(ctx context.Context, u *Upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	err := s.deps.Bucket.Delete(ctx, uploadKey(u.Project, u.name()))
	if err == nil {
		entries := u.Entries()
		err = bucket.Each(len(entries), func(i int) error { return s.deps.Bucket.Delete(ctx, entries[i]) })
	}
	if err != nil {
		s.deps.Log.Warn("cannot withdraw an upload that was not accepted", "upload", u.ID, "error", err)
	}
}

// replaceDead replaces the copies that are marked by new ones. Without all it checks only
// those that other drafts stored, as a draft that fails for lack of space removes its
// copies at once.
func (d *Draft) replaceDead(ctx context.Context, all bool) (isReplaced bool, err error) {
	now, files := d.now(), slices.Clone(d.upload.Files) // those of a record do not change
	isDead := make([]bool, len(files))
	err = bucket.Each(len(files), func(i int) (err error) {
		if all || files[i].isFound {
			isDead[i], err = d.store.exists(ctx, files[i].Stored().DeadKey())
		}
		return err
	})
	if err != nil {
		return false, err
	}
	next := map[ident.SHA256]UploadedFile{}
	for i := range files {
		f := &files[i]
		if !isDead[i] {
			continue
		}
		n, ok := next[f.SHA256]
		if !ok {
			c, isNew, err := d.store.copyAgain(ctx, f.Stored())
			if err != nil {
				return false, err
			}
			n = UploadedFile{Copy: c.N, isFound: !isNew}
			next[f.SHA256] = n
		}
		f.Copy, f.isFound = n.Copy, n.isFound
	}
	if d.upload.Files = files; all {
		d.checked = now
	}
	return len(next) > 0, nil
}

// copyAgain makes a copy of a marked one.
func (s *Store) copyAgain(ctx context.Context, from Copy) (c Copy, isNew bool, err error) {
	r, a, err := s.deps.Bucket.Get(ctx, from.BlobKey(), 0, -1)
	if fault.KindOf(err) == fault.NotFound {
		return from, false, fault.New(fault.Transport, "upload", "the stored bytes of %v were removed meanwhile: send the file again", from.SHA256)
	}
	if err != nil {
		return from, false, err
	}
	defer r.Close()
	p := &spool{open: s.deps.Spool}
	defer p.Close()
	if _, err := bucket.Copy(ctx, p, r, bucket.Attrs{Size: a.Size}); err != nil {
		return from, false, err
	}
	return s.put(ctx, from.SHA256, p)
}

// Mark marks a copy: no upload begins to rely on it.
func (s *Store) Mark(ctx context.Context, c Copy) error {
	_, err := s.create(ctx, c.DeadKey(), encode(Mark{s.deps.Now().UTC()}), false)
	return err
}

// release removes the copy that a draft stored for a file, unless an upload has the file.
// One that relies on the copy writes its entries before it looks for the mark.
func (s *Store) release(ctx context.Context, f *UploadedFile) {
	if f.isFound {
		return
	}
	c, id := f.Stored(), idOf(f.SHA1)
	remove := func(ctx context.Context, c Copy) error {
		return errors.Join(s.deps.Bucket.Delete(ctx, c.RecordKey()), s.deps.Bucket.Delete(ctx, c.BlobKey()))
	}
	for _, do := range []func(context.Context, Copy) error{s.Mark, remove} {
		entries, _, err := s.deps.Bucket.List(ctx, folderOf(id)+id+".", "", 1)
		if err == nil && len(entries) == 0 {
			err = do(ctx, c)
		}
		if err != nil {
			s.deps.Log.Warn("cannot remove the bytes of an upload that was not accepted", "key", c.BlobKey(), "error", err)
		}
		if err != nil || len(entries) > 0 {
			return
		}
	}
}

// DeleteFile deletes the file with a sum of an upload. The other files become an upload
// of the time of the first one before that is deleted: until then its record keeps their
// copies, marked or not.
func (s *Store) DeleteFile(ctx context.Context, id string, sum ident.SHA256, by, why string) error {
	u, err := s.Upload(ctx, id)
	if err != nil {
		return err
	}
	d := s.Begin(u.Project, u.Labels, u.Uploader)
	d.upload.Time = u.Time
	d.upload.Files = slices.DeleteFunc(u.Files, func(f UploadedFile) bool { return f.SHA256 == sum })
	if len(d.upload.Files) == 0 {
		return s.Delete(ctx, id, by, why)
	}
	until, err := s.ProtectedUntil(ctx, id)
	if err != nil {
		return err
	}
	rest, err := d.accept(ctx)
	if err == nil && !until.IsZero() {
		err = s.Protect(ctx, rest.ID, until)
	}
	if err != nil {
		return err
	}
	err = s.Delete(ctx, id, by, why)
	if fault.KindOf(err) == fault.NotFound { // another client deleted it, or one of its files
		return errors.Join(err, s.Delete(ctx, rest.ID, by, why))
	}
	return err
}
