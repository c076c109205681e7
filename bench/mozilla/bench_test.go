//go:build linux

package mozilla

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

// symbols is a folder with two files, the second one larger.
func symbols(t *testing.T) []module {
	dir := t.TempDir()
	for n, name := range []string{"small.so", "large.so"} {
		s := fixture.NewSym(name)
		for i := range uint64(100 * (n + 1)) {
			s.Func(0x1000+i*64, 48, fmt.Sprintf("%s::method(int)::%d", name, i))
		}
		at := filepath.Join(dir, name, "0123456789ABCDEF0123456789ABCDEF0")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, name+".sym"), s.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := findModules(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].file != "large.so" || len(found[0].funcs) != 200 || len(found[1].funcs) != 100 {
		t.Fatalf("found %d modules", len(found))
	}
	return found
}

func TestSameFilesGiveSameRequests(t *testing.T) {
	modules := symbols(t)
	a, b := newWorkload(modules), newWorkload(modules)
	for i := range a.shapes {
		for k := range a.shapes[i].requests {
			if !bytes.Equal(a.shapes[i].requests[k].wire, b.shapes[i].requests[k].wire) {
				t.Fatalf("%s: request %d differs", a.shapes[i].name, k)
			}
		}
	}
}

func TestEveryFrameIsInAFunction(t *testing.T) {
	modules := symbols(t)
	for _, s := range newWorkload(modules).shapes {
		for _, q := range s.requests {
			_, body, _ := bytes.Cut(q.wire, []byte("\r\n\r\n"))
			var doc struct {
				Jobs []struct {
					MemoryMap [][2]string
					Stacks    [][][2]uint64
				}
			}
			if err := json.Unmarshal(body, &doc); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			frames := 0
			for _, j := range doc.Jobs {
				if len(j.MemoryMap) != len(modules)+unused {
					t.Fatalf("%s: %d modules", s.name, len(j.MemoryMap))
				}
				for _, stack := range j.Stacks {
					for _, f := range stack {
						frames++
						if name, _ := nameAt(t, &modules[f[0]], f[1]); name == "" {
							t.Fatalf("%s: %v is in no function", s.name, f)
						}
					}
				}
			}
			if frames != q.frames {
				t.Errorf("%s: %d frames, counted %d", s.name, frames, q.frames)
			}
		}
	}
}

func nameAt(t *testing.T, m *module, addr uint64) (name, within string) {
	f, err := os.Open(m.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if name, within, err = m.at(f, fmt.Sprint(addr)); err != nil {
		t.Fatal(err)
	}
	return name, within
}

func TestWrongAnswerIsTold(t *testing.T) {
	modules := symbols(t)
	const form = `{"results":[{"stacks":[[{"module":"large.so","module_offset":"0x1045","function":"large.so::method(int)::%d","function_offset":"%s"}]]}]}`
	if n, err := checkAnswer(modules, fmt.Appendf(nil, form, 1, "0x5"), 1); n != 1 || err != nil {
		t.Errorf("the right answer: %d, %v", n, err)
	}
	for _, wrong := range []string{fmt.Sprintf(form, 2, "0x5"), fmt.Sprintf(form, 1, "0x6")} {
		if _, err := checkAnswer(modules, []byte(wrong), 1); err == nil {
			t.Errorf("%s was taken for right", wrong)
		}
	}
}

func TestRandomAddressesAreInFunctions(t *testing.T) {
	modules := symbols(t)
	for _, a := range anywhere(modules[0].funcs, 1000) {
		if name, _ := nameAt(t, &modules[0], a); name == "" {
			t.Fatalf("%#x is in no function", a)
		}
	}
}

// lines returns the lines of the files that Pings writes for some modules.
func lines(t *testing.T, rows string, flags ...string) (lines []string) {
	dir := filepath.Dir(filepath.Dir(filepath.Dir(symbols(t)[0].path)))
	var files []string
	for i, arg := range flags {
		if strings.HasSuffix(arg, ".json") {
			flags[i] = filepath.Join(t.TempDir(), arg)
			files = append(files, flags[i])
		}
	}
	if err := Pings(t.Context(), append([]string{"--symbols", dir, "--rows", rows}, flags...)); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = slices.AppendSeq(lines, strings.Lines(string(text)))
	}
	return lines
}

func TestPingDependsOnItsNumberAndTheSeed(t *testing.T) {
	one, three := lines(t, "10", "--out", "0.json"), lines(t, "10", "--out", "0.json", "1.json", "2.json")
	if !slices.Equal(one, three) {
		t.Errorf("three files: got\n%q, want\n%q", three, one)
	}
	if other := lines(t, "10", "--seed", "2", "--out", "0.json"); slices.Equal(one, other) {
		t.Error("another seed: got the same rows")
	}
}

func TestPingsHaveFramesInFunctions(t *testing.T) {
	modules := symbols(t)
	for _, flags := range [][]string{{"--out", "0.json"}, {"--all-modules", "--out", "0.json"}} {
		for _, line := range lines(t, "20", flags...) {
			var ping struct {
				Modules []struct {
					File string `json:"debug_file"`
					Base string `json:"base_address"`
				}
				Threads []struct {
					Frames []struct {
						IP     string
						Module int `json:"module_index"`
					}
				}
			}
			if err := json.Unmarshal([]byte(line), &ping); err != nil {
				t.Fatal(err)
			}
			for _, f := range ping.Threads[0].Frames {
				m := ping.Modules[f.Module]
				ip, _ := strconv.ParseUint(f.IP, 0, 64)
				base, _ := strconv.ParseUint(m.Base, 0, 64)
				k := slices.IndexFunc(modules, func(known module) bool { return known.file == m.File })
				if name, _ := nameAt(t, &modules[k], ip-base); name == "" {
					t.Fatalf("%s at %#x is not in a function: %s", m.File, ip-base, line)
				}
			}
		}
	}
}
