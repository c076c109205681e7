package symbfile_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

var update = flag.Bool("update", false, "write the golden files")

// odd returns a file with rare features, and an error at its end.
func odd() []byte {
	return fixture.NewSymbfile().Table("a", strings.Repeat("ä", 60)).Message(9, fixture.Proto("\xde\xad")).
		Message(2, fixture.Proto{}.Num(12, 0x10).Num(9, 1).Text(6, "f").Num(14, 3).Fixed(15, 1, 2, 3, 4).Group(20, fixture.Proto{}.Num(1, 1)).Sub(8, fixture.Proto{}.Num(1, 3).Num(2, 4))).
		Message(3, fixture.Proto{}.Signed(1, -3).Num(2, 0).Packed(2, make([]uint64, 120)...).Packed(3, make([]uint64, 121)...).Packed(4, make([]uint64, 121)...)).
		Table().
		Message(2, fixture.Proto{}.Signed(1, 1).Num(9, 7).Num(3, 5)).Bytes()
}

func TestDumpGolden(t *testing.T) {
	for name, tc := range map[string]struct {
		file []byte
		bad  bool
	}{
		"ranges": {unhex(workedRanges), false},
		"pads":   {unhex(workedPads), false},
		"odd":    {odd(), true},
		"cut":    {unhex(workedRanges)[:100], true},
	} {
		var b bytes.Buffer
		if err := symbfile.Dump(&b, bytes.NewReader(tc.file)); (err != nil) != tc.bad {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join("testdata", name+".dump")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: %v\n%s", name, err, b.Bytes())
		}
	}
}

func TestDumpReturnsErrorsOfWriter(t *testing.T) {
	for _, n := range []int{0, 20, 90, 300} {
		if err := symbfile.Dump(&full{left: n}, bytes.NewReader(odd())); !errors.Is(err, errFull) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := symbfile.Dump(io.Discard, strings.NewReader("no")); err == nil {
		t.Error("Dump accepts other files")
	}
}
