package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// An Upload is the record of an accepted upload. It is stored as lines of JSON: the
// Upload, and then each file.
type Upload struct {
	ID       string            `json:"id"` // PROJECT.U
	Project  string            `json:"project"`
	Labels   map[string]string `json:"labels,omitempty"`
	Uploader string            `json:"uploader,omitempty"`
	Time     time.Time         `json:"time"`
	Count    int               `json:"files,omitempty"` // of files
	Bytes    int64             `json:"bytes,omitempty"` // of all files, decoded
	Files    []UploadedFile    `json:"-"`               // as many as requested

	isBare bool // its record was written before records had Count and Bytes
}

// An UploadedFile is a file of an upload.
type UploadedFile struct {
	SHA256 ident.SHA256 `json:"sha256"`
	SHA1   ident.SHA1   `json:"sha1"`
	FileID ident.FileID `json:"file_id,omitzero"`
	Copy   int          `json:"copy"`
	Size   int64        `json:"size"` // of the decoded file
	IDs    []Identity   `json:"ids,omitempty"`
	Name   string       `json:"name"` // as claimed
	Claim  *Claim       `json:"claim,omitempty"`

	isFound bool // in a draft that did not store the copy: the one that did may remove it
}

// An Identity is the identifiers of a binary.
type Identity struct {
	DebugID ident.DebugID `json:"debug_id,omitzero"`
	CodeID  ident.CodeID  `json:"code_id,omitempty"`
}

// A Claim is the kind and the identifier that a client gives to a file of a kind that is
// not read.
type Claim struct {
	Kind    string        `json:"kind"` // "bcsymbolmap", "proguard", …
	DebugID ident.DebugID `json:"debug_id,omitzero"`
}

// Stored returns the copy of the file that the upload relies on.
func (f *UploadedFile) Stored() Copy { return Copy{f.SHA256, f.Copy} }

// modules returns the identifiers that lead to the file.
func (f *UploadedFile) modules() (list []ident.Module) {
	for _, id := range f.IDs {
		list = append(list, ident.Module{DebugID: id.DebugID, CodeID: id.CodeID})
	}
	if f.Claim != nil && !f.Claim.DebugID.IsZero() {
		list = append(list, ident.Module{DebugID: f.Claim.DebugID})
	}
	if !f.FileID.IsZero() {
		list = append(list, ident.Module{FileID: f.FileID})
	}
	return list
}

// modules returns the identifiers of all files.
func (u *Upload) modules() (list []ident.Module) {
	for i := range u.Files {
		list = append(list, u.Files[i].modules()...)
	}
	return list
}

// sum sets Count and Bytes.
func (u *Upload) sum() {
	u.Count, u.Bytes = len(u.Files), 0
	for i := range u.Files {
		u.Bytes += u.Files[i].Size
	}
}

func (u *Upload) name() string { return u.ID[len(u.Project)+1:] }

// Written returns the time of the record. It is that of the upload, or later if files of
// the upload were deleted.
func (u *Upload) Written() time.Time { return nameTime(u.name()) }

// text returns the record, and the keys by which its files are found.
func (u *Upload) text() (text []byte, entries []string) {
	head := *u
	if u.isBare {
		head.Count, head.Bytes = 0, 0
	}
	text = append(encode(head), '\n')
	for i := range u.Files {
		f := &u.Files[i]
		ids := []string{idOf(f.SHA1)}
		for _, m := range f.modules() {
			ids = append(ids, idsOf(m)...)
		}
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			entries = append(entries, entry{id, u.Project, u.name(), f.Stored(), int64(len(text))}.key())
		}
		text = append(append(text, encode(f)...), '\n')
	}
	return text, entries
}

// Entries returns the keys by which the files of the upload are found.
func (u *Upload) Entries() []string {
	_, entries := u.text()
	return entries
}

// allFiles is how many files an upload has at most.
const allFiles = math.MaxInt

// parseUpload parses a record, and at most n of its files from a number on. Of a record
// without Count all files are parsed.
func parseUpload(key string, text []byte, from, n int) (*Upload, error) {
	u := &Upload{}
	number := -1
	for line := range bytes.Lines(text) {
		var err error
		switch {
		case number < 0:
			err = json.Unmarshal(line, u)
			u.isBare = u.Count == 0
		case u.isBare || number >= from && number-from < n:
			u.Files = append(u.Files, UploadedFile{})
			err = json.Unmarshal(line, &u.Files[len(u.Files)-1])
		}
		if err != nil {
			return nil, fault.New(fault.Malformed, key, "%w", err)
		}
		number++
	}
	if u.isBare {
		u.sum()
		from = min(from, u.Count)
		u.Files = u.Files[from:][:min(n, u.Count-from)]
	}
	if project, name, ok := splitID(u.ID); !ok || project != u.Project || uploadKey(project, name) != key {
		return nil, fault.New(fault.Malformed, key, "it is the record of another upload, %.80q", u.ID)
	}
	return u, nil
}

