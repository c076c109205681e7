package auto_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/filter"
	"symbolon/internal/filter/auto"
	"symbolon/internal/filter/filtertest"
)

const (
	asan  = "    #0 0x5594d1c0deaa  (/srv/app+0xddeaa) (BuildId: 0011223344556677)\n"
	named = "    #0 0x5594d1c0deaa in parse /src/parse.c:41\n"
)

// newRun returns a run in which the address of asan has a name.
func newRun() *filter.Run {
	return &filter.Run{Names: filtertest.Names{"0011223344556677": {0xddeaa: {
		{Function: []byte("parse"), File: []byte("/src/parse.c"), Line: 41},
	}}}}
}

// words returns numbers as the header of gperftools has them.
func words[T any](write func([]byte, T) []byte, numbers ...T) (data []byte) {
	for _, n := range numbers {
		data = write(data, n)
	}
	return data
}

// filtered returns the output for an input in a format.
func filtered(t *testing.T, format, in string) string {
	t.Helper()
	var out bytes.Buffer
	if err := auto.Filter(t.Context(), newRun(), auto.Options{Format: format}, auto.Input{Name: "-", Stdin: strings.NewReader(in)}, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestALogIsNamed(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a sanitizer's frame", asan, named},
		{"a frame after other lines", "app started\n" + asan, "app started\n" + named},
		{"no text", "", ""},
		{"no line end", "x", "x"},
		{"bytes of no text", "\x00\xff\xfe\n" + asan, "\x00\xff\xfe\n" + named},
		{"a line of 10 MB", strings.Repeat("x", 10<<20) + "\n" + asan, strings.Repeat("x", 10<<20) + "\n" + named},
	} {
		if got := filtered(t, "auto", c.in); got != c.want {
			t.Errorf("%s: got %.80q, want %.80q", c.name, got, c.want)
		}
	}
}

func TestRowOnSeveralLinesIsNamed(t *testing.T) {
	const in = "{\n  \"frames\": [\n    {\"debug_file\": \"app\", \"code_id\": \"0011223344556677\", \"offset\": \"0xddeaa\"}\n  ]\n}\n"
	for _, format := range []string{"auto", "rows"} {
		for _, mark := range []string{"", "\ufeff"} {
			if got := filtered(t, format, mark+in); !strings.HasPrefix(got, mark+in[:len(in)-len("}\n")]) || !strings.Contains(got, `"function":"parse"`) {
				t.Errorf("%s: got %q", format, got)
			}
		}
	}
}

func TestMissingModulesHaveTheirIdentifiers(t *testing.T) {
	run := newRun()
	in := strings.NewReader(strings.ReplaceAll(asan, "0011", "aa11") + strings.ReplaceAll(asan, "0011", "bb11"))
	if err := auto.Filter(t.Context(), run, auto.Options{Format: "auto"}, auto.Input{Name: "-", Stdin: in}, io.Discard); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range run.Missing() {
		ids = append(ids, m.Name+" "+m.Module.CodeID.String())
	}
	if got := strings.Join(ids, ", "); got != "app aa11223344556677, app bb11223344556677" {
		t.Errorf("the missing modules are %s", got)
	}
}

func TestDataIsReadInPlaceOfAFile(t *testing.T) {
	for _, in := range []string{asan, `{"meta":{"version":27,"libs":[]},"threads":[]}`} {
		var out bytes.Buffer
		if err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto"}, auto.Input{Data: bin.Bytes([]byte(in))}, &out); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), filtered(t, "auto", in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestADocumentThatCannotBeReadIsCopied(t *testing.T) {
	message := filtertest.Message
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	trace := message(1, message(8, 5, 10, 1), 1, message(66, "sample"))
	z.Write(trace[:len(trace)-1])
	z.Close()
	for name, in := range map[string]string{
		"perfetto": string(trace[:len(trace)-1]), "a compressed one": packed.String(),
		"pprof": string(message(1, message(1, 1, 2, 2), 4, message(1, 1)))[:9],
		"otlp":  string(message(1, message(1, "", 2, message(2, message(1, ""))), 2, message(1, 7))),
	} {
		var out bytes.Buffer
		err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto", Copy: true}, auto.Input{Name: "-", Stdin: strings.NewReader(in)}, &out)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		var none bytes.Buffer
		if err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto"}, auto.Input{Name: "-", Stdin: strings.NewReader(in)}, &none); err == nil || none.Len() > 0 {
			t.Errorf("%s: error %v and the output %q without Copy, want an error alone", name, err, &none)
		}
		got, err := auto.Unpack(bufio.NewReader(&out))
		if err != nil {
			t.Fatal(err)
		}
		want, err := auto.Unpack(bufio.NewReader(strings.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		a, aerr := io.ReadAll(got)
		b, berr := io.ReadAll(want)
		if !bytes.Equal(a, b) || aerr != nil || berr != nil {
			t.Errorf("%s: got %q, %v, %v, want %q", name, a, aerr, berr, b)
		}
	}
}

func TestNothingIsWrittenForADocumentThatCannotBeUnpacked(t *testing.T) {
	var packed, out bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(filtertest.Message(1, filtertest.Message(8, 5, 10, 1), 1, filtertest.Message(66, "sample")))
	z.Close()
	in := bytes.NewReader(packed.Bytes()[:packed.Len()-8]) // without the sum
	err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto", Copy: true}, auto.Input{Name: "-", Stdin: in}, &out)
	if err == nil || out.Len() > 0 {
		t.Errorf("error %v and the output %q, want an error alone", err, &out)
	}
}

func TestReportOfAppleInJSONIsNamed(t *testing.T) {
	const in = `{"bug_type":"309"}` + "\n" + `{"usedImages":[{"uuid":"00112233-4455-6677-8899-aabbccddeeff","name":"App"}],"threads":[{"frames":[{"imageOffset":16,"imageIndex":0}]}]}`
	run := &filter.Run{Names: filtertest.Names{"00112233445566778899aabbccddeeff": {16: {{Function: []byte("main"), Entry: 16}}}}}
	var out bytes.Buffer
	if err := auto.Filter(t.Context(), run, auto.Options{Format: "auto"}, auto.Input{Name: "-", Stdin: strings.NewReader(in)}, &out); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(in, `0}]}]`, `0,"symbol":"main","symbolLocation":0}]}]`, 1); out.String() != want {
		t.Errorf("got %s, want %s", &out, want)
	}
}

func TestProfilesOfOpenTelemetryAreNamed(t *testing.T) {
	message := filtertest.Message
	dictionary := message(
		1, "", 1, message(5, 1), 2, "", 2, message(1, 1, 2, 0xddeaa), 3, "", 6, "", 6, message(1, 1, 2, message(8, 2)),
		5, "", 5, "process.executable.build_id.gnu", 5, "0011223344556677",
	)
	in := message(1, message(1, "", 2, message(2, message(1, ""))), 2, dictionary)
	if got := filtered(t, "auto", string(in)); !strings.Contains(got, "parse") {
		t.Errorf("got %q, want a name", got)
	}
}

func TestASecondRunChangesNothing(t *testing.T) {
	first := filtered(t, "auto", asan+"text\n")
	if second := filtered(t, "auto", first); second != first {
		t.Errorf("got %q, want %q", second, first)
	}
}

func TestTheOutputIsCompressedAsTheInput(t *testing.T) {
	gz := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		w.Close()
		return b.String()
	}
	unzip := func(text string) (io.Reader, error) { return gzip.NewReader(strings.NewReader(text)) }
	zst := func(text string) string {
		w, _ := zstd.NewWriter(nil)
		return string(w.EncodeAll([]byte(text), nil))
	}
	unzst := func(text string) (io.Reader, error) { return zstd.NewReader(strings.NewReader(text)) }
	for _, c := range []struct {
		name   string
		pack   func(string) string
		unpack func(string) (io.Reader, error)
	}{{"gzip", gz, unzip}, {"zstd", zst, unzst}} {
		r, err := c.unpack(filtered(t, "auto", c.pack(asan)))
		if err != nil {
			t.Errorf("%s: the output is not compressed: %v", c.name, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != named {
			t.Errorf("%s: got %q and error %v, want %q", c.name, got, err, named)
		}
	}
}

func TestCutOffCompressedInputIsAnError(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, strings.Repeat(asan, 10))
	w.Close()
	in := auto.Input{Name: "-", Stdin: bytes.NewReader(b.Bytes()[:b.Len()-9])}
	if err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto"}, in, io.Discard); err == nil {
		t.Error("no error")
	}
}

func TestALineIsWrittenBeforeTheNextOneIsRead(t *testing.T) {
	for _, c := range []struct{ format, line string }{
		{"auto", "line\n"}, {"text", "line\n"}, {"perf", "line\n"}, {"rows", "line\n"},
		{"auto", `{"message":"started"}` + "\n"}, {"auto", `{"frames":[{"debug_file":"app","debug_id":"6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"}]}` + "\n"}, {"auto", "[1]\n"},
	} {
		in, feed := io.Pipe()
		drain, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- auto.Filter(t.Context(), newRun(), auto.Options{Format: c.format}, auto.Input{Name: "-", Stdin: in}, out)
		}()
		lines := bufio.NewReader(drain)
		for range 2 {
			_, _ = io.WriteString(feed, c.line)
			if got, err := lines.ReadString('\n'); got != c.line {
				t.Errorf("%s: got %q and error %v, want %q", c.format, got, err, c.line)
			}
		}
		feed.Close()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", c.format, err)
		}
	}
}

