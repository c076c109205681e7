package store_test

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
)

// TestUploadsAreReadInParts reads parts of an upload with a record of today, and with
// one of before records had the count and the size of the files.
func TestUploadsAreReadInParts(t *testing.T) {
	const size = 3 * len("MODULE Linux x86_64 000000011111222233334444555566660 kettle.so\n"+code)
	b := mem.New()
	s := open(t, b)
	u := upload(t, s, "a", symbols(1, code), symbols(2, code), symbols(3, code))
	for _, version := range []string{"today's", "older"} {
		if version == "older" {
			text, _ := u.Text()
			text = regexp.MustCompile(`,"files":3,"bytes":\d+`).ReplaceAll(text, nil)
			if _, err := b.Put(t.Context(), u.Key(), bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))}); err != nil {
				t.Fatal(err)
			}
		}
		heads, err := s.Heads(t.Context(), []string{"a"}, "", 10)
		if err != nil || len(heads) != 1 || len(heads[0].Files) != 0 || heads[0].Count != 3 || heads[0].Bytes != int64(size) {
			t.Errorf("%s record: heads %+v, %v, want 3 files of %d bytes that are not read", version, heads, err, size)
		}
		for _, c := range []struct {
			from, n int
			want    string
		}{{0, 2, "[file0.sym file1.sym]"}, {1, 1, "[file1.sym]"}, {2, 9, "[file2.sym]"}, {3, 1, "[]"}, {9, 1, "[]"}} {
			part, err := s.UploadPart(t.Context(), u.ID, c.from, c.n)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{}
			for _, f := range part.Files {
				names = append(names, f.Name)
			}
			if fmt.Sprint(names) != c.want {
				t.Errorf("%s record: %d files from %d on: %v, want %s", version, c.n, c.from, names, c.want)
			}
		}
		whole, err := s.Upload(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := whole.Text()
		if stored, err := readAll(b, u.Key()); err != nil || !bytes.Equal(text, stored) {
			t.Errorf("%s record: its files would be found in %q, but it is %q (%v)", version, text, stored, err)
		}
	}
}
