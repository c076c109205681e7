package perf_test

import (
	"bytes"
	"context"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/perf"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

// symbols are the names of the symbol table of a program, for the tests of formats
// alone.
type symbols struct {
	file    *elf.File
	symbols []elf.Symbol
	query   *filter.Query
}

func (s *symbols) Look(_ context.Context, q *filter.Query) (filter.Answer, error) {
	s.query = q
	return s, nil
}
func (s *symbols) Missing(int32) error { return nil }
func (s *symbols) Release()            {}

func (s *symbols) Frames(i int) []filter.Frame {
	a := s.query.Addresses[i]
	if a.IsReturn {
		a.Addr--
	}
	for _, p := range s.file.Progs {
		if p.Type != elf.PT_LOAD || a.Addr-p.Off >= p.Filesz || a.Space != filter.Offset {
			continue
		}
		for _, y := range s.symbols {
			if addr := a.Addr - p.Off + p.Vaddr; addr-y.Value < y.Size {
				return []filter.Frame{{Function: []byte(y.Name)}}
			}
		}
	}
	return nil
}

// record runs testdata/spin.c without symbols under perf, and returns the folder of
// the recording with the symbols of the program. It is linked by lld, so the offsets
// in its file differ from its addresses.
func record(t *testing.T, options ...string) (folder string, names *symbols) {
	t.Helper()
	folder = t.TempDir()
	proctest.Program(t, "perf")
	proctest.Program(t, "ld.lld")
	source, err := filepath.Abs("testdata/spin.c")
	if err != nil {
		t.Fatal(err)
	}
	proctest.Program(t, "ld.lld")
	proctest.Run(t, folder, "gcc", "-O0", "-fuse-ld=lld", "-o", "spin", source)
	proctest.Run(t, folder, "objcopy", "--strip-all", "spin", "stripped")
	file, err := elf.Open(filepath.Join(folder, "spin"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	names = &symbols{file: file}
	if names.symbols, err = file.Symbols(); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"record", "-e", "cpu-clock", "-o", "data"}, options...)
	cmd := exec.Command("perf", append(args, "./stripped")...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); bytes.Contains(out, []byte("perf_event_paranoid")) {
		t.Skip("the kernel does not allow perf to record")
	} else if err != nil {
		t.Fatalf("perf record: %v\n%s", err, out)
	}
	return folder, names
}

var known = map[string]ident.Module{"stripped": {CodeID: appID}}

// script returns the text of perf script with names. Nothing else differs from the
// text of perf.
func script(t *testing.T, run *filter.Run, folder string, options ...string) string {
	t.Helper()
	text := proctest.Run(t, folder, "perf", append([]string{"script", "-i", "data"}, options...)...)
	if !perf.Is([]byte(text)) {
		t.Errorf("not recognized:\n%.2000s", text)
	}
	got := filtered(t, run, text)
	name := regexp.MustCompile(`(?m) [^ ]+ (\(\S+/stripped\))$`)
	if plain := func(s string) string { return name.ReplaceAllString(s, " $1") }; plain(got) != plain(text) {
		t.Errorf("more than names differ:\n%.2000s", got)
	}
	return got
}

func TestChainsOfPerfGetNames(t *testing.T) {
	t.Parallel()
	folder, names := record(t, "-g")
	got := script(t, &filter.Run{Names: names, Known: known}, folder)
	chain := regexp.MustCompile(`\n\t +[0-9a-f]+ work \(\S+/stripped\)\n\t +[0-9a-f]+ outer \(\S+\)\n\t +[0-9a-f]+ main \(\S+\)\n`)
	if n := len(chain.FindAllString(got, -1)); n < 10 {
		t.Errorf("%d chains of work, outer and main in\n%.2000s", n, got)
	}
}

func TestSamplesOfPerfGetNames(t *testing.T) {
	t.Parallel()
	for _, options := range [][]string{nil, {"--buildid-mmap"}} {
		folder, names := record(t, options...)
		got := script(t, &filter.Run{Names: names, Known: known}, folder, "--show-mmap-events")
		if n := strings.Count(got, " work ("); n < 10 {
			t.Errorf("perf record %q: %d samples of work in\n%.2000s", options, n, got)
		}
	}
}

func TestBuildIDsOfPerfAreRead(t *testing.T) {
	t.Parallel()
	folder, names := record(t, "-g")
	list := proctest.Run(t, folder, "perf", "buildid-list", "-i", "data")
	text := list + proctest.Run(t, folder, "perf", "script", "-i", "data")
	if got := filtered(t, &filter.Run{Names: names}, text); strings.Count(got, " outer (") < 10 {
		t.Errorf("no names with\n%s", list)
	}
}