func TestFilesForOtherToolsAreRefusedWithAdvice(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"PERFILE2" + strings.Repeat("\x00", 100), "perf script"},
		{string(words(binary.LittleEndian.AppendUint64, 0, 3, 0, 10000, 0)), "gperftools"},
		{string(words(binary.BigEndian.AppendUint64, 0, 3, 0, 10000, 0)), "gperftools"},
		{string(words(binary.LittleEndian.AppendUint32, 0, 3, 0, 10000, 0)), "gperftools"},
		{string(words(binary.BigEndian.AppendUint32, 0, 3, 0, 10000, 0)), "gperftools"},
		{"heap profile:      1:  1000000 [     1:  1000000] @ heapprofile\n", "go tool pprof"},
		{"heap_v2/524288\n  t*: 2: 1130496 [0: 0]\n", "jeprof"},
		{"\xff\xfe#\x000\x00 \x00", "iconv"},
		{"\xfe\xff\x00#\x000\x00 ", "iconv"},
		{"PAR1" + strings.Repeat("\x00", 100), "DuckDB"},
		{"MDMP\x93\xa7\x00\x00", "symbolon crash"},
		{"\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x04\x00\x3e\x00", "symbolon crash"},
	} {
		err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto"}, auto.Input{Name: "-", Stdin: strings.NewReader(c.in)}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.8q: error %v, want one with %q", c.in, err, c.want)
		}
	}
}

