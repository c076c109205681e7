package symbfile_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

func TestBeginReturnsOffsetOfMessages(t *testing.T) {
	long := fixture.Proto{}.Text(9, string(make([]byte, 100_000)))
	for name, c := range map[string]struct {
		file []byte
		want int64
	}{
		"an empty header":             {unhex(workedRanges), 10},
		"a header that has something": {append([]byte("symbfile\x85\x80\x00\x81\x00"), append([]byte{0x4a, 3, 1, 2, 3}, unhex(workedRanges)[10:]...)...), 18},
		"a large one":                 {append((&fixture.Symbfile{}).Raw([]byte("symbfile")...).Message(1, long).Bytes(), unhex(workedRanges)[10:]...), 8 + 4 + int64(len(long))},
		"only a header":               {unhex(workedRanges)[:10], 10},
	} {
		r := symbfile.NewReader(bytes.NewReader(c.file))
		if at, err := r.Begin(); at != c.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", name, at, err, c.want)
		}
		got, err := all(r)
		want, _ := read(c.file)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestBeginFailsLikeNext(t *testing.T) {
	for _, file := range []string{"", "symb", "symbfile", "symbfile\x00", "symbfile\x00\x02", "elf", "symbfile\x01\x01\x07"} {
		r := symbfile.NewReader(bytes.NewReader([]byte(file)))
		_, err := r.Begin()
		_, next := r.Next()
		_, alone := symbfile.NewReader(bytes.NewReader([]byte(file))).Next()
		if err == nil || err == io.EOF || err != next || err.Error() != alone.Error() {
			t.Errorf("%q: %v, then %v; alone %v", file, err, next, alone)
		}
	}
}

func TestTruncatedFileIsErrCut(t *testing.T) {
	whole := unhex(workedRanges)
	for n := 11; n < len(whole); n++ {
		_, err := read(whole[:n])
		if err != nil && !errors.Is(err, symbfile.ErrCut) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := read(append([]byte{}, "symbfile\x00\x01\x00\x00"...)); errors.Is(err, symbfile.ErrCut) {
		t.Errorf("an invalid type: %v", err)
	}
}
