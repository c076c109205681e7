package oracle

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed src
var sources embed.FS

// kase is one file to be looked at, and the scripts that make it, if any.
type kase struct {
	name, path string
	image      string // the program whose PDB it is
	dir        string // where it is made
	scripts    []string
}

// form is a way to make a file, as src/forms.txt explains.
type form struct{ name, flags, link, then string }

// formsOf reads the forms of a language.
func formsOf(language string) (list []form) {
	text, _ := sources.ReadFile("src/forms.txt")
	own := false
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			own = slices.Contains(strings.Fields(strings.Trim(line, "[]")), language)
		case own:
			part := append(strings.Split(line, "|"), "", "", "")
			list = append(list, form{strings.TrimSpace(part[0]), strings.TrimSpace(part[1]), part[2], part[3]})
		}
	}
	return list
}

// cases lists all files, made and found.
func cases(dir string, o options) (list []kase) {
	for _, cc := range []string{"gcc", "clang"} {
		list = append(list, native(dir, "c", cc, "loom.c", "pattern.c", "raw.s")...)
	}
	for _, cc := range []string{"g++", "clang++"} {
		list = append(list, native(dir, "c++", cc, "orchard.cc", "grove.cc")...)
	}
	for _, f := range formsOf("rust") {
		list = append(list, made(dir, "rust rustc "+f.name, "rustc "+f.flags+" -o $out $src/harbor.rs"))
	}
	for _, f := range formsOf("go") {
		build := "go build -o $out " + f.flags + " $src/testdata/mill.go"
		list = append(list, made(dir, "go go "+f.name, build))
		if f.name != "stripped" { // the other symbolizers cannot read those
			list = append(list, made(dir, "go windows "+f.name, "GOOS=windows "+build))
		}
	}
	list = append(list, windows(dir)...)
	list = append(list, wasm(dir)...)
	list = append(list, kase{name: "go symbolon", path: o.binary})
	for _, file := range machine() {
		list = append(list, kase{name: "machine " + file, path: file})
	}
	for _, file := range o.files {
		list = append(list, given(file))
	}
	return slices.DeleteFunc(list, func(k kase) bool {
		match, err := path.Match(o.only, strings.ReplaceAll(k.name, "/", "_"))
		return err == nil && !match
	})
}

// native is the cases of one compiler and the units of one program.
func native(dir, language, cc string, units ...string) (list []kase) {
	objects, files := "", ""
	for i, unit := range units {
		objects += fmt.Sprintf(" %d.o", i)
		files += " $src/" + unit
	}
	for _, f := range formsOf(language) {
		if strings.HasPrefix(f.name, "object") && language != "c" {
			continue
		}
		var scripts []string
		for i, unit := range units {
			scripts = append(scripts, fmt.Sprintf("%s %s -c $src/%s -o %d.o", cc, f.flags, unit, i))
		}
		if whole, split := strings.CutSuffix(f.flags, " -gsplit-dwarf"); split && !strings.HasSuffix(f.name, "lost") {
			scripts = append(scripts, cc+" "+whole+files+" -o reference")
		}
		scripts = append(scripts, fmt.Sprintf("%s %s %s%s -o $out", cc, f.flags, f.link, objects), f.then)
		list = append(list, made(dir, strings.Join([]string{language, cc, f.name}, " "), scripts...))
	}
	return list
}

func made(dir, name string, scripts ...string) kase {
	own := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
	return kase{name: name, path: filepath.Join(own, "sample"), dir: own, scripts: scripts}
}

// machine lists a few libraries and debug files of this machine.
func machine() (list []string) {
	for _, pattern := range []string{"/lib/*/libc.so.6", "/usr/lib/*/libstdc++.so.6", "/lib/*/ld-linux*.so*", "/usr/lib/*/libpython3*.so*"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			list = append(list, found[0])
		}
	}
	// Files that cannot be listed count as missing.
	debug, _ := filepath.Glob("/usr/lib/debug/.build-id/*/*.debug")
	return append(list, debug[:min(4, len(debug))]...)
}

// make runs what makes a file.
func (k kase) make(ctx context.Context) error {
	if len(k.scripts) == 0 {
		_, err := os.Stat(k.path)
		return err
	}
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return err
	}
	for _, script := range k.scripts {
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Dir = k.dir
		// There are files on which llvm-dwp does not end.
		cmd.Env = append(os.Environ(), "out=sample", "src="+filepath.Join(filepath.Dir(k.dir), "src"), "dwp=timeout 20 "+tool("llvm-dwp", "dwp"), "LC_ALL=C")
		if text, err := cmd.CombinedOutput(); err != nil {
			return errors.New(cmp.Or(complaint(text), err.Error()))
		}
	}
	return nil
}

// complaint is the first line in which a program tells of an error, or the
// last one.
func complaint(text []byte) (line string) {
	for line = range strings.Lines(string(text)) {
		if strings.Contains(line, "error") || strings.Contains(line, "not found") {
			break
		}
	}
	return strings.TrimSpace(line)
}

// tool finds a program by one of its names.
func tool(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
