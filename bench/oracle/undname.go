package oracle

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/demangle"
)

// decorated is how a name of MSVC stands in an image or an object file.
var decorated = regexp.MustCompile(`\.?\?[\w?$@.<>-]+@[\w?$@.<>-]*\x00`)

// msvcNames is the names of MSVC of a case: the public symbols of a PDB, and
// what stands in the image and in the object files that it was made of.
func msvcNames(k kase, q question) (list []string) {
	if q.kind == kindELF {
		return nil
	}
	if q.dump != nil {
		for _, p := range q.dump.publics {
			if strings.HasPrefix(p.name, "?") {
				list = append(list, p.name)
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(k.dir, "*.o"))
	if k.dir == "" {
		files = nil
	}
	for _, file := range append(files, k.path, k.image) {
		data, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, ".pdb") || strings.HasPrefix(string(data), "BC") {
			continue // bitcode has one name behind the other
		}
		for _, name := range decorated.FindAll(data, -1) {
			list = append(list, string(name[:len(name)-1]))
		}
	}
	return list
}

// compareNames compares our LLVM style of names with that of llvm-undname under
// the flags of llvm-symbolizer, and reports whether enough names agree. Names
// that llvm-undname cannot read do not count.
func (p *report) compareNames(ctx context.Context) bool {
	tool, names := tool("llvm-undname"), slices.Sorted(maps.Keys(p.names))
	if tool == "" {
		fmt.Println("\nnot installed, names of MSVC are not compared: llvm-undname")
	}
	if tool == "" || len(names) == 0 {
		return true
	}
	cmd := exec.CommandContext(ctx, tool, "--no-access-specifier", "--no-calling-convention", "--no-member-type", "--no-return-type")
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, _ := cmd.Output() // it fails if it does not read all of them
	var all score
	kinds, first := map[string]int{}, map[string]string{}
	lines := strings.Split(string(out), "\n")
	for _, name := range names {
		if len(lines) < 2 || lines[0] != name {
			fmt.Printf("\nllvm-undname ends before %s\n", name)
			return false
		}
		theirs, ours, kind := lines[1], demangle.Name(name, demangle.LLVM), ""
		if lines = lines[2:]; theirs != "" {
			lines = lines[1:] // an empty one
			all.count(ours == theirs)
		}
		switch {
		case ours == theirs || theirs == "" && ours == name:
			continue
		case theirs == "":
			kind = "read by us only"
		case ours == name:
			kind = "read by llvm-undname only"
		default:
			kind = "read otherwise"
		}
		if kinds[kind]++; kinds[kind] == 1 || p.verbose && kinds[kind] <= 40 {
			first[kind] += fmt.Sprintf("\n        %s\n            ours   %s\n            theirs %s", name, ours, theirs)
		}
	}
	fmt.Printf("\n%s %% of %d names of MSVC spelled as by llvm-undname, of %d in all\n", all, all.asked, len(names))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Printf("    %s: %d, first%s\n", kind, kinds[kind], first[kind])
	}
	return 100*float64(all.same) >= p.least*float64(all.asked)
}
