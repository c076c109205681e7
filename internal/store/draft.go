package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

const (
	maxFiles = 100_000 // of an upload
	maxName  = 1 << 10 // bytes of the name of a file
	maxText  = 64 << 10
	draftAge = time.Hour // after which copies may have been marked; much less than the day until they are removed
)

// A Refusal is the error for a file or an upload that its sender must change. If the
// file is too large, it wraps bin.ErrLimit.
type Refusal struct{ Fault *fault.Error }

// Error returns the place and the reason.
func (r *Refusal) Error() string {
	if r.Fault.Place == "" {
		return r.Fault.Detail
	}
	return r.Fault.Place + ": " + r.Fault.Detail
}

func (r *Refusal) Unwrap() error { return r.Fault }

// refuseSize refuses files that exceed a limit.
func refuseSize(place, format string, args ...any) error {
	return &Refusal{&fault.Error{Kind: fault.Unsupported, Place: place, Detail: fmt.Sprintf(format, args...), Cause: bin.ErrLimit}}
}

func refuse(kind fault.Kind, place, format string, args ...any) error {
	return &Refusal{fault.New(kind, place, format, args...)}
}

// A Draft is an upload that is being received, to be closed. It is safe for
// concurrent use.
type Draft struct {
	store   *Store
	checked time.Time   // since then copies without a mark were relied on
	isFull  atomic.Bool // an error means that a disk is full

	mu        sync.Mutex
	upload    Upload             // without its id
	hasRecord bool               // there may be a record of the upload
	others    map[string]*Upload // that have files of this one, without their files
}

// Begin begins an upload. Labels are names and values for people and for the rules of
// retention. The uploader is the name of the token.
func (s *Store) Begin(project string, labels map[string]string, uploader string) *Draft {
	d := &Draft{store: s, upload: Upload{Project: project, Labels: maps.Clone(labels), Uploader: uploader}, others: map[string]*Upload{}}
	d.checked = d.now()
	return d
}

// A Sent is a file as its sender describes it.
type Sent struct {
	Name  string
	SHA1  ident.SHA1 // zero: unknown to the sender
	Claim *Claim     // of a file of a kind that is not read; nil: determined from the content
}

// ErrSum is wrapped by the *Refusal of a file that has another SHA-1 than its sender says.
var ErrSum = errors.New("the content has another SHA-1")

// Add receives a file with the name that its sender claims. A *Refusal concerns this
// file only: it is not part of the upload, and the others are. An error of r is
// wrapped.
func (d *Draft) Add(ctx context.Context, name string, r io.Reader) (*Record, error) {
	return d.Receive(ctx, Sent{Name: name}, r)
}

// Receive receives a file like Add. A file with a claim is found by its SHA-1, and by the
// debug id of the claim within its project.
func (d *Draft) Receive(ctx context.Context, sent Sent, r io.Reader) (rec *Record, err error) {
	defer func() {
		d.noteFull(err)
		d.noteRefusal(sent.Name, err)
	}()
	s := d.store
	if err := ident.CheckProject(d.upload.Project); err != nil {
		return nil, refuse(fault.Malformed, "", "%w", err)
	}
	p := &spool{open: s.deps.Spool}
	defer p.Close()
	rec, err = s.pack(p, sent.Name, s.bound("files of "+d.upload.Uploader, bucket.Bound(ctx, r)))
	if err == nil && !sent.SHA1.IsZero() && rec.SHA1 != sent.SHA1 {
		err = refuse(fault.Malformed, claimed(sent.Name), "%w", ErrSum)
	}
	if err == nil && sent.Claim == nil {
		err = s.describe(ctx, rec, sent.Name, p)
	}
	if err != nil {
		return nil, err
	}
	c, isNew, err := s.put(ctx, rec.SHA256, p)
	if err != nil {
		return nil, err
	}
	f := UploadedFile{
		SHA256: rec.SHA256, SHA1: rec.SHA1, FileID: rec.FileID, Copy: c.N, Size: rec.Size,
		IDs: rec.identities(), Name: claimed(sent.Name), Claim: sent.Claim, isFound: !isNew,
	}
	if err := s.writeRecord(ctx, rec); err != nil {
		if bucket.IsFull(err) {
			s.release(ctx, &f)
		}
		return nil, err
	}
	return rec, d.add(f)
}

func (d *Draft) noteFull(err error) {
	if bucket.IsFull(err) {
		d.isFull.Store(true)
	}
}

// claimed returns the stored form of a name.
func claimed(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	for len(name) > maxName {
		_, n := utf8.DecodeRuneInString(name)
		name = name[max(n, len(name)-maxName):] // the end of a path is more informative
		name = strings.ToValidUTF8(name, "")
	}
	return name
}

// add adds a file.
func (d *Draft) add(f UploadedFile) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.upload.Files) == maxFiles {
		return refuse(fault.Unsupported, "upload", "it has more than %d files: send them in several uploads", maxFiles)
	}
	d.upload.Files = append(d.upload.Files, f)
	return nil
}

