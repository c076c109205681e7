package batch_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/batch"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/rows"
)

const kettle = "6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"

// names have one address of kettle.pdb.
var names = filtertest.Names{kettle: {0x10: {{Function: []byte("boil"), Entry: 0x10}}}}

// text returns rows, the first with a number.
func text(from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, `{"n":%d,"frames":[{"debug_file":"kettle.pdb","debug_id":"%s","offset":"0x10"}]}`+"\n", i, kettle)
	}
	return b.String()
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	w.Close()
	return b.String()
}

func zstded(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

// folder returns a folder with files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	at := t.TempDir()
	for name, text := range files {
		name = filepath.Join(at, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// files returns the contents of the files in a folder, without unfinished ones.
func files(t testing.TB, at string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := fs.WalkDir(os.DirFS(at), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && name == ".tmp":
			return fs.SkipDir
		case err == nil && !d.IsDir():
			var text []byte
			text, err = os.ReadFile(filepath.Join(at, name))
			list[name] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// output returns the rows of all parts, in the order of their names.
func output(t testing.TB, list map[string]string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if strings.HasSuffix(name, ".zst") {
			d, err := zstd.NewReader(strings.NewReader(list[name]))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.WriteTo(&all); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			d.Close()
		}
	}
	return all.String()
}

func openFolder(place string, isOutput bool) (bucket.Bucket, error) {
	if isOutput {
		if err := os.MkdirAll(place, 0o700); err != nil {
			return nil, err
		}
	}
	return dir.Open(place)
}

// options are those of a job over folders with units of three rows.
func options(out string, inputs ...string) batch.Options {
	return batch.Options{
		Inputs: inputs, Out: out, Unit: 3, Open: openFolder,
		NewRun: func() *filter.Run { return &filter.Run{Names: names} },
	}
}

// do runs a job.
func do(t testing.TB, o batch.Options) *batch.Result {
	t.Helper()
	r, err := batch.Run(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inputs has rows in three files.
func inputs(t testing.TB) string {
	return folder(t, map[string]string{
		"1.ndjson": text(0, 7), "2.json.gz": gzipped(text(7, 3)), "3/4.jsonl.zst": zstded(strings.TrimSpace(text(10, 4))), "5.ndjson": "", "README": "no rows",
	})
}

// answers returns the rows of inputs with their answers.
func answers(t testing.TB, from, n int) string {
	t.Helper()
	var b bytes.Buffer
	run := filter.Run{Names: names}
	if _, err := new(rows.Options).Filter(t.Context(), &run, bufio.NewReader(strings.NewReader(text(from, n))), bufio.NewWriter(&b)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// reference returns the files of an undisturbed job over inputs.
func reference(t testing.TB, in string) map[string]string {
	t.Helper()
	out := t.TempDir()
	do(t, options(out, in))
	return files(t, out)
}

// same fails the test unless two jobs have the same files.
func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the files are %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func TestRowsAreInTheirOrder(t *testing.T) {
	out := t.TempDir()
	r := do(t, options(out, inputs(t)))
	got := files(t, out)
	if text, want := output(t, got), strings.TrimSpace(answers(t, 0, 14)); text != want {
		t.Errorf("the rows are %s, want %s", text, want)
	}
	if r.Rows != 14 || r.Failed != 0 || r.Units != 7 || !r.IsComplete {
		t.Errorf("the counts are %+v", r.Counts)
	}
	if got["part/000000-000002.json"] == "" || got["part/000003-000000.ndjson.zst"] == "" || got["done.json"] == "" {
		t.Errorf("the files are %q", slices.Sorted(maps.Keys(got)))
	}
}

func TestPartsTogetherAreTheWhole(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	want := reference(t, in)
	for n := 1; n < 12; n++ {
		out := t.TempDir()
		sum, complete := 0, 0
		for i := range n {
			o := options(out, in)
			o.Part = batch.Part{Index: i, Count: n}
			r := do(t, o)
			sum += r.Units
			if r.IsComplete {
				complete++
			}
		}
		if sum != 7 || complete == 0 {
			t.Errorf("%d parts have %d units, and %d of them see all", n, sum, complete)
		}
		same(t, files(t, out), want)
	}
}

func TestAChangedJobIsRefused(t *testing.T) {
	in, out := inputs(t), t.TempDir()
	do(t, options(out, in))
	check := func(name, want string, o batch.Options) {
		t.Helper()
		_, err := batch.Run(t.Context(), &o)
		if err == nil || !strings.Contains(err.Error(), want) || batch.Code(err) != 2 {
			t.Errorf("%s: got %v, want a permanent failure with %q", name, err, want)
		}
	}
	o := options(out, in)
	o.Unit = 4
	check("other units", "other options", o)
	check("fewer inputs", "other inputs", options(out, in+"/1.ndjson"))
	if err := os.WriteFile(in+"/1.ndjson", []byte(text(1, 7)), 0o600); err != nil {
		t.Fatal(err)
	}
	check("another content", "1.ndjson has changed", options(out, in))
}

func TestBadInputIsRefused(t *testing.T) {
	cut := gzipped(text(0, 100))
	in := folder(t, map[string]string{"cut.json.gz": cut[:len(cut)/2], "empty/x": ""})
	for input, want := range map[string]string{
		in + "/cut.json.gz": "unexpected EOF", in + "/none": "not found", in + "/empty": "no files of rows", in + "/": "inside of the input",
	} {
		o := options(filepath.Join(t.TempDir(), "out"), input)
		if strings.HasSuffix(input, "/") {
			o.Out = in + "/out"
		}
		_, err := batch.Run(t.Context(), &o)
		if err == nil || !strings.Contains(err.Error(), want) || batch.Code(err) != 2 {
			t.Errorf("%s: got %v, want a permanent failure with %q", input, err, want)
		}
	}
}

func TestAReadOnlyOutputIsNotTriedAgain(t *testing.T) {
	err := fault.New(fault.Internal, "out/part", "%w", &fs.PathError{Op: "mkdir", Path: "out", Err: syscall.EROFS})
	if code := batch.Code(err); code != 2 {
		t.Errorf("the code is %d, want 2", code)
	}
}

func TestAnOutputThatCannotBeWrittenIsRefused(t *testing.T) {
	in := inputs(t)
	o := options(in+"/README/out", in+"/1.ndjson")
	if _, err := batch.Run(t.Context(), &o); err == nil || batch.Code(err) != 2 {
		t.Errorf("got %v, want a permanent failure", err)
	}
}

func TestRunsAtOneTimeMakeOneOutput(t *testing.T) {
	in := inputs(t)
	want := reference(t, in)
	out := t.TempDir()
	err := bucket.Each(4, func(int) error {
		o := options(out, in)
		_, err := batch.Run(t.Context(), &o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, files(t, out), want)
}

// failing are names of which a file is missing while the reason is set.
type failing struct {
	filter.Names
	why error
}

func (f *failing) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	a, err := f.Names.Look(ctx, q)
	return &failed{a, f.why}, err
}

type failed struct {
	filter.Answer
	why error
}

func (f *failed) Missing(m int32) error { return cmp.Or(f.why, f.Answer.Missing(m)) }

func (f *failed) Frames(i int) []filter.Frame {
	if f.why != nil {
		return nil
	}
	return f.Answer.Frames(i)
}

func TestUnitsWithMissingModulesAreRedone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why    error
		retry  bool
		redone bool
	}{
		{fault.New(fault.NotFound, "", "gone"), false, false},
		{fault.New(fault.NotFound, "", "gone"), true, true},
		{fault.New(fault.Timeout, "", "late"), false, true},
	} {
		in, out := inputs(t), t.TempDir()
		n := &failing{names, c.why}
		o := options(out, in)
		o.NewRun = func() *filter.Run { return &filter.Run{Names: n} }
		r := do(t, o)
		verdict := r.Verdict(0)
		if isTemporary := verdict != nil && batch.Code(verdict) == 75; isTemporary != (fault.KindOf(c.why) == fault.Timeout) {
			t.Errorf("%v: the verdict is %v", c.why, verdict)
		}
		first := files(t, out)
		o.Retry = c.retry
		do(t, o)
		same(t, files(t, out), first) // no names were gained
		n.why = nil
		r = do(t, o)
		got := files(t, out)
		if !c.redone {
			same(t, got, first)
			continue
		}
		if text, want := output(t, got), strings.TrimSpace(answers(t, 0, 14)); text != want {
			t.Errorf("%v: the rows are %s, want %s", c.why, text, want)
		}
		if got["done.json"] != first["done.json"] || got["done.2.json"] == "" || got["part/000000-000001.2.json"] == "" || r.Verdict(0) != nil {
			t.Errorf("%v: the files are %q, the verdict is %v", c.why, slices.Sorted(maps.Keys(got)), r.Verdict(0))
		}
		do(t, o)
		same(t, files(t, out), got)
	}
}

func TestALostSidecarIsMadeAgain(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	want := reference(t, in)
	for _, why := range []error{nil, fault.New(fault.NotFound, "", "gone")} {
		out := t.TempDir()
		n := &failing{names, why}
		o := options(out, in)
		o.NewRun = func() *filter.Run { return &filter.Run{Names: n} }
		do(t, o)
		for _, name := range []string{"part/000000-000001.json", "done.json"} {
			if err := os.Remove(filepath.Join(out, name)); err != nil {
				t.Fatal(err)
			}
		}
		n.why = nil
		first := do(t, o)
		if why == nil {
			same(t, files(t, out), want)
			continue
		}
		if code := batch.Code(first.Verdict(0)); code != 75 {
			t.Errorf("after a part with other symbols the code is %d, want 75", code)
		}
		do(t, o)
		if got := files(t, out); got["part/000000-000001.2.ndjson.zst"] != want["part/000000-000001.ndjson.zst"] {
			t.Errorf("the part with other symbols was not redone: %q", slices.Sorted(maps.Keys(got)))
		}
	}
}

func TestManyFailedRowsAreAFailure(t *testing.T) {
	in := folder(t, map[string]string{"a.json": text(0, 9) + "{}\n"})
	r := do(t, options(t.TempDir(), in))
	if err := r.Verdict(10); err != nil {
		t.Errorf("one of ten rows: %v", err)
	}
	if err := r.Verdict(9.9); err == nil || batch.Code(err) != 1 {
		t.Errorf("more rows than allowed: %v", err)
	}
}

func TestALongRowIsCopied(t *testing.T) {
	t.Parallel()
	long := `{"x":"` + strings.Repeat("x", 33<<20) + "\"}"
	for name, in := range map[string]string{
		"between others": text(0, 2) + long + "\n" + text(2, 3), "at the beginning": long + "\n" + text(0, 1), "at the end": text(0, 1) + long,
	} {
		out := t.TempDir()
		r := do(t, options(out, folder(t, map[string]string{"a.json": in})))
		if r.Failed != 1 || r.Rows != strings.Count(in, "\n")+1-strings.Count(in[len(in)-1:], "\n") {
			t.Errorf("%s: %d of %d rows failed", name, r.Failed, r.Rows)
		}
		if got := output(t, files(t, out)); !strings.Contains(got, long) || strings.Count(got, "boil") != strings.Count(in, kettle) {
			t.Errorf("%s: the output has %d bytes", name, len(got))
		}
	}
}

func TestAnEndedRunGoesOn(t *testing.T) {
	in := inputs(t)
	want := reference(t, in)
	out := t.TempDir()
	var looks atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	o := options(out, in)
	o.NewRun = func() *filter.Run {
		if looks.Add(1) == 3 {
			cancel()
		}
		return &filter.Run{Names: names}
	}
	if _, err := batch.Run(ctx, &o); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was interrupted ends with %v", err)
	}
	do(t, options(out, in))
	same(t, files(t, out), want)
}

func TestBatchOnAnObjectStore(t *testing.T) {
	t.Parallel()
	store := s3test.Run(t)
	local := inputs(t)
	in := store.Open(t, "")
	for name, text := range files(t, local) {
		if _, err := in.Put(t.Context(), "in/"+name, strings.NewReader(text), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	o := options("s3://symbols/out", "s3://symbols/in/")
	o.Open = func(place string, _ bool) (bucket.Bucket, error) {
		return store.Open(t, strings.TrimPrefix(strings.TrimPrefix(place, "s3://symbols"), "/")), nil
	}
	ahead := bucket.Each(2, func(int) error {
		_, err := batch.Run(t.Context(), &o)
		return err
	})
	if ahead != nil {
		t.Fatal(ahead)
	}
	got, want := files(t, store.Folder+"/out"), reference(t, local)
	delete(got, "job.json") // has other names and versions
	delete(want, "job.json")
	same(t, got, want)
	o.Inputs = []string{"s3://symbols/in/1"}
	o.Out = "s3://symbols/prefix"
	if r := do(t, o); r.Rows != 7 {
		t.Errorf("a prefix has %d rows, want 7", r.Rows)
	}
	store.Kill()
	_, err := batch.Run(t.Context(), &o)
	if code := batch.Code(err); code != 75 {
		t.Errorf("without the store, the code is %d, want 75: %v", code, err)
	}
}

func TestPartIsThatOfTheScheduler(t *testing.T) {
	env := map[string]string{}
	for _, c := range []struct {
		text string
		env  string // pairs
		want string
	}{
		{"0/1", "", "{0 1}"}, {"3/8", "", "{3 8}"}, {"8/8", "", "below 8"}, {"-1/8", "", "INDEX/COUNT"}, {"1", "", "INDEX/COUNT"}, {"1/0", "", "COUNT must be at least 1"},
		{"auto", "", "no variable"}, {"auto/4", "JOB_COMPLETION_INDEX=2", "{2 4}"}, {"auto", "JOB_COMPLETION_INDEX=2", "auto/COUNT"},
		{"auto", "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3", "{2 3}"}, {"auto", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3", "numbered from 0"},
		{"auto", "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=5", "{0 5}"},
		{"auto", "CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2", "{1 2}"}, {"auto/9", "CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2", "{1 9}"},
	} {
		clear(env)
		for pair := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		p, err := batch.ParsePart(c.text, func(name string) string { return env[name] })
		if got := fmt.Sprint(p, err); !strings.Contains(got, c.want) {
			t.Errorf("%s with %q: got %s, want %s", c.text, c.env, got, c.want)
		}
	}
}

func TestPercentages(t *testing.T) {
	for text, want := range map[string]string{"5%": "5", "0.5": "0.5", "100%": "100", "101%": "between", "NaN": "between", "": "between"} {
		v, err := batch.ParsePercent(text)
		if got := fmt.Sprint(v, err); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add([]byte(text(0, 5)), 2)
	f.Add([]byte("{}\n\n\ntext"), 1)
	f.Add([]byte(gzipped(text(0, 2))), 3)
	f.Add([]byte(zstded("\n")), 1)
	f.Fuzz(func(t *testing.T, data []byte, unit int) {
		in, out := mem.New(), mem.New()
		if _, err := in.Put(t.Context(), "a.json", bytes.NewReader(data), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
		o := options("s3://out", "s3://in/a.json")
		o.Unit = 1 + unit&7
		o.Open = func(_ string, isOutput bool) (bucket.Bucket, error) {
			if isOutput {
				return out, nil
			}
			return in, nil
		}
		r, err := batch.Run(t.Context(), &o)
		if err != nil && batch.Code(err) != 2 {
			t.Fatal(err)
		}
		if err != nil || bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte{0x28, 0xb5}) {
			return
		}
		var want bytes.Buffer
		o.Rows.OnlyRows = true
		n, err := o.Rows.Filter(t.Context(), o.NewRun(), bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))), bufio.NewWriter(&want))
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		for key, err := range bucket.Keys(t.Context(), out, "part/", "") {
			text, readErr := bucket.Read(t.Context(), out, key, 0, -1)
			if parts[key] = string(text); cmp.Or(err, readErr) != nil {
				t.Fatal(err, readErr)
			}
		}
		if got := output(t, parts); got != want.String() || r.Rows != n.Rows || r.Failed != n.Failed {
			t.Errorf("got %q and %+v, want %q and %+v", got, r.Counts, &want, n)
		}
	})
}
