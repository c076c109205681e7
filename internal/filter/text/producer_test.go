package text_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

// llvm are names of llvm-symbolizer for one file.
type llvm struct {
	t    *testing.T
	file string
}

func (n llvm) Look(_ context.Context, q *filter.Query) (filter.Answer, error) {
	return &llvmAnswer{n, q}, nil
}

type llvmAnswer struct {
	llvm
	q *filter.Query
}

func (a *llvmAnswer) Missing(int32) error { return nil }
func (a *llvmAnswer) Release()            {}

func (a *llvmAnswer) Frames(i int) (frames []filter.Frame) {
	x := a.q.Addresses[i]
	if m := a.q.Modules[x.Module]; filepath.Base(m.CodeFile) != filepath.Base(a.file) {
		return nil
	}
	if x.Space == filter.Named {
		s := &a.q.Symbols[x.Addr]
		x.Addr = symbol(a.t, a.file, s.Name) + s.Offset
	}
	if x.IsReturn {
		x.Addr--
	}
	out := proctest.Run(a.t, ".", "llvm-symbolizer", "--output-style=JSON", "-e", a.file, fmt.Sprintf("%#x", x.Addr))
	var answers []struct {
		Symbol []struct {
			FunctionName, FileName string
			Line, Column           uint32
		}
	}
	if err := json.Unmarshal([]byte(out), &answers); err != nil {
		a.t.Fatal(err)
	}
	for _, s := range answers[0].Symbol {
		if s.FunctionName != "" {
			frames = append(frames, frame(s.FunctionName, s.FileName, s.Line, s.Column))
		}
	}
	return frames
}

// symbol returns the address of a symbol in a file.
func symbol(t *testing.T, file, name string) (addr uint64) {
	for line := range strings.Lines(proctest.Run(t, ".", "nm", file)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == name {
			fmt.Sscanf(f[0], "%x", &addr)
		}
	}
	return addr
}

// build compiles a program of testdata. The test is skipped without the compiler or
// a library that the flags need.
func build(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	path := proctest.Program(t, compiler)
	text, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, source), text, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, strings.TrimSuffix(source, ".c"))
	out, err := exec.Command(path, append(flags, "-g", "-O1", "-o", program, filepath.Join(dir, source))...).CombinedOutput()
	if strings.Contains(string(out), "libclang_rt") || strings.Contains(string(out), "cannot find ") {
		t.Skipf("%s has no library for %q", compiler, flags)
	} else if err != nil {
		t.Fatalf("%s does not build with %q: %s", compiler, flags, out)
	}
	return program
}