// load reads the record of an upload, which may be deleted, with at most n of its files
// from a number on.
func (s *Store) load(ctx context.Context, project, name string, from, n int) (*Upload, error) {
	key := uploadKey(project, name)
	if n == 0 {
		text, err := bucket.Read(ctx, s.deps.Bucket, key, 0, firstLine)
		if err != nil {
			return nil, err
		}
		line, _, isWhole := bytes.Cut(text, []byte{'\n'})
		if u, err := parseUpload(key, line, 0, 0); isWhole && err == nil && !u.isBare {
			return u, nil
		}
	}
	text, err := s.read(ctx, key)
	if err != nil {
		return nil, err
	}
	return parseUpload(key, text, from, n)
}

// Upload returns an upload that is not deleted.
func (s *Store) Upload(ctx context.Context, id string) (*Upload, error) {
	return s.UploadPart(ctx, id, 0, allFiles)
}

// UploadPart returns an upload that is not deleted with at most n of its files, from a
// number on.
func (s *Store) UploadPart(ctx context.Context, id string, from, n int) (*Upload, error) {
	project, name, ok := splitID(id)
	if !ok {
		return nil, fault.New(fault.NotFound, "upload", "invalid id %.80q", id)
	}
	u, err := s.load(ctx, project, name, from, n)
	if err != nil {
		return nil, err
	}
	isGone, err := s.exists(ctx, goneKey(project, name))
	switch {
	case err != nil:
		return nil, err
	case isGone:
		return nil, fault.New(fault.NotFound, "upload "+id, "it is deleted")
	}
	return u, nil
}

// Record returns the description of a file of an upload.
func (s *Store) Record(ctx context.Context, f UploadedFile) (*Record, error) {
	return s.record(ctx, f.Stored())
}

// List returns uploads of these projects that are not deleted, newest first: at most
// n, and those older than the upload before unless that is empty.
func (s *Store) List(ctx context.Context, projects []string, before string, n int) ([]*Upload, error) {
	return s.list(ctx, projects, before, n, allFiles)
}

// Heads returns the uploads that List returns, without their Files.
func (s *Store) Heads(ctx context.Context, projects []string, before string, n int) ([]*Upload, error) {
	return s.list(ctx, projects, before, n, 0)
}

func (s *Store) list(ctx context.Context, projects []string, before string, n, files int) (list []*Upload, err error) {
	_, last, ok := splitID(before)
	if before != "" && !ok {
		return nil, fault.New(fault.NotFound, "upload", "invalid id %.80q", before)
	}
	for len(list) < n {
		ids, err := s.ids(ctx, projects, last, n)
		if err != nil || len(ids) == 0 {
			return list, err
		}
		uploads := make([]*Upload, len(ids))
		err = bucket.Each(len(ids), func(i int) (err error) {
			if uploads[i], err = s.UploadPart(ctx, ids[i], 0, files); fault.KindOf(err) == fault.NotFound {
				err = nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		uploads = slices.DeleteFunc(uploads, func(u *Upload) bool { return u == nil })
		list = append(list, uploads[:min(len(uploads), n-len(list))]...)
		_, last, _ = splitID(ids[len(ids)-1])
	}
	return list, nil
}

// ids returns the ids of n uploads of projects, deleted or not, that are older than the
// one with the name last, newest first.
func (s *Store) ids(ctx context.Context, projects []string, last string, n int) (ids []string, err error) {
	for _, p := range projects {
		after := ""
		if last != "" {
			after = uploadKey(p, last)
		}
		end := len(ids) + n
		for key, err := range bucket.Keys(ctx, s.deps.Bucket, "upload/"+p+"/", after) {
			if err != nil {
				return nil, err
			}
			if name := key[strings.LastIndexByte(key, '/')+1:]; isName(name) {
				ids = append(ids, p+"."+name)
			}
			if len(ids) == end {
				break
			}
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		_, x, _ := strings.Cut(a, ".")
		_, y, _ := strings.Cut(b, ".")
		return cmp.Compare(x, y)
	})
	return ids[:min(n, len(ids))], nil
}

// Gone is the mark of a deleted upload.
type Gone struct {
	By   string    `json:"by"`
	Why  string    `json:"why"`
	Time time.Time `json:"time"`
}

// Delete deletes an upload: no reader finds its files from then on.
func (s *Store) Delete(ctx context.Context, id, by, why string) error {
	u, err := s.Upload(ctx, id)
	if err != nil {
		return err
	}
	key, mark := goneKey(u.Project, u.name()), encode(Gone{by, why, s.deps.Now().UTC()})
	isNew, err := s.create(ctx, key, mark, false)
	if err == nil && !isNew { // another call was faster, or the answer of an earlier try was lost
		var first []byte
		if first, err = s.read(ctx, key); err == nil && !bytes.Equal(first, mark) {
			err = fault.New(fault.NotFound, "upload "+id, "it is deleted")
		}
	}
	if err != nil {
		return err
	}
	s.announce(ctx, change{Upload: id, Gone: true}, u.modules())
	if size, err := s.sizeWithout(ctx, u.Project, u.Files); err == nil { // else the next collection counts
		s.count(u.Project, -size)
	}
	return nil
}
