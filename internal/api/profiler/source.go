package profiler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// maxSource limits a source file that is sent.
const maxSource = 16 << 20

// sourceAnswer is the answer of /source/v1. The times are always null, as in samply.
type sourceAnswer struct {
	SymbolsLastModified *string `json:"symbolsLastModified"`
	SourceLastModified  *string `json:"sourceLastModified"`
	File                string  `json:"file"`
	Source              string  `json:"source"`
}

// source answers /source/v1.
func (d *Door) source(r *http.Request, g *token.Grant, body []byte) (any, error) {
	q, err := decode(body)
	if err != nil {
		return nil, err
	}
	m, err := module(q.DebugName, q.DebugID)
	if err != nil {
		return nil, err
	}
	offset, err := address("moduleOffset", q.ModuleOffset)
	if err != nil {
		return nil, err
	}
	res, err := d.lookUp(r.Context(), g, &symbolicate.Request{Modules: []ident.Module{m}, Sources: true}, offset)
	if err != nil {
		return nil, err
	}
	defer res.Release()
	if err := names(res, q.File); err != nil {
		return nil, err
	}
	text, err := d.text(r.Context(), g, res, q.File)
	if err != nil {
		return nil, err
	}
	if len(text) > maxSource {
		return nil, fmt.Errorf("read %.300q: larger than %d bytes", q.File, maxSource)
	}
	if err := api.Reserve(r, 3*int64(len(text))); err != nil { // text, answer and a part of it
		return nil, err
	}
	return sourceAnswer{File: q.File, Source: string(text)}, nil
}

// names returns an error unless a frame of a lookup has the path of a file.
func names(res *symbolicate.Result, file string) error {
	m := &res.Modules[0]
	if !m.Found && m.Report.Fault != nil {
		return missing("symbols", m.Report.Fault)
	}
	frames, err := res.Frames(0)
	if err != nil {
		return err
	}
	hasFile := false
	for i := range frames {
		if frames[i].File == 0 {
			continue
		}
		hasFile = true
		if path, _ := res.AppendFile(nil, 0, frames[i].File); string(path) == file {
			return nil
		}
	}
	if !hasFile {
		return errors.New("the symbols of the module have no file for moduleOffset")
	}
	return fmt.Errorf("invalid file %.300q: must be the file of a frame at moduleOffset", file)
}

// text returns the text of a file that the debug information names.
func (d *Door) text(ctx context.Context, g *token.Grant, res *symbolicate.Result, file string) ([]byte, error) {
	text, link := res.Source(0, file)
	if text != nil {
		return text, nil
	}
	why := []string{"the debug files of the module do not have its text"}
	if link != "" {
		why[0] += ", only a link to it: " + link
	}
	if program := res.Modules[0].CodeID; !program.IsZero() {
		text, err := d.deps.Source(ctx, g, program, file)
		if err == nil {
			return text, nil
		}
		if fault.KindOf(err) != fault.NotFound {
			why = append(why, missing("it with debuginfod", err).Error())
		}
	}
	text, err := d.read(file)
	if err == nil {
		return text, nil
	}
	return nil, fmt.Errorf("read %.300q: %s", file, strings.Join(append(why, err.Error()), "; "))
}

// read reads a source file from this machine, if that is allowed.
func (d *Door) read(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		return nil, errors.New("its path is not one of this machine")
	}
	if d.deps.HasFiles {
		return readFile(os.Stat, os.Open, name)
	}
	var last error
	for _, dir := range d.cfg.SourceFolders {
		below, err := filepath.Rel(dir, name)
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		var root *os.Root
		if root, last = os.OpenRoot(dir); last != nil {
			continue
		}
		text, err := readFile(root.Stat, root.Open, below)
		root.Close()
		if err == nil {
			return text, nil
		}
		last = err
	}
	if last == nil {
		return nil, errors.New("it is not in a folder of profiler.source_folders")
	}
	return nil, cause(last)
}

// readFile reads a regular file of at most maxSource bytes.
func readFile(stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error), name string) ([]byte, error) {
	info, err := stat(name)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSource {
		return nil, fmt.Errorf("it is not a file of at most %d bytes on this machine", maxSource)
	}
	f, err := open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	return slices.Clip(text), err
}

// cause returns the error of a system call without its path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