// output returns the output of a program that may fail.
func output(t *testing.T, program string, env ...string) string {
	t.Helper()
	cmd := exec.Command(program)
	if setarch, err := exec.LookPath("setarch"); err == nil {
		cmd = exec.Command(setarch, "-R", program) // the shadow memory of older runtimes needs it
	}
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// called returns the functions that a pattern matches.
func called(log, pattern string) (names []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(log, -1) {
		names = append(names, m[1])
	}
	return names
}

func TestBacktracesInAProcess(t *testing.T) {
	t.Parallel()
	proctest.Program(t, "llvm-symbolizer")
	for _, flag := range []string{"-pie", "-no-pie", "-rdynamic"} { // the last one has symbols for backtrace_symbols
		t.Run(flag, func(t *testing.T) {
			program := build(t, "gcc", "backtrace.c", flag)
			known := map[string]ident.Module{program: {CodeFile: program, CodeID: id}}
			log := output(t, program)
			got := run(t, &filter.Run{Names: llvm{t, program}, Known: known}, log)
			patterns := []string{`\] in (\S+) at \S+:\d+`}
			if flag != "-no-pie" { // whose offsets in the file are the addresses that llvm-symbolizer reads
				patterns = append(patterns, `#\d+ 0x\S+ (\S+) \[\S+:\d+\]`, `\d: +0x\S+ - (\S+)\n +at `)
			}
			for _, p := range patterns {
				if names, want := called(got, p), []string{"fail", "last", "main"}; !slices.Equal(names, want) {
					t.Errorf("got %q, want %q in\n%s", names, want, got)
				}
			}
		})
	}
}

func TestStackOfASignalHandler(t *testing.T) {
	t.Parallel()
	proctest.Program(t, "llvm-symbolizer")
	program := build(t, "gcc", "signal.c", "-static-pie")
	known := map[string]ident.Module{program: {CodeFile: program, CodeID: id}}
	log := output(t, program)
	if symbol(t, program, "__restore_rt") == 0 {
		t.Skip("the C library returns from signal handlers in another way")
	}
	got := run(t, &filter.Run{Names: llvm{t, program}, Known: known}, log)
	names := called(got, `#\d+ 0x\S+ (\S+)`)
	if want := []string{"handle", "__restore_rt", "fail", "main"}; len(names) < len(want) || !slices.Equal(names[:len(want)], want) {
		t.Errorf("got %q, want %q in\n%s", names, want, got)
	}
}

func TestStacksWithBuildIDsOfElfutils(t *testing.T) {
	t.Parallel()
	proctest.Program(t, "llvm-symbolizer")
	proctest.Program(t, "eu-stack")
	program := build(t, "gcc", "stack.c", "-pie", "-Wl,--build-id")
	got := run(t, &filter.Run{Names: llvm{t, program}}, output(t, program))
	if names, want := called(got, `\]@0x\S+ in (\S+) at \S+:\d+`), []string{"show", "call", "main"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q in\n%s", names, want, got)
	}
}

// frames returns the lines that have frames in a program, without addresses, columns,
// which gcc does not print, and build ids, which clang prints for the first frame of
// an address only.
func frames(log, program string) string {
	var list []string
	for line := range strings.SplitSeq(log, "\n") {
		if strings.Contains(line, program+".c:") || strings.HasPrefix(line, "SUMMARY: ") {
			line = regexp.MustCompile(`0x[0-9a-f]+ in | \(BuildId: [0-9a-f]+\)`).ReplaceAllString(line, "")
			line = regexp.MustCompile(`(\.c:\d+):\d+`).ReplaceAllString(line, "$1")
			list = append(list, strings.TrimRight(line, " "))
		}
	}
	return strings.Join(list, "\n")
}

func TestLogsOfSanitizers(t *testing.T) {
	t.Parallel()
	symbolizer := proctest.Program(t, "llvm-symbolizer")
	for _, c := range []struct{ compiler, source, kind, options string }{
		{"clang", "freed.c", "address", "ASAN_OPTIONS="},
		{"clang", "race.c", "thread", "TSAN_OPTIONS="},
		{"gcc", "freed.c", "address", "ASAN_OPTIONS="},
		{"gcc", "race.c", "thread", "TSAN_OPTIONS="},
	} {
		t.Run(c.compiler+" "+c.kind, func(t *testing.T) {
			program := build(t, c.compiler, c.source, "-fsanitize="+c.kind)
			log := output(t, program, c.options+"symbolize=0")
			want := frames(output(t, program, c.options+"symbolize=1:external_symbolizer_path="+symbolizer), program)
			if !strings.Contains(want, "SUMMARY") || !strings.Contains(want, c.source) {
				if strings.Contains(log, "unexpected memory mapping") {
					t.Skip("the runtime does not work with the address space of this kernel")
				}
				t.Fatalf("the runtime itself prints\n%s\nfor\n%s", want, log)
			}
			known := map[string]ident.Module{filepath.Base(program): {CodeFile: program, CodeID: id}} // gcc 12 prints no ids
			got := frames(run(t, &filter.Run{Names: llvm{t, program}, Known: known}, log), program)
			if got != want {
				t.Errorf("got\n%s\nthe runtime itself prints\n%s\nfor\n%s", got, want, log)
			}
		})
	}
}
