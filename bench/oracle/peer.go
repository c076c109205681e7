package oracle

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// frame is one frame of an answer.
type frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// answer is the frames at an address, innermost first.
type answer []frame

// question is what a symbolizer is asked about a file. Addresses are those of
// the file, the base is subtracted by who wants them relative.
type question struct {
	file string
	// reference is what others are asked about: the same code with debug
	// information that they can read, if there is such a file beside.
	reference string
	addrs     []uint64
	base      uint64
	shift     uint64 // that is added to addresses for symbolon: others count from the code of WebAssembly
	goes      bool   // it is of the Go tools
	kind      string // of file
	image     string // the program whose PDB it is
	dump      *dump  // what llvm-pdbutil says of a PDB
}

// Kinds of files, that not all peers read.
const (
	kindELF  = "elf"
	kindPE   = "pe"
	kindCOFF = "coff"
	kindPDB  = "pdb"
	kindWASM = "wasm"
)

// peer is one symbolizer.
type peer struct {
	name string
	// flat is for peers that give one frame: the outer function with the place
	// of the innermost.
	flat  bool
	kinds []string // of files that it reads
	ask   func(ctx context.Context, q question) ([]answer, error)
}

// symbolicScript answers with the Python package in the form of our own lines.
const symbolicScript = `
import json, sys
from symbolic import Archive
base, table = int(sys.argv[2], 16), next(Archive.open(sys.argv[1]).iter_objects()).make_symcache()
for line in sys.stdin:
    found = table.lookup(int(line, 16) - base) if int(line, 16) >= base else []
    print(json.dumps({"frames": [{"function": l.symbol, "file": l.full_path or "", "line": l.line or 0} for l in found]}))
`

// peers lists who is installed, and tells who is not.
func peers(ctx context.Context) (list []peer) {
	add := func(name string, installed bool, read func(out []byte) []answer, command func(q question) []string, kinds ...string) {
		if !installed {
			fmt.Println("not installed, left out:", name)
			return
		}
		list = append(list, peer{name, name == "go addr2line", kinds, func(ctx context.Context, q question) ([]answer, error) {
			args := command(q)
			out, err := run(ctx, q, args[0], args[1:]...)
			return read(out), err
		}})
	}
	llvm := tool("llvm-symbolizer")
	add("llvm-symbolizer", llvm != "", gnuAnswers, func(q question) []string {
		args := []string{llvm, "--output-style=GNU", "-a", "--inlines", "--no-demangle", "--functions=linkage"}
		if q.kind == kindPDB {
			return append(args, "--relative-address", "--obj="+q.image)
		}
		return append(args, "--obj="+q.reference)
	}, kindELF, kindPE, kindCOFF, kindPDB, kindWASM)
	gnu := func(name string, kinds ...string) {
		add(name, tool(name) != "", gnuAnswers, func(q question) []string {
			return []string{name, "-e", q.reference, "-a", "-i", "-f"}
		}, kinds...)
	}
	gnu("addr2line", kindELF, kindPE, kindCOFF)
	gnu("eu-addr2line", kindELF)
	// The program of "go tool" itself: it is started for each file.
	goTool, err := exec.CommandContext(ctx, "go", "tool", "-n", "addr2line").Output()
	add("go addr2line", err == nil, goAnswers, func(q question) []string {
		return []string{strings.TrimSpace(string(goTool)), q.reference}
	}, kindELF, kindPE)
	err = exec.CommandContext(ctx, "python3", "-c", "import symbolic").Run()
	add("symbolic", err == nil, jsonAnswers, func(q question) []string {
		return []string{"python3", "-c", symbolicScript, q.reference, fmt.Sprintf("%x", q.base)}
	}, kindELF, kindPE, kindPDB)
	if tool("llvm-pdbutil") == "" {
		fmt.Println("not installed, left out: llvm-pdbutil")
		return list
	}
	return append(list, peer{"llvm-pdbutil", false, []string{kindPDB}, func(_ context.Context, q question) (list []answer, err error) {
		for _, addr := range q.addrs {
			list = append(list, q.dump.answer(addr))
		}
		return list, nil
	}})
}

