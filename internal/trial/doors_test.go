package trial_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// TestDoorsGiveTheSameFrames asks for random addresses of files of each format:
// resolve, which reads the file, and the interfaces of Mozilla and Sentry, before and
// after the table of the file is built. Uploads of profilers have a test of their
// own, TestUploadsAnswerEverywhere.
func TestDoorsGiveTheSameFrames(t *testing.T) {
	const corpus = "../object/testdata/corpus/"
	for _, c := range []struct {
		file string
		kind string // of the module, for Sentry
	}{
		{"clang-cc-dwarf5", "elf"}, {"gcc-dwarf4", "elf"}, {"i386", "elf"},
		{"macho-x86_64.dsym", "macho"}, {"win-x86_64.pdb", "pe"}, {"wasm32.wasm", "wasm"}, {"kiln.sym", "elf"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, c.file)
			s := trial.Start(t, trial.Options{Sources: []string{dir}})
			var (
				content []byte
				err     error
			)
			if c.file == "kiln.sym" { // Breakpad, written of an ELF file
				text, errs, code := s.Run("sym", corpus+"clang-cc-dwarf5")
				if code != 0 {
					t.Fatal(errs)
				}
				content = []byte(text)
			} else if content, err = os.ReadFile(corpus + c.file); err != nil {
				t.Fatal(err)
			}
			if c.kind == "wasm" { // a custom section with an id
				content = append(content, "\x00\x1a\x08build_id\x100123456789abcdef"...)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := debugfile.Open(bin.Bytes(content), object.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := file.Objects()[0]
			d := doors{t, s, o.Info().Module, c.kind}
			addrs := someAddresses(o)
			if c.kind == "wasm" { // Sentry's interface aligns these addresses
				for i := range addrs {
					addrs[i] &^= 3
				}
			}
			want := d.resolve(path, addrs)
			for _, when := range []string{"from the file", "from its table"} {
				answers := map[string][][]trial.Named{"Sentry": d.sentry(addrs)}
				if c.kind != "wasm" { // Mozilla's interface has no such modules
					answers["v5"] = d.v5(addrs)
				}
				for door, got := range answers {
					for i := range addrs {
						if !slices.EqualFunc(got[i], want[i], isSame) {
							t.Errorf("%s %s, %#x: got %+v, resolve has %+v", door, when, addrs[i], got[i], want[i])
						}
					}
				}
				waittest.Until(t, "the table is built", func() bool { return s.Metric("table_builds_total", `outcome="built"`) > 0 })
			}
		})
	}
}

// someAddresses returns addresses in and between the functions of an object.
func someAddresses(o *object.Object) (addrs []uint64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for addr := uint64(0); addr < 1<<22 && len(addrs) < 300; addr += rng.Uint64N(24) {
		if isKnown := len(o.Lookup(nil, addr)) > 0; isKnown || rng.IntN(1000) == 0 {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// doors asks for the frames of addresses in a module.
type doors struct {
	t    *testing.T
	s    *trial.Server
	m    ident.Module
	kind string
}

// isSame reports whether the frame of a door is that of resolve. Sentry's interface
// omits the return types of templates.
func isSame(got, want trial.Named) bool {
	return (got.Function == want.Function || strings.HasSuffix(want.Function, " "+got.Function)) &&
		got.File == want.File && got.Line == want.Line
}

// named returns the frames that have a function.
func named(frames []trial.Named) []trial.Named {
	return slices.DeleteFunc(frames, func(f trial.Named) bool { return f.Function == "" })
}

func (d doors) resolve(path string, addrs []uint64) (out [][]trial.Named) {
	d.t.Helper()
	args := []string{"resolve", "--format", "json", path}
	for _, a := range addrs {
		args = append(args, fmt.Sprintf("%#x", a))
	}
	text, errs, code := d.s.Run(args...)
	var answers []struct{ Frames []trial.Named }
	if err := json.Unmarshal([]byte(text), &answers); err != nil || code != 0 || len(answers) != len(addrs) {
		d.t.Fatal(text, errs, code, err)
	}
	known := 0
	for _, a := range answers {
		out = append(out, named(a.Frames))
		known += min(1, len(a.Frames))
	}
	if known < 20 {
		d.t.Fatalf("resolve has frames for %d addresses, want at least 20", known)
	}
	return out
}

func (d doors) v5(addrs []uint64) (out [][]trial.Named) {
	d.t.Helper()
	stack := [][2]uint64{}
	for _, a := range addrs {
		stack = append(stack, [2]uint64{0, a})
	}
	var answer struct {
		Results []struct {
			Stacks [][]struct {
				trial.Named
				Inlines []trial.Named
			}
		}
	}
	d.post("/symbolicate/v5", map[string]any{"memoryMap": [][2]string{{cmp.Or(d.m.DebugFile, "unnamed"), d.m.DebugID.Breakpad()}}, "stacks": []any{stack}}, &answer)
	for _, f := range answer.Results[0].Stacks[0] {
		out = append(out, named(append(f.Inlines, f.Named)))
	}
	return out
}

func (d doors) sentry(addrs []uint64) (out [][]trial.Named) {
	d.t.Helper()
	var stacks []any
	for _, a := range addrs {
		stacks = append(stacks, map[string]any{"frames": []any{map[string]any{"instruction_addr": fmt.Sprintf("%#x", a), "addr_mode": "rel:0", "adjust_instruction_addr": false}}})
	}
	module := map[string]any{"type": d.kind, "image_addr": "0x10000000", "debug_file": d.m.DebugFile, "debug_id": d.m.DebugID.String(), "code_id": d.m.CodeID.String()}
	var answer struct {
		Stacktraces []struct {
			Frames []struct {
				Function string
				Path     string `json:"abs_path"`
				Line     int    `json:"lineno"`
			}
		}
	}
	d.post("/symbolicate", map[string]any{"modules": []any{module}, "stacktraces": stacks}, &answer)
	for _, stack := range answer.Stacktraces {
		var frames []trial.Named
		for _, f := range stack.Frames {
			frames = append(frames, trial.Named{Function: f.Function, File: f.Path, Line: f.Line})
		}
		out = append(out, named(frames))
	}
	return out
}

func (d doors) post(path string, question, answer any) {
	d.t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		d.t.Fatal(err)
	}
	a := d.s.Post(path, string(body))
	if err := json.Unmarshal([]byte(a.Body), answer); err != nil || a.Status != 200 {
		d.t.Fatalf("%s: %d %.500s, %v", path, a.Status, a.Body, err)
	}
}
