package push

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// target is a file to push.
type target struct {
	name    string
	isNamed bool // on the command line: a file that cannot be pushed is an error
	// debugPackage is set for a file of an installed package: the package with the
	// debug information, without which the file is skipped.
	debugPackage string
}

// targets collects the files to push.
type targets struct {
	ctx  context.Context
	fail func(name string, err error)
	list []target
}

// add adds a file, the files of a folder, or those that match a pattern.
func (t *targets) add(name string) {
	st, err := os.Stat(name)
	if err != nil && errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[") {
		found, bad := filepath.Glob(name)
		if bad == nil && len(found) == 0 {
			bad = errors.New("no file matches the pattern")
		}
		if bad != nil {
			t.fail(name, bad)
		}
		for _, f := range found {
			t.add(f)
		}
		return
	}
	switch {
	case err != nil:
		t.fail(name, err)
	case st.IsDir():
		t.addFolder(name)
	case !st.Mode().IsRegular():
		t.fail(name, errors.New("not a regular file"))
	default:
		t.addFile(target{name: name, isNamed: true})
	}
}

// addFile adds a file if it is a program or a shared object.
func (t *targets) addFile(f target) {
	ok, err := isProgram(f.name)
	switch {
	case err != nil:
		t.fail(f.name, err)
	case ok:
		t.list = append(t.list, f)
	case f.isNamed:
		t.fail(f.name, errors.New("not an ELF program or shared object"))
	}
}

// addFolder adds the files of a folder and of the folders in it.
func (t *targets) addFolder(name string) {
	root, err := filepath.EvalSymlinks(name)
	if err != nil {
		t.fail(name, err)
		return
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case t.ctx.Err() != nil:
			return context.Cause(t.ctx)
		case err != nil:
			t.fail(path, err)
		case d.Type().IsRegular():
			t.addFile(target{name: path})
		}
		return nil
	})
	if err != nil && t.ctx.Err() == nil {
		t.fail(name, err)
	}
}

// addPackage adds the files of an installed package.
func (t *targets) addPackage(name string) {
	if name == "" || strings.HasPrefix(name, "-") {
		t.fail(name, errors.New("invalid name of a package"))
		return
	}
	files, debug, err := packageFiles(t.ctx, name)
	if err != nil {
		t.fail(name, err)
	}
	for _, f := range files {
		if st, err := os.Lstat(f); err == nil && st.Mode().IsRegular() { // packages list files that the system excluded
			t.addFile(target{name: f, debugPackage: debug})
		}
	}
}

// packageTools are the commands that list the files of a package, with the suffix
// of the name of the package with its debug information.
var packageTools = [...]struct {
	list  []string
	debug string
}{
	{[]string{"dpkg", "-L"}, "-dbgsym"},
	{[]string{"rpm", "-ql"}, "-debuginfo"},
	{[]string{"apk", "info", "-L"}, "-dbg"},
}

// packageFiles returns the files of an installed package, and the name of the
// package with their debug information.
func packageFiles(ctx context.Context, name string) (files []string, debug string, err error) {
	base, arch, hasArch := strings.Cut(name, ":")
	if hasArch {
		arch = ":" + arch
	}
	reasons := ""
	for _, tool := range packageTools {
		path, err := exec.LookPath(tool.list[0])
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, path, append(slices.Clone(tool.list[1:]), name)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		var files []string
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSuffix(line, "\n")
			if tool.list[0] == "apk" && line != "" && !strings.HasSuffix(line, " contains:") {
				line = "/" + line
			}
			if filepath.IsAbs(line) {
				files = append(files, line)
			}
		}
		if err == nil && len(files) > 0 {
			return files, base + tool.debug + arch, nil
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); first != "" {
			reasons += "; " + first
		}
	}
	return nil, "", fmt.Errorf("the package is unknown to dpkg, rpm and apk of this machine%s", reasons)
}

// isProgram reports whether a file is an ELF program or shared object.
func isProgram(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 18)
	n, err := io.ReadFull(f, head)
	if n < len(head) || !bytes.HasPrefix(head, []byte("\x7fELF")) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return false, err
	}
	kind := binary.LittleEndian.Uint16(head[16:])
	if head[5] == 2 {
		kind = binary.BigEndian.Uint16(head[16:])
	}
	return kind == 2 || kind == 3, nil
}
