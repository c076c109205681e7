package store

import (
	"context"
	"encoding/json"
	"time"

	"symbolon/internal/bucket/numbered"
)

// protection is a version of the time until which an upload is kept.
type protection struct {
	Until time.Time `json:"until"`
}

func (s *Store) protections(id string) numbered.Versions {
	return numbered.Versions{Bucket: s.deps.Bucket, Prefix: "keep/" + id}
}

// Protect keeps an upload until a time, whatever its rule says. Another call replaces the
// time, also by an earlier one. A client may still delete the upload.
func (s *Store) Protect(ctx context.Context, id string, until time.Time) error {
	if _, err := s.Upload(ctx, id); err != nil {
		return err
	}
	_, err := s.protections(id).Change(ctx, 0, func([]byte) ([]byte, error) { return encode(protection{until.UTC()}), nil })
	return err
}

// ProtectedUntil returns the time of the last call of Protect, zero without one.
func (s *Store) ProtectedUntil(ctx context.Context, id string) (time.Time, error) {
	v := s.protections(id)
	n, err := v.Newest(ctx, 0)
	if n == 0 || err != nil {
		return time.Time{}, err
	}
	text, _, err := v.Read(ctx, n)
	var p protection
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	return p.Until, err
}
