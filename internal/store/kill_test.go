package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/proctest"
	"symbolon/internal/store"
)

// TestMain is also the process that is killed: it makes one upload of two files after
// the other, and prints the number of each.
func TestMain(m *testing.M) {
	proctest.Main(m, func(folder string, first int) {
		b, err := dir.Open(folder)
		if err != nil {
			panic(err)
		}
		s := open(proctest.Child{}, b)
		for g := first; ; g++ {
			d := s.Begin("a", nil, "")
			for _, text := range generation(g) {
				if _, err := d.Add(context.Background(), "x", strings.NewReader(text)); err != nil {
					panic(err)
				}
			}
			if _, err := d.Commit(context.Background()); err != nil {
				panic(err)
			}
			fmt.Println(g)
		}
	})
}

// generation returns two files: one that every generation has, and one of its own.
func generation(g int) []string {
	return []string{symbols(1, code), symbols(g+1, strings.Repeat(code, g%500))}
}

func TestAcceptedUploadsOutliveAKilledProcess(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b, err := dir.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	done := 0
	for range 15 {
		done = proctest.Kill(t, at, done+1)
	}
	checkUploads(t, b, done)
}

// checkUploads reports accepted uploads that are not found, and bytes that are missing.
func checkUploads(t *testing.T, b bucket.Bucket, done int) {
	t.Helper()
	s := open(t, b)
	for g := 1; g <= done; g++ {
		found := find(t, s, store.Question{Module: module(g + 1)}, "a")
		if len(found) != 1 || content(t, s, &found[0]) != generation(g)[1] {
			t.Fatalf("upload %d of %d: found %d files", g, done, len(found))
		}
	}
	count := 0
	for before := ""; ; {
		list, err := s.List(t.Context(), []string{"a"}, before, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		for _, u := range list {
			before = u.ID
			count++
			for i := range u.Files {
				if _, err := b.Stat(t.Context(), u.Files[i].Stored().BlobKey()); err != nil {
					t.Errorf("the upload %s names missing bytes: %v", u.ID, err)
				}
			}
		}
	}
	if count < done {
		t.Errorf("%d uploads are listed, and %d were accepted", count, done)
	}
}
