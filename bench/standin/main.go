// Package standin compares what symbolon prints in the place of addr2line and
// llvm-symbolizer with what those print, line by line, over addresses of real
// files.
//
//	go run ./bench standin -symbolon BIN [-n 2000] [-seed 1] [-least 0] FILE...
//
// The addresses are drawn from the functions of the symbol table of each FILE,
// and always the same. For each file and set of flags it prints the share of
// equal lines, and for each class of difference how often it is met and the
// first one. It fails if a share is below -least.
package standin

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// set is a tool and how it is called.
type set struct {
	tool  string
	flags string
}

// sets are the ways these tools are used most. All print addresses, which
// keeps both outputs in step.
var sets = []set{
	{"addr2line", "-a"},
	{"addr2line", "-a -f"},
	{"addr2line", "-a -f -C -i"},
	{"addr2line", "-a -f -C -i -p"},
	{"addr2line", "-a -f -i -s"},
	{"llvm-symbolizer", "-a"},
	{"llvm-symbolizer", "-a -p -s"},
	{"llvm-symbolizer", "-a --no-inlines --no-demangle"},
	{"llvm-symbolizer", "-a --output-style=GNU"},
	{"llvm-symbolizer", "-a --functions=short"},
	{"llvm-symbolizer", "-a --functions=none"},
}

// Run runs the comparison with the arguments of its command line. It reports
// whether no share is below -least.
func Run(_ context.Context, args []string) (ok bool, err error) {
	fs := flag.NewFlagSet("standin", flag.ExitOnError)
	ours := fs.String("symbolon", "", "the `BIN` to judge")
	n := fs.Int("n", 2000, "addresses of each file")
	seed := fs.Int64("seed", 1, "draws the addresses")
	least := fs.Float64("least", 0, "the least share of equal lines, in percent")
	only := fs.String("only", "", "judge this tool only")
	classes := fs.Int("classes", 6, "print so many classes of each")
	_ = fs.Parse(args) // it exits
	return judge(*ours, fs.Args(), func(file string) ([]uint64, error) {
		return addresses(file, *n, *seed)
	}, report{*least, *only, *classes})
}

// report has the settings of the comparison.
type report struct {
	least   float64
	only    string
	classes int
}

// judge runs all sets over all files.
func judge(ours string, files []string, draw func(string) ([]uint64, error), r report) (ok bool, err error) {
	ours, err = filepath.Abs(ours)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "standin-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	likeTheirs()
	ok = true
	for _, file := range files {
		addrs, err := draw(file)
		if err != nil {
			fmt.Printf("%-40s left out: %v\n", filepath.Base(file), err)
			continue
		}
		var in bytes.Buffer
		for _, a := range addrs {
			fmt.Fprintf(&in, "0x%x\n", a)
		}
		for _, s := range sets {
			if r.only != "" && r.only != s.tool {
				continue
			}
			theirs, err := exec.LookPath(s.tool)
			if err != nil {
				continue
			}
			link := filepath.Join(dir, s.tool)
			if err := os.Symlink(ours, link); err != nil && !errors.Is(err, os.ErrExist) {
				return false, err
			}
			args := append(strings.Fields(s.flags), "-e", file)
			want, err := output(theirs, args, in.Bytes())
			if err != nil {
				return false, err
			}
			got, err := output(link, args, in.Bytes())
			if err != nil {
				return false, err
			}
			c := compare(want, got)
			fmt.Printf("%-28s %-16s %-30s %6d of %6d lines equal  %6.2f %%\n",
				filepath.Base(file), s.tool, s.flags, c.equal, c.total, c.share())
			c.tell(r.classes)
			ok = ok && c.share() >= r.least
		}
	}
	return ok, nil
}

// likeTheirs makes ours print what the version of LLVM prints that is installed.
func likeTheirs() {
	out, err := exec.Command("llvm-symbolizer", "--version").Output()
	if err == nil && strings.Contains(string(out), "LLVM version 14.") {
		os.Setenv("SYMBOLON_LLVM", "14")
	}
}

func output(program string, args []string, in []byte) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), err
}

// addresses draws addresses from the functions of a file.
func addresses(name string, n int, seed int64) ([]uint64, error) {
	f, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	all = slices.DeleteFunc(append(all, dynamic...), func(s elf.Symbol) bool {
		return elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || s.Section == elf.SHN_UNDEF
	})
	if len(all) == 0 {
		return nil, errors.New("no functions in its symbol table")
	}
	random := rand.New(rand.NewSource(seed))
	var list []uint64
	for range n {
		s := all[random.Intn(len(all))]
		list = append(list, s.Value+uint64(random.Int63n(int64(s.Size))))
	}
	return list, nil
}

// comparison is what came of two outputs.
type comparison struct {
	equal, total int
	counts       map[string]int
	first        map[string]string
}

func (c *comparison) share() float64 { return 100 * float64(c.equal) / float64(max(c.total, 1)) }

// compare compares the blocks of two outputs, which are equally many.
func compare(want, got string) *comparison {
	c := &comparison{counts: map[string]int{}, first: map[string]string{}}
	w, g := blocks(want), blocks(got)
	for i := range max(len(w), len(g)) {
		var a, b []string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		c.total += max(len(a), len(b))
		told := false
		for k := range max(len(a), len(b)) {
			if k < len(a) && k < len(b) && a[k] == b[k] {
				c.equal++
				continue
			}
			class := classify(a, b, k)
			c.counts[class]++
			if !told && c.first[class] == "" {
				c.first[class] = fmt.Sprintf("%s\n      theirs %s\n      ours   %s", a[0], strings.Join(a[min(1, len(a)):], " | "), strings.Join(b[min(1, len(b)):], " | "))
			}
			told = true
		}
	}
	return c
}

// blocks cuts an output where addresses are printed.
func blocks(text string) [][]string {
	var list [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "0x") || len(list) == 0 {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], line)
	}
	return list
}

// classify says in which way line k of two blocks differs.
func classify(want, got []string, k int) string {
	if len(want) != len(got) {
		return "depth"
	}
	a, b := want[k], got[k]
	if short, _, found := strings.Cut(a, " (discriminator "); found && short == b {
		return "discriminator"
	}
	unknown := func(s string) bool { return strings.HasPrefix(s, "??") || strings.Contains(s, " ??:") }
	switch i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/'); {
	case unknown(a):
		return "theirs unknown"
	case unknown(b):
		return "ours unknown"
	case i < 0 && j < 0 && !strings.Contains(a, ":"):
		return "name"
	case i >= 0 && j >= 0 && a[:i] == b[:j]:
		return "line"
	}
	return "name or file"
}

// tell prints the classes, the largest first.
func (c *comparison) tell(most int) {
	var names []string
	for name := range c.counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return c.counts[b] - c.counts[a] })
	for _, name := range names[:min(most, len(names))] {
		fmt.Printf("    %-14s %5d lines, first %s\n", name, c.counts[name], c.first[name])
	}
}
