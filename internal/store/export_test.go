package store

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"symbolon/internal/ident"
)

// SetNow sets the clock.
func (s *Store) SetNow(now func() time.Time) { s.deps.Now = now }

// ParseEntry parses the key of an entry, and returns the key of the result.
func ParseEntry(key string) (string, bool) {
	e, ok := parseEntry(key)
	if !ok || ident.CheckProject(e.project) != nil || len(e.id) < 2 {
		return "", false
	}
	return e.key(), true
}

// ParseUpload parses a record, and returns the record of the result.
func ParseUpload(text []byte) ([]byte, []string, error) {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	var head Upload
	key := ""
	if json.Unmarshal(line, &head) == nil {
		if project, name, ok := splitID(head.ID); ok {
			key = uploadKey(project, name)
		}
	}
	u, err := parseUpload(key, text, 0, allFiles)
	if err != nil {
		return nil, nil, err
	}
	text, entries := u.text()
	return text, entries, nil
}

// Text returns the record of an upload, and its entries.
func (u *Upload) Text() ([]byte, []string) { return u.text() }

// NewName returns the name of an upload of a time in milliseconds.
func NewName(ms int64) string { return newName(ms) }

// RecordKey and UploadKey return the keys of records.
var (
	RecordKey = recordKey
	UploadKey = uploadKey
)

// Look looks for changes of other processes, as Watch does first.
func (s *Store) Look(ctx context.Context) error { return s.look(ctx, true) }
