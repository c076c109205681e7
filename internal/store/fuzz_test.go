package store_test

import (
	"bytes"
	"path"
	"testing"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/store"
)

// FuzzRecord parses records of uploads, and the keys that they have.
func FuzzRecord(f *testing.F) {
	b := mem.New()
	s := open(f, b)
	u := upload(f, s, "kettle", symbols(1, code), symbols(2, code))
	_, name, _ := bytes.Cut([]byte(u.ID), []byte{'.'})
	text := string(must(readAll(b, path.Join("upload/kettle", string(name[:4]), string(name)))))
	f.Add([]byte(text), u.Entries()[0])
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		if again, ok := store.ParseEntry(key); ok {
			if third, ok := store.ParseEntry(again); !ok || third != again {
				t.Fatalf("the key %q becomes %q, then %q", key, again, third)
			}
		}
		again, entries, err := store.ParseUpload(text)
		if err != nil {
			return
		}
		third, sameEntries, err := store.ParseUpload(again)
		if err != nil || !bytes.Equal(again, third) || len(entries) != len(sameEntries) {
			t.Fatalf("the record %q becomes %q, then %q, %v", text, again, third, err)
		}
	})
}
