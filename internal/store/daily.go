package store

import (
	"fmt"
	"io"
	"sync"
	"time"

	"symbolon/internal/bin"
)

// A QuotaError is the error for a client that would send too much in a day.
type QuotaError struct {
	Limit bin.Size
	Wait  time.Duration // until the next day
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("the uploads of a day would exceed uploads.max_daily, %v: try again in %v, after midnight UTC, or ask the operator for a higher limit",
		e.Limit, e.Wait.Truncate(time.Minute)+time.Minute)
}

// daily counts the bytes that clients have sent today.
type daily struct {
	mu   sync.Mutex
	day  time.Time
	sent map[string]int64
}

// bound returns a reader that counts the bytes that a client sends, and fails with a
// *QuotaError once those of the day exceed the limit.
func (s *Store) bound(client string, r io.Reader) io.Reader {
	if s.cfg.MaxDaily == 0 {
		return r
	}
	return &dailyReader{s, client, r}
}

type dailyReader struct {
	store  *Store
	client string
	r      io.Reader
}

// Read reads and counts.
func (d *dailyReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if refused := d.store.charge(d.client, int64(n)); refused != nil {
		return 0, refused
	}
	return n, err
}

// charge counts bytes of a client, unless they would exceed the limit.
func (s *Store) charge(client string, n int64) error {
	now := s.deps.Now().UTC()
	d := &s.daily
	d.mu.Lock()
	defer d.mu.Unlock()
	today := now.Truncate(day)
	if !d.day.Equal(today) {
		d.day, d.sent = today, map[string]int64{}
	}
	if d.sent[client]+n > int64(s.cfg.MaxDaily) {
		return &QuotaError{s.cfg.MaxDaily, today.Add(day).Sub(now)}
	}
	d.sent[client] += n
	return nil
}
