//go:build linux

package mozilla

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