func TestModulesOfTheUserAreParsed(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := "../../object/testdata/corpus/embed-source"
	for _, c := range []struct{ text, id string }{
		{"app=" + program, "94e4559d737bc9e7"},
		{"/srv/app=94e4559d737bc9e794e4559d737bc9e794e4559d", "94e4559d737bc9e794e4559d737bc9e794e4559d"},
		{"app=" + plain, ""},
		{"app=nonsense", ""},
		{"app", ""},
		{"=" + program, ""},
	} {
		files := &auto.Files{}
		defer files.Links.Remove()
		if _, m, err := files.Named(c.text); m.CodeID.String() != c.id || (err == nil) != (c.id != "") {
			t.Errorf("%s: code id %q and error %v, want %q", c.text, m.CodeID, err, c.id)
		}
	}
}

func TestTextsInMemoryAreNamedAsLogs(t *testing.T) {
	const markup = "{{{module:0:app:elf:0011223344556677}}}{{{mmap:0x1000:0xfffff:load:0:rx:0x1000}}}{{{pc:0xddeaa}}}\n"
	for _, in := range []string{"", "no address\n", asan, markup, "{{{reset}}}\n", strings.Repeat("no address\n", 1000) + asan, markup + asan} {
		var logs, texts bytes.Buffer
		for f, out := range map[*bytes.Buffer]func(context.Context, *filter.Run, *bufio.Reader, *bufio.Writer) error{&logs: auto.Logs, &texts: auto.Text} {
			w := bufio.NewWriter(f)
			if err := out(t.Context(), newRun(), bufio.NewReader(strings.NewReader(in)), w); err != nil {
				t.Fatal(err)
			}
			w.Flush()
		}
		if texts.String() != logs.String() {
			t.Errorf("%.40q became %q, as a log %q", in, texts.String(), logs.String())
		}
	}
}
