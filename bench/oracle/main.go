// Package oracle compares what symbolon answers with what other symbolizers answer.
//
//	go run ./bench oracle [-v] [-least 99.5] [-only GLOB] [-keep] [FILE...]
//
// It builds symbolon, compiles the programs below src with every compiler that
// is installed in every form that it knows (versions of DWARF, levels of
// optimization, split, compressed, relocatable, stripped and so on), those for
// Windows with PDBs too, adds the machine's own libraries and each FILE, chooses
// addresses of each, and asks llvm-symbolizer, addr2line, eu-addr2line, "go tool
// addr2line", the Python package symbolic and what llvm-pdbutil dumps, those that
// are installed. An address is agreed on if one of them gives our answer: no two
// of them agree everywhere, and each is wrong somewhere. It fails if fewer than
// -least percent are agreed on, if fewer of the names of MSVC are spelled as
// llvm-undname spells them, if the way through a table gives another answer than
// the direct one, or if none of them is installed.
package oracle

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"symbolon/bench/standin"
)

// options is what the flags say.
type options struct {
	least   float64
	verbose bool
	only    string
	keep    bool
	binary  string
	files   []string
}

// Run runs the comparison with the arguments of its command line. It reports
// whether enough addresses agree.
func Run(ctx context.Context, args []string) (ok bool, err error) {
	var o options
	fs := flag.NewFlagSet("oracle", flag.ExitOnError)
	fs.Float64Var(&o.least, "least", 99.5, "fail below this share of addresses that are agreed on, in `percent`")
	fs.BoolVar(&o.verbose, "v", false, "also print where most others differ from us, not only where all do")
	fs.StringVar(&o.only, "only", "*", "files whose name matches this `GLOB` only, like 'c++ clang* *' or 'given *'")
	fs.BoolVar(&o.keep, "keep", false, "keep the folder with the files that were made")
	fs.StringVar(&o.binary, "symbolon", "", "compare this `BINARY`, not one that is built now")
	_ = fs.Parse(args) // it exits
	o.files = fs.Args()
	return compare(ctx, o)
}

// compare does everything in a folder of its own.
func compare(ctx context.Context, o options) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "oracle-*")
	if err != nil {
		return false, err
	}
	if o.keep {
		fmt.Println("files in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	if o.binary == "" {
		o.binary = filepath.Join(dir, "symbolon")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "./cmd/symbolon").CombinedOutput(); err != nil {
			return false, fmt.Errorf("build symbolon: %w\n%s", err, out)
		}
	}
	if err := os.CopyFS(dir, sources); err != nil {
		return false, err
	}
	ask, err := newAsker(ctx, o)
	if err != nil {
		return false, err
	}
	report := newReport(ask)
	list := cases(dir, o)
	results, room := make([]chan *result, len(list)), make(chan bool, runtime.NumCPU())
	for i := range results {
		results[i] = make(chan *result, 1)
	}
	go func() {
		for i, c := range list {
			room <- true
			go func() {
				results[i] <- ask.judge(ctx, c)
				<-room
			}()
		}
	}()
	for _, r := range results {
		report.add(<-r)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	ok = report.compareNames(ctx)
	ok = report.end() && ok
	return standIn(ctx, o, report.samples) && ok, nil
}

// standIn compares what symbolon prints as addr2line and llvm-symbolizer with
// the output of the originals, over some of the files.
func standIn(ctx context.Context, o options, samples []string) bool {
	if len(samples) == 0 || tool("addr2line") == "" || tool("llvm-symbolizer") == "" {
		return true
	}
	fmt.Println("\nin the place of addr2line and llvm-symbolizer:")
	ok, err := standin.Run(ctx, append([]string{"-symbolon", o.binary, "-n", "300", "-classes", "1"}, samples...))
	if err != nil {
		fmt.Println(err)
	}
	return ok && err == nil
}
