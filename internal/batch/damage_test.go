package batch_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/batch"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
)

// A unit whose counts are not those of its part is redone once, also if no names are
// gained.
func TestAUnitWithUnknownCountsIsRedoneOnce(t *testing.T) {
	in, out := folder(t, map[string]string{"a.json": text(0, 2)}), t.TempDir()
	n := &failing{Names: names}
	o := options(out, in)
	o.NewRun = func() *filter.Run { return &filter.Run{Names: n} }
	do(t, o)
	for _, name := range []string{"part/000000-000000.json", "done.json"} {
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	n.why = fault.New(fault.NotFound, "", "gone")
	if err := do(t, o).Verdict(0); err == nil || batch.Code(err) != 75 || !strings.Contains(err.Error(), "stored 1 unit and was killed") {
		t.Errorf("after a part with other symbols the verdict is %v", err)
	}
	if err := do(t, o).Verdict(0); err != nil {
		t.Errorf("after the unit was redone the verdict is %v", err)
	}
	want := files(t, out)
	do(t, o)
	same(t, files(t, out), want)
}

func TestCutCountsAreRefused(t *testing.T) {
	in, out := folder(t, map[string]string{"a.json": text(0, 2)}), t.TempDir()
	do(t, options(out, in))
	if err := os.WriteFile(filepath.Join(out, "part/000000-000000.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(out, in)
	if _, err := batch.Run(t.Context(), &o); err == nil || batch.Code(err) != 2 || !strings.Contains(err.Error(), "invalid counts") {
		t.Errorf("counts without a part: got %v", err)
	}
}

// Lines that are not rows are copied, and counted.
func TestDamagedRowsHaveNoAnswer(t *testing.T) {
	row := strings.TrimSpace(text(0, 1))
	in := strings.Join([]string{row[:len(row)-1], row + " trailing", row + row, "[" + row + "]", "123", "null", "#0 0x1  (/x/y+0x10)"}, "\n") + "\n"
	o := options("", folder(t, map[string]string{"a.json": in}))
	o.Out = t.TempDir()
	o.Rows.Text = func(context.Context, *filter.Run, *bufio.Reader, *bufio.Writer) error {
		return errors.New("a line that is not a row is taken for text")
	}
	if r := do(t, o); r.Failed != 7 || r.Rows != 7 {
		t.Errorf("%d of %d rows have no answer, want all 7", r.Failed, r.Rows)
	}
	if got := output(t, files(t, o.Out)); got != in {
		t.Errorf("the rows are\n%s, want\n%s", got, in)
	}
}

func TestAByteOrderMarkIsSkipped(t *testing.T) {
	out := t.TempDir()
	r := do(t, options(out, folder(t, map[string]string{"a.json": "\ufeff" + text(0, 2), "b.json": "\ufeff", "c.json": "", "d.json.gz": gzipped("\ufeff" + text(2, 1))})))
	if got, want := output(t, files(t, out)), strings.TrimSpace(answers(t, 0, 3)); strings.TrimSpace(got) != want || r.Failed != 0 || r.Rows != 3 {
		t.Errorf("%d of %d rows have no answer: %s, want %s", r.Failed, r.Rows, got, want)
	}
}

func TestErrorsHaveThePlaceOfTheFile(t *testing.T) {
	in := folder(t, map[string]string{"a.json": text(0, 2), "none/x": ""})
	for input, want := range map[string]string{
		in + "/b.json": in + "/b.json: not found: ", in + "/none": in + "/none/: not found: no files of rows",
	} {
		o := options(t.TempDir(), input)
		if _, err := batch.Run(t.Context(), &o); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "statat") || batch.Code(err) != 2 {
			t.Errorf("%s: got %v, want a permanent failure %q", input, err, want)
		}
	}
}

// full is a folder on a full disk.
type full struct{ bucket.Bucket }

func (full) Put(_ context.Context, key string, _ io.Reader, _ bucket.Attrs) (bool, error) {
	return false, fault.New(fault.Internal, key, "%w", &fs.PathError{Op: "write", Path: "/tmp", Err: syscall.ENOSPC})
}

func TestAFullDiskIsTemporary(t *testing.T) {
	o := options(t.TempDir(), folder(t, map[string]string{"a.json": text(0, 2)}))
	out := o.Out
	o.Open = func(place string, isOutput bool) (bucket.Bucket, error) {
		b, err := openFolder(place, isOutput)
		if isOutput {
			b = full{b}
		}
		return b, err
	}
	_, err := batch.Run(t.Context(), &o)
	if err == nil || !strings.HasPrefix(err.Error(), out+"/") || !strings.HasSuffix(err.Error(), ": "+syscall.ENOSPC.Error()) || batch.Code(err) != 75 {
		t.Errorf("got %v, want a temporary failure with the place of the file", err)
	}
}

func TestAnOutputInsideOfAnInputIsRefusedBehindLinks(t *testing.T) {
	in := folder(t, map[string]string{"a.json": text(0, 2), "sub/b.json": text(2, 1)})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(in, link); err != nil {
		t.Skip(err)
	}
	for _, c := range [][2]string{{in, link + "/x/y"}, {link, in + "/x"}, {link, link + "/x"}, {in, link}, {in + "/sub", link + "/sub/x"}} {
		o := options(c[1], c[0])
		if _, err := batch.Run(t.Context(), &o); err == nil || !strings.Contains(err.Error(), "inside of the input") {
			t.Errorf("from %s to %s: got %v", c[0], c[1], err)
		}
	}
	do(t, options(link+"/x", in+"/sub"))
}

// TestHostileRowsDoNotHarmOthers has rows between others, in units of three.
func TestHostileRowsDoNotHarmOthers(t *testing.T) {
	const deep = 100_000
	hostile := []string{
		strings.Repeat(`{"payload":`, deep) + "1" + strings.Repeat("}", deep), strings.Repeat("[", deep), `{"frames":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}",
		"\x00\xff\xfe", `{"frames":[{"debug_file":"` + "\xff\xc3" + `","debug_id":"\u0000","offset":"0x1"}]}`,
		`{"frames":[{"debug_file":"a.pdb","debug_id":"` + kettle + `","offset":1e999}]}`, `{"frames":[{"debug_id":"` + kettle + `","offset":` + strings.Repeat("9", deep) + "}]}",
		"{" + strings.Repeat(`"frames":[],`, deep) + `"frames":[]}`, `{"crash_address":-1,"modules":[{"base_address":1e99}],"threads":[{"frames":[{"ip":[],"module_index":1e99}]}],"crash_thread":9e18}`,
	}
	var in strings.Builder
	for i, row := range hostile {
		in.WriteString(text(i, 1) + row + "\n")
	}
	out := t.TempDir()
	r := do(t, options(out, folder(t, map[string]string{"a.json": in.String()})))
	got := strings.SplitAfter(output(t, files(t, out)), "\n")
	if r.Rows != 2*len(hostile) || len(got) != 2*len(hostile)+1 {
		t.Fatalf("%d rows, and %d lines are in the output; want %d", r.Rows, len(got)-1, 2*len(hostile))
	}
	for i, row := range hostile {
		if want := answers(t, i, 1); got[2*i] != want {
			t.Errorf("row %d: got %q, want %q", i, got[2*i], want)
		}
		if head := strings.TrimSuffix(row, "}"); !strings.HasPrefix(got[2*i+1], head[:min(len(head), 500)]) {
			t.Errorf("hostile row %d: got %.100q, want it to begin with %.100q", i, got[2*i+1], row)
		}
	}
}
