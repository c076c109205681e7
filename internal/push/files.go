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
	name  string
	debug string // its debug file; empty: what is found
	named bool   // on the command line: it is to be pushed
	// The package that would have the debug information of a file of a package,
	// which is left out without it; empty: the file is of no package.
	debugPackage string
}

// targets finds the files to push.
type targets struct {
	ctx  context.Context
	fail func(name string, err error)
	list []target
}

// add adds a file, those of a folder, or what a pattern says.
func (t *targets) add(name string) {
	st, err := os.Stat(name)
	if err != nil && errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[") {
		found, bad := filepath.Glob(name)
		if bad == nil && len(found) == 0 {
			bad = errors.New("no file is like that")
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
		t.folder(name)
	case !st.Mode().IsRegular():
		t.fail(name, errors.New("it is not a regular file"))
	default:
		t.file(target{name: name, named: true})
	}
}

// file adds a file if it is a program or a shared object.
func (t *targets) file(f target) {
	ok, err := runs(f.name)
	switch {
	case err != nil:
		t.fail(f.name, err)
	case ok:
		t.list = append(t.list, f)
	case f.named:
		t.fail(f.name, errors.New("it is no ELF program or shared object"))
	}
}

// folder adds the files of a folder and those below it.
func (t *targets) folder(name string) {
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
			t.file(target{name: path})
		}
		return nil
	})
	if err != nil && t.ctx.Err() == nil {
		t.fail(name, err)
	}
}

// pack adds the files of an installed package.
func (t *targets) pack(name string) {
	if name == "" || strings.HasPrefix(name, "-") {
		t.fail(name, errors.New("no package has this name"))
		return
	}
	files, debug, err := packageFiles(t.ctx, name)
	if err != nil {
		t.fail(name, err)
	}
	for _, f := range files {
		if st, err := os.Lstat(f); err == nil && st.Mode().IsRegular() { // one that is listed need not be installed
			t.file(target{name: f, debugPackage: debug})
		}
	}
}

// packageTools are the commands of package databases that list the files of a
// package, and how the name of the package with its debug information ends.
var packageTools = [...]struct {
	list  []string
	debug string
}{
	{[]string{"dpkg", "-L"}, "-dbgsym"},
	{[]string{"rpm", "-ql"}, "-debuginfo"},
	{[]string{"apk", "info", "-L"}, "-dbg"},
}

// packageFiles asks the databases of this machine for the files of a package. It
// also returns the package that has their debug information.
func packageFiles(ctx context.Context, name string) (files []string, debug string, err error) {
	base, arch, hasArch := strings.Cut(name, ":")
	if hasArch {
		arch = ":" + arch
	}
	said := ""
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
			said += "; " + first
		}
	}
	return nil, "", fmt.Errorf("no package of this name is known to dpkg, rpm or apk of this machine%s", said)
}

// runs says whether a file is an ELF program or shared object.
func runs(name string) (bool, error) {
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