// symbolon asks our own binary.
func symbolon(ctx context.Context, binary string, q question, flags ...string) ([]byte, error) {
	q.addrs = slices.Clone(q.addrs)
	for i := range q.addrs {
		q.addrs[i] += q.shift
	}
	args := append([]string{"resolve", "--format", "jsonl", "--addr", "vaddr", "--no-demangle"}, flags...)
	return run(ctx, q, binary, append(args, "--debug-dir", filepath.Dir(q.file), q.file)...)
}

// run starts a program with the addresses on its standard input.
func run(ctx context.Context, q question, program string, args ...string) ([]byte, error) {
	var in, stderr bytes.Buffer
	for _, a := range q.addrs {
		fmt.Fprintf(&in, "0x%x\n", a)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, errors.New("takes too long")
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, complaint(stderr.Bytes()))
	}
	return out, err
}

// jsonAnswers reads an object with frames per line.
func jsonAnswers(out []byte) (list []answer) {
	for line := range bytes.Lines(out) {
		var a struct{ Frames answer }
		if json.Unmarshal(line, &a) != nil {
			return nil
		}
		list = append(list, a.Frames.tidy())
	}
	return list
}

// gnuAnswers reads an address and then two lines for each frame.
func gnuAnswers(out []byte) (list []answer) {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i := 0; i < len(lines); {
		i++ // the address
		var a answer
		for ; i+1 < len(lines) && !strings.HasPrefix(lines[i], "0x"); i += 2 {
			a = append(a, pair(lines[i], lines[i+1]))
		}
		list = append(list, a.tidy())
	}
	return list
}

// goAnswers reads two lines for each address.
func goAnswers(out []byte) (list []answer) {
	lines := strings.Split(string(out), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		list = append(list, answer{pair(lines[i], lines[i+1])}.tidy())
	}
	return list
}

// pair makes a frame of a line with a name and one with a place.
func pair(name, place string) frame {
	name, _, _ = strings.Cut(name, " inlined at ")
	place, _, _ = strings.Cut(place, " (")
	f := frame{Function: strings.TrimLeft(name, "?")}
	parts := strings.Split(place, ":")
	for n := len(parts); n > 1; n-- {
		line, err := strconv.Atoi(parts[n-1])
		if err != nil && parts[n-1] != "?" {
			break
		}
		// Of "file:line:column" the last number to be seen is the line.
		f.File, f.Line = strings.Join(parts[:n-1], ":"), line
	}
	return f
}

// tidy makes answers that mean the same look the same: a place without line is
// none, and without any function there is no answer.
func (a answer) tidy() answer {
	known := false
	for i := range a {
		f := &a[i]
		if f.Line == 0 || strings.HasPrefix(f.File, "??") {
			f.File, f.Line = "", 0
		}
		known = known || f.Function != ""
	}
	if !known {
		return nil
	}
	return a
}

// flat is an answer as those give it that know no inlined calls.
func (a answer) flat() answer {
	if len(a) < 2 {
		return a
	}
	return answer{{a[len(a)-1].Function, a[0].File, a[0].Line}}
}

func (a answer) String() string {
	if len(a) == 0 {
		return "nothing"
	}
	var parts []string
	for _, f := range a {
		text := cmp.Or(f.Function, "?")
		if f.Line != 0 {
			text += fmt.Sprintf(" %s:%d", path.Base(f.File), f.Line)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " < ")
}

// difference names the first kind of difference of two answers.
func difference(ours, theirs answer) string {
	switch {
	case len(ours) == 0 && len(theirs) > 0:
		return "missing"
	case len(ours) > 0 && len(theirs) == 0:
		return "unexpected"
	case len(ours) != len(theirs):
		return "depth"
	}
	kinds := make([]string, 4) // the weightiest first
	for i, f := range ours {
		switch g := theirs[i]; {
		case f.Function != g.Function && g.Function != unnamed && base(f.Function) != base(g.Function):
			kinds[0] = "function"
		case !sameFile(f.File, g.File):
			kinds[1] = "file"
		case f.Line != g.Line && i == 0:
			kinds[2] = "line_inner"
		case f.Line != g.Line:
			kinds[3] = "line_call"
		}
	}
	return cmp.Or(kinds...)
}
