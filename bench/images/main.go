//go:build linux

// Package images times what linked binaries cost: the build of their tables, lookups in
// them, one address from a cold start. Beside it runs what bench/rivals builds
// of the peers, and the ratios are printed.
//
//	cargo build --release --manifest-path bench/rivals/Cargo.toml --target-dir DIR
//	go run ./bench images [-rivals DIR/release/rivals] [-symbolon BIN] FILE...
//
// Each figure is the median of three runs in processes of their own. CPU is user
// and system time of the process.
package images

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Run runs the benchmark with the arguments of its command line.
func Run(_ context.Context, args []string) error {
	fs := flag.NewFlagSet("images", flag.ExitOnError)
	phase := fs.String("phase", "", "what a process of the measurement does; empty: all of it")
	rivals := fs.String("rivals", "", "the program that bench/rivals builds")
	binary := fs.String("symbolon", "", "our binary, for one address from a cold start")
	addrs := fs.String("addresses", "", "a file of addresses, for a phase")
	_ = fs.Parse(args) // it exits
	if *phase != "" {
		return work(*phase, fs.Arg(0), *addrs)
	}
	if fs.NArg() == 0 {
		return errors.New("missing FILE")
	}
	tmp, err := os.MkdirTemp("", "symbolon-images-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	fmt.Println("| File | Figure | ours | peer | ratio |\n|---|---|---|---|---|")
	for _, file := range fs.Args() {
		if err := measure(file, *rivals, *binary, tmp); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// figures are what runs printed: the values of each name.
type figures map[string][]float64

// run runs a program three times and takes down what it prints.
func (f figures) run(times int, env []string, name string, args ...string) error {
	for range times {
		c := exec.Command(name, args...)
		c.Env, c.Stderr = append(os.Environ(), env...), os.Stderr
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			key, value, _ := strings.Cut(lines.Text(), " ")
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				f[key] = append(f[key], v)
			}
		}
	}
	return nil
}

func (f figures) median(name string) (float64, bool) {
	list := slices.Sorted(slices.Values(f[name]))
	if len(list) == 0 {
		return 0, false
	}
	return list[len(list)/2], true
}

const runs = 3

func measure(file, rivals, binary, tmp string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	addrs := filepath.Join(tmp, "addresses")
	got := figures{}
	if err := got.run(1, nil, self, "images", "-phase", "addresses", "-addresses", addrs, file); err != nil {
		return err
	}
	one := []string{"GOMAXPROCS=1"}
	if err := got.run(runs, one, self, "images", "-phase", "build", file); err != nil {
		return err
	}
	if err := got.run(runs, nil, self, "images", "-phase", "wide", file); err != nil {
		return err
	}
	if err := got.run(runs, one, self, "images", "-phase", "lookup", "-addresses", addrs, file); err != nil {
		return err
	}
	if binary != "" {
		if err := got.cold(binary, file, addrs); err != nil {
			return err
		}
	}
	if rivals != "" {
		if err := got.run(runs, nil, rivals, file, addrs); err != nil {
			return err
		}
	}
	got.print(filepath.Base(file))
	return nil
}

// cold is one address from the start of the process to its end.
func (f figures) cold(binary, file, addrs string) error {
	text, err := os.ReadFile(addrs)
	if err != nil {
		return err
	}
	for _, addr := range strings.Fields(string(text))[:20] {
		c := exec.Command(binary, "resolve", file, addr)
		if err := c.Run(); err != nil {
			return err
		}
		used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		f["cold"] = append(f["cold"], used.Seconds())
	}
	return nil
}

// print writes a row for each figure, with that of a peer where there is one.
func (f figures) print(name string) {
	for _, row := range []struct{ what, ours, peer, unit string }{
		{"table build, CPU", "build", "symbolic-build-cpu", "s"},
		{"anonymous memory, peak", "anonymous-kB", "symbolic-anonymous-kB", "kB"},
		{"table", "bytes", "symbolic-bytes", "B"},
		{"lookup, random", "random-ns", "symbolic-random-ns", "ns"},
		{"lookup, sorted", "sorted-ns", "symbolic-sorted-ns", "ns"},
		{"one address, cold, CPU", "cold", "addr2line-one-cpu", "s"},
		{"two cores, wall against one", "wide", "narrow", "s"},
	} {
		ours, ok := f.median(row.ours)
		if !ok {
			continue
		}
		peer, ok := f.median(row.peer)
		ratio, theirs := "", ""
		if ok {
			ratio, theirs = fmt.Sprintf("%.3f", ours/peer), fmt.Sprintf("%.4g %s", peer, row.unit)
		}
		fmt.Printf("| %s | %s | %.4g %s | %s | %s |\n", name, row.what, ours, row.unit, theirs, ratio)
	}
}

// used is the CPU time of this process.
func used() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // cannot fail
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// anonymous is how much memory that is of no file the process has, in kB.
func anonymous() int {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return n
		}
	}
	return 0
}

// watch measures the anonymous memory until stop is closed, and gives the most.
func watch(stop chan struct{}) int {
	most := 0
	for {
		most = max(most, anonymous())
		select {
		case <-stop:
			return most
		case <-time.After(2 * time.Millisecond):
		}
	}
}
