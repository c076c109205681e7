package store_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symbolon/internal/bucket/dir"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/store"
)

const (
	largeUploads = 100
	largeFiles   = 10_000 // of each upload
)

// generate makes a store of 1,000,000 files in a folder, without their bytes. It writes
// files directly, as nothing reads them yet.
func generate(b *testing.B, at string) {
	write := func(key string, text []byte) {
		name := filepath.Join(at, filepath.FromSlash(key))
		err := os.WriteFile(name, text, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
				err = os.WriteFile(name, text, 0o600)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for i := range largeUploads {
		name := store.NewName(time.Now().UnixMilli() - int64(i)*3_600_000)
		u := &store.Upload{ID: "default." + name, Project: "default", Time: time.Now()}
		for j := range largeFiles {
			m := largeModule(i*largeFiles + j)
			rec := store.Record{
				Size: 20_000, SHA256: sha256.Sum256([]byte(m.DebugFile)), SHA1: sha1.Sum([]byte(m.DebugFile)),
				Objects: []store.Object{{Module: m, Kind: source.Breakpad, Type: "dbg", Features: object.HasDebug}},
			}
			u.Files = append(u.Files, store.UploadedFile{
				SHA256: rec.SHA256, SHA1: rec.SHA1, Copy: 1, Size: rec.Size, IDs: []store.Identity{{DebugID: m.DebugID}}, Name: fmt.Sprintf("kettle%d.sym", j),
			})
			write(store.RecordKey(rec.SHA256), must(json.Marshal(rec)))
		}
		text, entries := u.Text()
		for _, key := range entries {
			write(key, nil)
		}
		write(store.UploadKey("default", name), text)
	}
}

// largeModule returns the nth module of a large store.
func largeModule(n int) ident.Module {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return ident.Module{DebugFile: fmt.Sprintf("kettle%d.so", n), DebugID: ident.NewDebugID([16]byte(sum[:16]), 0)}
}

// BenchmarkLarge opens a store of 1,000,000 files and asks it questions. SYMBOLON_LARGE_STORE
// names its folder, in which the first run generates it.
func BenchmarkLarge(b *testing.B) {
	at := os.Getenv("SYMBOLON_LARGE_STORE")
	if at == "" {
		b.Skip("SYMBOLON_LARGE_STORE is not set")
	}
	if _, err := os.Stat(filepath.Join(at, "id")); err != nil {
		generate(b, at)
	}
	heap := peak()
	began := time.Now()
	folder, err := dir.Open(at)
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	s := open(b, folder)
	if _, err := s.Projects(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := s.Look(b.Context()); err != nil {
		b.Fatal(err)
	}
	opened := time.Since(began)
	for b.Loop() {
		n := rand.IntN(largeUploads * largeFiles)
		if found := find(b, s, store.Question{Module: largeModule(n)}, "default"); len(found) != 1 {
			b.Fatalf("found %d files", len(found))
		}
	}
	b.ReportMetric(float64(opened.Microseconds())/1000, "ms-open")
	b.ReportMetric(float64(heap())/(1<<20), "MiB-heap")
	began = time.Now()
	if list, err := s.List(b.Context(), []string{"default"}, "", 10); err != nil || len(list) != 10 {
		b.Fatal(len(list), err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-list10")
}
