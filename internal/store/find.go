package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/store/blob"
)

// firstLine is how many bytes of the line of a file in a record are read at first.
const firstLine = 4 << 10

// A Question describes the files to find: those with an identifier of the module, or
// with the SHA-1.
type Question struct {
	Module ident.Module
	SHA1   ident.SHA1
	Kinds  []string // of file, as in package source; none: all
}

// Found is a file of an upload.
type Found struct {
	Record  *Record
	Object  int // in Record.Objects; -1: the file is of a kind that is not read
	Copy    int
	Upload  string // id
	Project string
	Name    string    // as claimed
	Claim   *Claim    // of a file of a kind that is not read
	Time    time.Time // of the upload
}

// Find returns the files of uploads of these projects that match a question, the best
// first: by features, then by age, the newest first. The same bytes in several uploads
// are one file, that of the newest upload.
func (s *Store) Find(ctx context.Context, projects []string, q Question) ([]Found, error) {
	if err := s.away.Load(); err != nil {
		return nil, err
	}
	q.Module = q.Module.Derive()
	best := map[ident.SHA256]*Found{}
	for _, id := range q.ids() {
		if err := s.findID(ctx, id, projects, best); err != nil {
			return nil, err
		}
	}
	if swapped := q.Module.DebugID.Swapped(); len(best) == 0 && swapped != q.Module.DebugID { // of an ELF file in the other order of bytes
		for _, id := range idsOf(ident.Module{DebugID: swapped}) {
			if err := s.findID(ctx, id, projects, best); err != nil {
				return nil, err
			}
		}
	}
	var list []Found
	for _, f := range best {
		if !f.pick(&q) {
			continue
		}
		if !q.SHA1.IsZero() {
			if isThere, err := s.isThere(ctx, Copy{f.Record.SHA256, f.Copy}); err != nil || !isThere {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		list = append(list, *f)
	}
	s.uses.note(list)
	slices.SortFunc(list, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), b.Time.Compare(a.Time), cmp.Compare(a.Upload, b.Upload))
	})
	return list, nil
}

// isThere reports whether an upload may rely on a copy: it has its bytes, and no mark.
func (s *Store) isThere(ctx context.Context, c Copy) (bool, error) {
	isDead, err := s.exists(ctx, c.DeadKey())
	if err != nil || isDead {
		return false, err
	}
	return s.exists(ctx, c.BlobKey())
}

// ids returns the ids that entries of a file may have.
func (q *Question) ids() []string {
	ids := idsOf(q.Module)
	if !q.SHA1.IsZero() {
		ids = append(ids, idOf(q.SHA1))
	}
	return ids
}

// findID adds the files of entries with an id to best, or replaces those of older
// uploads. If a project has a file, the entries after this page are not listed, as there
// may be one for each build of a year.
func (s *Store) findID(ctx context.Context, id string, projects []string, best map[ident.SHA256]*Found) error {
	return s.entries(ctx, id, projects, bucket.MaxPage, func(e entry) (isEnough bool, err error) {
		if old := best[e.SHA256]; old != nil && !nameTime(e.name).After(old.Time) {
			return false, nil
		}
		f, err := s.file(ctx, e)
		if f == nil || err != nil {
			return false, err
		}
		best[e.SHA256] = f
		return true, nil
	})
}

// entries calls do for the entries with an id, project by project and newest first, in
// pages of n. After a page it continues with the next project if do returned isEnough.
func (s *Store) entries(ctx context.Context, id string, projects []string, n int, do func(entry) (isEnough bool, err error)) error {
	all := folderOf(id) + id + "."
	prefix, after := all, ""
	if len(projects) == 1 {
		prefix += projects[0] + "."
	}
	hasEnough := map[string]bool{}
	for {
		page, more, err := s.deps.Bucket.List(ctx, prefix, after, n)
		if err != nil {
			return err
		}
		var last entry
		for _, key := range page {
			e, ok := parseEntry(key)
			if after = key; !ok {
				continue
			}
			if last = e; !slices.Contains(projects, e.project) {
				continue
			}
			isEnough, err := do(e)
			if err != nil {
				return err
			}
			hasEnough[e.project] = hasEnough[e.project] || isEnough
		}
		if !more || len(projects) == 1 && hasEnough[projects[0]] {
			return nil
		}
		if hasEnough[last.project] || !slices.Contains(projects, last.project) {
			after = max(after, all+last.project+".~") // after all its keys
		}
	}
}

