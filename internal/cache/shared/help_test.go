package shared_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/cache/shared"
	"symbolon/internal/waittest"
)

var (
	keyA = cache.KeyOf("a")
	keyB = cache.KeyOf("b")
)

var quiet = slog.New(slog.DiscardHandler)

// node is a store with the disk that its spools are on.
type node struct {
	*shared.Store
	disk *disk.Store
	log  *waittest.Log
}

// patient is a configuration for machines that are busy with other tests.
func patient() shared.Config {
	return shared.Config{Timeout: 5 * time.Second, Negatives: 2 * time.Hour}
}

func open(t testing.TB, cfg shared.Config, b bucket.Bucket) *node {
	t.Helper()
	n := &node{log: &waittest.Log{}}
	log := slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if n.disk, err = disk.Open(disk.Config{}, t.TempDir(), time.Now, log); err != nil {
		t.Fatal(err)
	}
	n.Store = shared.New(cfg, shared.Deps{
		Bucket: b, Spool: func() (cache.Spool, error) { return n.disk.Temp() }, Now: time.Now, Log: log,
	})
	t.Cleanup(func() {
		n.Store.Close()
		waittest.Until(t, "no bytes of spools are left", func() bool { return n.disk.Stat().Held == 0 })
		if err := n.disk.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// far is a folder in the bucket of an object store.
func far(t testing.TB, endpoint, prefix string) bucket.Bucket {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	b, err := s3.New(s3.Config{
		Bucket: s3test.Bucket, Prefix: prefix, Endpoint: endpoint,
		AccessKey: bin.NewSecret(s3test.AccessKey), SecretKey: bin.NewSecret(s3test.SecretKey),
	}, s3.Deps{Transport: transport, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// place is the key in the bucket.
func place(kind cache.Kind, key cache.Key) string {
	return "v1/" + string(kind) + "/" + key.String()[:2] + "/" + key.String()
}

// object is what a bucket has, or nil.
func object(t testing.TB, b bucket.Bucket, kind cache.Kind, key cache.Key) []byte {
	t.Helper()
	r, _, err := b.Get(context.Background(), place(kind, key), 0, -1)
	if err != nil {
		return nil
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// plant puts an object into a bucket by hand.
func plant(t testing.TB, b bucket.Bucket, kind cache.Kind, key cache.Key, text []byte) {
	t.Helper()
	if _, err := b.Put(context.Background(), place(kind, key), bytes.NewReader(text), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
}

// noise cannot be packed.
func noise(n int, seed byte) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}
