package pprof_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	runtime "runtime/pprof"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/pprof"
	"symbolon/internal/filter/wire"
	"symbolon/internal/proctest"
)

// goProfile returns the profile of this process that Go writes, with names.
func goProfile(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := runtime.Lookup("goroutine").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// strip returns a profile without lines, functions and flags, and the names of
// its addresses in the only mapping that has some.
func strip(t *testing.T, data []byte) (stripped []byte, names filtertest.Names) {
	t.Helper()
	number := func(msg []byte, num int) uint64 {
		for r := wire.NewReader(msg); r.Next(); {
			if r.Tag.Num() == num {
				return r.Value
			}
		}
		return 0
	}
	var texts []string
	functions := map[uint64][]byte{}
	mappings := map[uint64][]byte{}
	for r := wire.NewReader(data); r.Next(); {
		switch r.Tag.Num() {
		case 3:
			mappings[number(r.Bytes, 1)] = r.Bytes
			stripped = wire.AppendBytes(stripped, 3, wire.AppendWithout(nil, r.Bytes, 15<<7))
		case 4:
			stripped = wire.AppendBytes(stripped, 4, wire.AppendWithout(nil, r.Bytes, 1<<4))
		case 5:
			functions[number(r.Bytes, 1)] = r.Bytes
		case 6:
			texts = append(texts, string(r.Bytes))
			fallthrough
		default:
			stripped = append(stripped, data[r.Start:r.End]...)
		}
	}
	names = filtertest.Names{}
	for r := wire.NewReader(data); r.Next(); {
		if r.Tag.Num() != 4 {
			continue
		}
		m := mappings[number(r.Bytes, 2)]
		file := filepath.Base(texts[number(m, 5)])
		var frames []filter.Frame
		for l := wire.NewReader(r.Bytes); l.Next(); {
			if l.Tag.Num() == 4 {
				f := functions[number(l.Bytes, 1)]
				frames = append(frames, filter.Frame{
					Function: []byte(texts[number(f, 2)]), Raw: []byte(texts[number(f, 3)]),
					File: []byte(texts[number(f, 4)]), Line: uint32(number(l.Bytes, 2)),
				})
			}
		}
		if names[file] == nil {
			names[file] = map[uint64][]filter.Frame{}
		}
		names[file][number(r.Bytes, 3)-number(m, 2)+number(m, 4)] = frames
	}
	return stripped, names
}

// report returns the report of a profile by pprof.
func report(t *testing.T, program, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	text := proctest.Run(t, dir, program, "tool", "pprof", "-symbolize=none", "-lines", "-top", path)
	return regexp.MustCompile(`(?m)^(File|Build ID|Time|Type): .*\n`).ReplaceAllString(text, "")
}

func TestGoReadsItsNamesAgain(t *testing.T) {
	program := proctest.Program(t, "go")
	data := goProfile(t)
	stripped, names := strip(t, data)
	if !pprof.Is(data) || !pprof.Is(stripped) {
		t.Error("the profile is not recognized")
	}
	dir := t.TempDir()
	want := report(t, program, dir, "go", data)
	if got := report(t, program, dir, "stripped", stripped); got == want {
		t.Errorf("the profile without names is reported as the one with names:\n%s", got)
	}
	if got := report(t, program, dir, "named", rewrite(t, &filter.Run{Names: names}, stripped)); got != want {
		t.Errorf("go tool pprof reports\n%s\nwant\n%s", got, want)
	}
}