// file returns the file of an entry. It is nil if the upload does not exist or is
// deleted, and if the file is damaged, which costs this file only.
func (s *Store) file(ctx context.Context, e entry) (*Found, error) {
	f, err := s.line(ctx, e)
	if f == nil || err != nil {
		return nil, err
	}
	isGone, err := s.exists(ctx, goneKey(e.project, e.name))
	if err != nil || isGone {
		return nil, err
	}
	rec, err := s.record(ctx, e.Copy)
	switch {
	case fault.KindOf(err) == fault.NotFound, err != nil && fault.KindOf(err) == fault.Malformed:
		s.deps.Log.Warn("cannot read a file of an upload", "upload", e.project+"."+e.name, "file", f.Name, "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &Found{
		Record: rec, Object: -1, Copy: e.N, Upload: e.project + "." + e.name, Project: e.project, Name: f.Name, Claim: f.Claim,
		Time: nameTime(e.name),
	}, nil
}

// line reads the line of an entry in the record of its upload, nil if there is none.
func (s *Store) line(ctx context.Context, e entry) (*UploadedFile, error) {
	for n := int64(firstLine); ; n *= 16 {
		text, err := bucket.Read(ctx, s.deps.Bucket, uploadKey(e.project, e.name), e.at, n)
		if fault.KindOf(err) == fault.NotFound {
			return nil, nil // the upload was not accepted, or removed
		}
		if err != nil {
			return nil, err
		}
		line, _, isWhole := bytes.Cut(text, []byte{'\n'})
		if !isWhole && int64(len(text)) == n {
			continue
		}
		f := &UploadedFile{}
		if json.Unmarshal(line, f) != nil || f.Stored() != e.Copy {
			s.deps.Log.Warn("an entry does not match the record of its upload", "entry", e.key())
			return nil, nil
		}
		return f, nil
	}
}

// pick chooses the object that answers a question, and reports whether there is one.
func (f *Found) pick(q *Question) bool {
	if f.Claim != nil {
		return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, f.Claim.Kind)) &&
			(f.Record.SHA1 == q.SHA1 || source.IsSame(ident.Module{DebugID: f.Claim.DebugID}, f.Claim.Kind, q.Module))
	}
	best := object.Features(0)
	for i := range f.Record.Objects {
		o := &f.Record.Objects[i]
		isAsked := f.Record.SHA1 == q.SHA1 || !q.Module.FileID.IsZero() && f.Record.FileID == q.Module.FileID ||
			source.IsSame(o.Module, formatOf(o.Kind), q.Module)
		if isAsked && o.IsOf(q.Kinds) && source.IsNamed(o.Kind, f.Name, q.Module) && (f.Object < 0 || rank(o.Features) > rank(best)) {
			f.Object, best = i, o.Features
		}
	}
	return f.Object >= 0
}

// rank orders features: debug information first, then symbols, unwind information and
// sources.
func rank(f object.Features) (n int) {
	for i, one := range [...]object.Features{object.HasSources, object.HasUnwind, object.HasSymbols, object.HasDebug} {
		if f&one != 0 {
			n |= 1 << i
		}
	}
	return n
}

func (f *Found) rank() int {
	if f.Object < 0 {
		return 0
	}
	return rank(f.Record.Objects[f.Object].Features)
}

// Open opens the bytes of a file, by its SHA-256 and its copy. They can be read until ctx
// ends.
func (s *Store) Open(ctx context.Context, f *Found) (*blob.Reader, error) {
	return s.openCopy(ctx, Copy{f.Record.SHA256, f.Copy})
}
