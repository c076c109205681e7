package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/demangle"
)

// TestProfilesOfTheFirefoxProfiler sends what the Firefox Profiler sends for
// profiles of programs in C++, Rust and Go, which hold modules such as
// [kernel.kallsyms] and [vdso]. Every frame of the program, of which there are
// symbols, has the names, files and lines that symbolon resolve prints, without results. See
// testdata/profiler/build.sh.
func TestProfilesOfTheFirefoxProfiler(t *testing.T) {
	t.Parallel()
	const folder = "testdata/profiler"
	store, err := filepath.Abs(folder + "/store")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"glaze", "bisque", "slip"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(folder, program+".request.json"))
			if err != nil {
				t.Fatal(err)
			}
			var request struct {
				Jobs []struct {
					MemoryMap [][2]string
					Stacks    [][][2]uint64
				}
			}
			if err := json.Unmarshal(text, &request); err != nil {
				t.Fatal(err)
			}
			s := startDepot(t, "sources:\n- {id: store, type: filesystem, path: '"+filepath.ToSlash(store)+"'}\n", t.TempDir())
			status, answer, _ := s.do("POST", "/symbolicate/v5", text, "Content-Type: application/json")
			var a struct {
				Results []struct {
					Found  map[string]bool `json:"found_modules"`
					Stacks [][]struct {
						shown
						Inlines []shown
					}
				}
			}
			if err := json.Unmarshal([]byte(answer), &a); err != nil || status != http.StatusOK || len(a.Results) != len(request.Jobs) {
				t.Fatalf("%d %.300s, %v", status, answer, err)
			}
			for i, job := range request.Jobs {
				name, id := job.MemoryMap[0][0], job.MemoryMap[0][1]
				if found := a.Results[i].Found[name+"/"+id]; found != (name == program) {
					t.Errorf("%s is found: %v", name, found)
				}
				if name != program {
					continue
				}
				args := []string{"resolve", "--format", "jsonl", "--no-demangle", filepath.Join(store, name, id, name+".debug.zst")}
				for _, f := range job.Stacks[0] {
					args = append(args, fmt.Sprintf("%#x", f[1]))
				}
				lines := strings.Split(strings.TrimSpace(doing(t, args...)), "\n")
				frames := a.Results[i].Stacks[0]
				if len(lines) != len(frames) || len(frames) < 100 {
					t.Fatalf("%d frames, resolve answers %d", len(frames), len(lines))
				}
				for j, line := range lines {
					var want struct{ Frames []shown }
					if err := json.Unmarshal([]byte(line), &want); err != nil {
						t.Fatal(err)
					}
					for k, f := range want.Frames {
						want.Frames[k].Function = demangle.Name(f.Function, demangle.Called)
					}
					f := frames[j]
					if got := chain(append(f.Inlines, f.shown)); f.Function == "" || got != chain(want.Frames) {
						t.Errorf("%s\nis %s\nresolve prints %s", args[5+j], got, chain(want.Frames))
					}
				}
			}
		})
	}
}
