//go:build oracle

package itanium_test

import (
	"bytes"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/demangle/core"
)

// oracleLibraries are files with many C++ symbols.
var oracleLibraries = []string{
	"/usr/lib/x86_64-linux-gnu/libLLVM*.so*", "/usr/lib/x86_64-linux-gnu/libclang*.so*", "/usr/lib/x86_64-linux-gnu/libstdc++.so*",
	"/usr/lib/x86_64-linux-gnu/librbd.so*", "/usr/lib/x86_64-linux-gnu/libboost*.so*", "/usr/lib/x86_64-linux-gnu/libicu*.so*",
}

// symbolNames returns the C++ symbols of the libraries that are installed.
func symbolNames(t *testing.T) []string {
	var names []string
	for _, pattern := range oracleLibraries {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			file, err := elf.Open(path)
			if err != nil {
				continue
			}
			symbols, _ := file.DynamicSymbols()
			for _, s := range symbols {
				if strings.HasPrefix(s.Name, "_Z") {
					names = append(names, s.Name)
				}
			}
			file.Close()
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// normalize removes the differences in spelling between versions of a tool, and
// those that are not bugs of ours: see the changes in each line.
func normalize(s string) string {
	s = strings.NewReplacer(
		"> >", ">>", "> >", ">>", // before C++11
		"std::basic_ostream<char, std::char_traits<char>>", "std::ostream", // c++filt is verbose
		"std::basic_istream<char, std::char_traits<char>>", "std::istream",
		"std::basic_iostream<char, std::char_traits<char>>", "std::iostream",
	).Replace(strings.ReplaceAll(s, "> >", ">>"))
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ()", r) { // LLVM before 15 had more parentheses
			return -1
		}
		return r
	}, s)
}

func TestOraclesAgree(t *testing.T) {
	names := append(symbolNames(t), goldenNames(t)...)
	for _, x := range []struct {
		program string
		style   core.Style
		least   float64 // percent of the names
	}{{"llvm-cxxfilt", core.LLVM, 99.5}, {"c++filt", core.Full, 99.5}} {
		cmd := exec.Command(x.program)
		cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("run %s: %v", x.program, err)
			continue
		}
		equal, shown := 0, 0
		for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
			got := demangle(names[i], x.style)
			if normalize(got) == normalize(string(line)) {
				equal++
			} else if shown++; shown <= 30 {
				t.Logf("%s:\n got %s\n%s %s", names[i], got, x.program, line)
			}
		}
		percent := 100 * float64(equal) / float64(len(names))
		t.Logf("%s: %d of %d names equal, %.2f %%", x.program, equal, len(names), percent)
		if percent < x.least {
			t.Errorf("%s: %.2f %% equal, want %.2f", x.program, percent, x.least)
		}
	}
}
