package store

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// ParseCopyKey returns the copy whose bytes a key has, or its mark.
func ParseCopyKey(key string) (Copy, bool) { return parseCopy(key[strings.LastIndexByte(key, '/')+1:]) }

// ParseEntryKey returns the id and the time of the upload that a key of a file belongs
// to, and the copy of the file.
func ParseEntryKey(key string) (id string, at time.Time, c Copy, ok bool) {
	e, ok := parseEntry(key)
	if !ok {
		return "", at, c, false
	}
	return e.project + "." + e.name, nameTime(e.name), e.Copy, true
}

// RecordKey returns the key of the Record of the file.
func (c Copy) RecordKey() string { return recordKey(c.SHA256) }

// Key returns the key of the record of the upload.
func (u *Upload) Key() string { return uploadKey(u.Project, u.name()) }

// GoneUploads returns the marks of all deleted uploads by id. One that cannot be read
// has no content.
func (s *Store) GoneUploads(ctx context.Context) (map[string]Gone, error) {
	all := map[string]Gone{}
	for key, err := range s.keys(ctx, "gone/") {
		if err != nil {
			return nil, err
		}
		if id := strings.TrimPrefix(key, "gone/"); isID(id) {
			all[id] = Gone{}
		}
	}
	ids := slices.Collect(maps.Keys(all))
	marks := make([]Gone, len(ids))
	err := bucket.Each(len(ids), func(i int) error {
		text, err := s.read(ctx, "gone/"+ids[i])
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		_ = json.Unmarshal(text, &marks[i])
		return nil
	})
	for i, id := range ids {
		all[id] = marks[i]
	}
	return all, err
}

func isID(id string) bool {
	_, _, ok := splitID(id)
	return ok
}

// EachUpload calls do for the record of each upload that was accepted before, deleted or
// not, project by project and newest first, until do fails. Without a record that cannot
// be read the files that an upload names are not known: then do gets a nil Upload and
// the error.
func (s *Store) EachUpload(ctx context.Context, do func(id string, u *Upload, err error) error) error {
	for after := ""; ; {
		page, more, err := s.deps.Bucket.List(ctx, "upload/", after, bucket.MaxPage)
		if err != nil {
			return err
		}
		list := make([]*Upload, len(page))
		damaged := make([]error, len(page))
		err = bucket.Each(len(page), func(i int) error {
			text, err := s.read(ctx, page[i])
			if fault.KindOf(err) == fault.NotFound {
				return nil // it was removed meanwhile
			}
			if err == nil {
				list[i], damaged[i] = parseUpload(page[i], text, 0, allFiles)
			}
			return err
		})
		for i := 0; err == nil && i < len(page); i++ {
			if list[i] != nil || damaged[i] != nil {
				f := strings.Split(page[i], "/")
				err = do(f[1]+"."+f[len(f)-1], list[i], damaged[i])
			}
		}
		if err != nil || !more {
			return err
		}
		after = page[len(page)-1]
	}
}

// HasRecord reports whether an upload has a record, deleted or not.
func (s *Store) HasRecord(ctx context.Context, id string) (bool, error) {
	project, name, ok := splitID(id)
	if !ok {
		return false, nil
	}
	return s.exists(ctx, uploadKey(project, name))
}

// Erase removes the keys of a deleted upload, last the mark that it is deleted, so that
// after a crash it is still deleted.
func (s *Store) Erase(ctx context.Context, id string) error {
	project, name, ok := splitID(id)
	if !ok {
		return fault.New(fault.NotFound, "upload", "invalid id %.80q", id)
	}
	u, err := s.load(ctx, project, name, 0, allFiles)
	if err != nil && fault.KindOf(err) != fault.NotFound && fault.KindOf(err) != fault.Malformed {
		return err
	}
	var keys []string
	if err == nil {
		keys = u.Entries()
	}
	for key, err := range s.keys(ctx, s.protections(id).Prefix+"/") {
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	err = bucket.Each(len(keys), func(i int) error { return s.deps.Bucket.Delete(ctx, keys[i]) })
	for _, key := range []string{uploadKey(project, name), goneKey(project, name)} {
		if err == nil {
			err = s.deps.Bucket.Delete(ctx, key)
		}
	}
	return err
}

// Verify reads the bytes of a file of an upload, and returns an error unless they match
// its size and checksums and its Record can be read. With repair it writes the Record
// derived from the bytes, if that differs.
func (s *Store) Verify(ctx context.Context, f *UploadedFile, repair bool) (repaired bool, err error) {
	rec, err := s.parse(ctx, f.Stored())
	if err != nil {
		return false, err
	}
	if rec.SHA1 != f.SHA1 || rec.Size != f.Size {
		return false, fault.New(fault.Malformed, "", "the upload claims the SHA-1 %v and %d bytes: must be %v and %d", f.SHA1, f.Size, rec.SHA1, rec.Size)
	}
	key := recordKey(f.SHA256)
	text, err := s.read(ctx, key)
	var now Record
	switch {
	case err != nil && (fault.KindOf(err) != fault.NotFound || !repair):
		return false, err
	case repair && bytes.Equal(text, encode(rec)):
		return false, nil
	case repair:
		err = s.replaceRecord(ctx, rec)
		return err == nil, err
	case json.Unmarshal(text, &now) != nil || now.SHA256 != f.SHA256:
		err = fault.New(fault.Malformed, key, "it is not the record of this file")
	}
	return false, err
}
