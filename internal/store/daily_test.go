package store_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

func TestAClientSendsABoundedNumberOfBytesADay(t *testing.T) {
	buckettest.Each(t, func(t *testing.T, b bucket.Bucket) {
		var now atomic.Int64
		now.Store(time.Date(2026, 11, 23, 20, 30, 0, 0, time.UTC).Unix())
		s := openAt(t, b, store.Config{MaxDaily: 100}, func() time.Time { return time.Unix(now.Load(), 0) })
		content := bytes.Repeat([]byte("a"), 60)
		chunk := func(holder string) error {
			content[0]++ // another one each time
			return s.PutChunk(t.Context(), holder, ident.SHA1(sha1.Sum(content)), bytes.NewReader(content))
		}
		file := func(client string) error {
			_, err := s.Begin("tea", nil, client).Add(t.Context(), "kettle.sym", strings.NewReader(symbols(1, "")))
			return err
		}
		for what, send := range map[string]func(string) error{"chunk": chunk, "file": file} {
			if err := send("ci"); err != nil {
				t.Errorf("the first %s: %v", what, err)
			}
			err := send("ci")
			if !errors.As(err, new(*store.QuotaError)) || !strings.Contains(err.Error(), "uploads.max_daily, 100: try again in 3h31m0s, after midnight UTC") {
				t.Errorf("the second %s: %v", what, err)
			}
			if err := send("ann"); err != nil {
				t.Errorf("a %s of another client: %v", what, err)
			}
		}
		now.Add(4 * 60 * 60)
		for what, send := range map[string]func(string) error{"chunk": chunk, "file": file} {
			if err := send("ci"); err != nil {
				t.Errorf("a %s of the next day: %v", what, err)
			}
		}
	})
}
