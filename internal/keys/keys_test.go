package keys_test

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/keys"
)

// objectStore returns the bucket of an object store, as a node opens it.
func objectStore(t *testing.T) bucket.Bucket {
	server := s3test.Run(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	b, err := s3.New(s3.Config{
		Bucket: s3test.Bucket, Endpoint: server.Endpoint(),
		AccessKey: bin.NewSecret(s3test.AccessKey), SecretKey: bin.NewSecret(s3test.SecretKey),
	}, s3.Deps{Transport: transport, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return &bucket.Exclusive{Bucket: b}
}

func folder(t *testing.T) bucket.Bucket {
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestConcurrentChangesAreAllKept(t *testing.T) {
	for name, open := range map[string]func(*testing.T) bucket.Bucket{
		"memory": func(*testing.T) bucket.Bucket { return mem.New() }, "folder": folder, "object store": objectStore,
	} {
		t.Run(name, func(t *testing.T) { changeConcurrently(t, open(t)) })
	}
}

func changeConcurrently(t *testing.T, b bucket.Bucket) {
	ring := func() *keys.Ring {
		return keys.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
	}
	const nodes, each = 4, 6
	var all sync.WaitGroup
	for n := range nodes {
		all.Go(func() {
			r := ring()
			for i := range each {
				_, _, err := r.Create(t.Context(), fmt.Sprintf("stays %d.%d", n, i), keys.Upload)
				if err != nil {
					t.Error(err)
				}
				_, k, err := r.Create(t.Context(), "goes", keys.Upload)
				if err == nil {
					err = r.Revoke(t.Context(), k.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, err := ring().List(t.Context())
	found := map[string]bool{}
	for _, k := range list {
		found[k.Name] = true
	}
	if err != nil {
		t.Error(err)
	}
	if len(list) != nodes*each {
		t.Errorf("%d keys, want %d", len(list), nodes*each)
	}
	if len(found) != nodes*each {
		t.Errorf("%d names, want %d", len(found), nodes*each)
	}
	if found["goes"] {
		t.Error("a revoked key is listed")
	}
}

func TestKeysOfAReplacedFolderAreRead(t *testing.T) {
	at := t.TempDir()
	folder, err := dir.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	node, other := keys.NewRing(nil, folder, time.Now, slog.New(slog.DiscardHandler)), keys.NewRing(nil, folder, time.Now, slog.New(slog.DiscardHandler))
	for i := range 5 {
		if _, _, err := node.Create(t.Context(), fmt.Sprint("old ", i), keys.Upload); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		if err := folder.Delete(t.Context(), fmt.Sprint("keys/", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := node.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("after the folder was emptied: %v, %v", list, err)
	}
	for i := range 5 {
		if _, _, err := other.Create(t.Context(), fmt.Sprint("newer ", i), keys.Upload); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := node.List(t.Context()); err != nil || len(list) != 5 || list[0].Name != "newer 0" {
		t.Errorf("after other keys were created: %v, %v", list, err)
	}
}

func TestTooManyKeysAreRefused(t *testing.T) {
	r := keys.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	var last error
	made := 0
	for ; last == nil && made < 20; made++ {
		_, _, last = r.Create(t.Context(), strings.Repeat("n", 200_000), keys.Upload)
	}
	list, err := r.List(t.Context())
	if last == nil {
		t.Fatalf("%d keys were created", made)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != made-1 || len(list) == 0 {
		t.Fatalf("%d keys after %d calls, the last of which was refused", len(list), made)
	}
	if err := r.Revoke(t.Context(), list[0].ID); err != nil {
		t.Error(err)
	}
}

// The blobs have the format of releases before this package.
func TestStoredKeysStayValid(t *testing.T) {
	b := mem.New()
	for key, text := range map[string]string{
		"keys/1": `[]`,
		"keys/2": `[{"id":"YQVV6DDMNPTKHKYUJ2CO","name":"ci","right":"upload","created":"2026-11-22T10:00:00Z","hash":"wIsxgob+D744Jucrcmn3KZjS4IymLqTP1CMglf60+cU="}]`,
	} {
		if _, err := b.Put(t.Context(), key, strings.NewReader(text), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	r := keys.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
	req := httptest.NewRequest("POST", "/", nil)
	for secret, want := range map[string]error{"SECRET": nil, "secret": keys.ErrNoKey} {
		req.Header.Set("Authorization", "ApiKey "+base64.StdEncoding.EncodeToString([]byte("YQVV6DDMNPTKHKYUJ2CO:"+secret)))
		if err := r.Check(req, keys.Upload); err != want {
			t.Errorf("Check of the secret %s: %v, want %v", secret, err, want)
		}
	}
	if _, _, err := r.Create(t.Context(), "next", keys.Read); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Stat(t.Context(), "keys/3"); err != nil {
		t.Errorf("the blob of a third change: %v", err)
	}
}