// pack reads a file into a spool, as a blob, and returns its size and sums.
func (s *Store) pack(p *spool, name string, r io.Reader) (*Record, error) {
	w := s.blobs.NewWriter(p)
	defer w.Close()
	in := &bin.ErrReader{R: r}
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	limit := int64(s.cfg.MaxFile)
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(in, limit+1), *buf)
	switch {
	case in.Err != nil:
		return nil, fmt.Errorf("receive %.200q: %w", name, in.Err)
	case err == nil:
		err = w.Close()
	}
	switch {
	case err != nil:
		return nil, fault.New(fault.Internal, "spool", "%w", err)
	case n > limit:
		return nil, refuseSize(claimed(name), "the file has more than %v, the limit uploads.max_file", s.cfg.MaxFile)
	}
	rec := &Record{Size: n}
	rec.SHA256, rec.SHA1 = w.Sums()
	return rec, nil
}

// describe reads the identifiers of a received file.
func (s *Store) describe(ctx context.Context, rec *Record, name string, p *spool) error {
	r, err := s.blobs.Open(ctx, struct{ bin.Source }{p}) // which does not close the spool: it is stored later
	if err != nil {
		return err
	}
	defer r.Close()
	if err = rec.describe(r); err == nil {
		err = debugfile.CheckWhole(r)
	}
	switch f := fault.Of(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case f.Kind == fault.Malformed, f.Kind == fault.Unsupported:
		return refuse(f.Kind, claimed(name), "%s", strings.TrimPrefix(f.Place+": ", "debug file: ")+f.Detail)
	}
	return err
}

// put stores the bytes of a file in the lowest copy that may be relied on, unless they
// are there.
func (s *Store) put(ctx context.Context, sum ident.SHA256, p *spool) (c Copy, isNew bool, err error) {
	for c = (Copy{sum, 1}); ; c.N++ {
		isDead, err := s.exists(ctx, c.DeadKey())
		if err != nil {
			return c, false, err
		}
		if isDead {
			continue
		}
		isNew, err := s.deps.Bucket.Put(ctx, c.BlobKey(), p.Reader(), bucket.Attrs{Size: p.Size(), IfAbsent: true, Later: true})
		if err != nil || isNew {
			return c, isNew, err
		}
		if isIntact, err := s.isIntact(ctx, c, p.Size()); err != nil || isIntact {
			return c, false, err
		}
	}
}

// isIntact reports whether a copy has its content. A crash of the system may have left
// one that is cut off, if its upload was not accepted. One with the size that a new copy
// would have is intact; others, of earlier encoders, are read.
func (s *Store) isIntact(ctx context.Context, c Copy, size int64) (bool, error) {
	a, err := s.deps.Bucket.Stat(ctx, c.BlobKey())
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return false, nil // it was removed meanwhile
	case err != nil || a.Size == size:
		return err == nil, err
	}
	r, err := s.openCopy(ctx, c)
	if err == nil {
		defer r.Close()
		var rec *Record
		if rec, err = sum(r); err == nil {
			return rec.SHA256 == c.SHA256, nil
		}
	}
	if fault.KindOf(err) == fault.Malformed || fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return false, err
}

// Reuse adds a file that this project has, found by its SHA-1.
func (d *Draft) Reuse(f *Found, name string) error {
	return d.add(UploadedFile{
		SHA256: f.Record.SHA256, SHA1: f.Record.SHA1, FileID: f.Record.FileID, Copy: f.Copy, Size: f.Record.Size,
		IDs: f.Record.identities(), Name: claimed(name), Claim: f.Claim, isFound: true,
	})
}

// renewTime is the age of an upload after which its files that are sent again belong to
// the new upload too: rules of retention count from it.
const renewTime = 24 * time.Hour

// IsCurrent reports whether a file that is sent again need not be part of this upload
// too: the upload that has it is of the last day, and has the labels of this one, if any.
func (d *Draft) IsCurrent(ctx context.Context, f *Found) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.others[f.Upload]
	if u == nil {
		project, name, _ := splitID(f.Upload)
		var err error
		if u, err = d.store.load(ctx, project, name, 0, allFiles); fault.KindOf(err) == fault.NotFound {
			return false, nil // it was deleted meanwhile
		} else if err != nil {
			return false, err
		}
		u.Files = nil
		d.others[f.Upload] = u
	}
	return d.now().Sub(u.Time) < renewTime && (len(d.upload.Labels) == 0 || maps.Equal(d.upload.Labels, u.Labels)), nil
}

// Close ends the draft. Without a Commit the upload does not exist. If a disk is full,
// the bytes that only this draft has stored are removed at once, instead of after a day.
func (d *Draft) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.isFull.Load() || d.hasRecord {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
	defer cancel()
	for i := range d.upload.Files {
		d.store.release(ctx, &d.upload.Files[i])
	}
}
