package send

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/archive"
	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/srcbundle"
)

// A File is a debug file to upload.
type File struct {
	Path    string // for people; in an archive, after the path of the archive
	Kind    string // of the format: "elf", "pdb"
	Modules []ident.Module
	bin.Source
}

// Name returns the name of the file without folders.
func (f *File) Name() string {
	slash := filepath.ToSlash(f.Path)
	return slash[strings.LastIndexByte(slash, '/')+1:]
}

// reader returns a reader of the whole file.
func (f *File) reader() io.Reader { return io.NewSectionReader(f, 0, f.Size()) }

// Skipped counts the files that are not uploaded.
type Skipped struct {
	Other    int        // files of other kinds
	Nameless []Nameless // debug files without an id
}

// Nameless is a debug file without an id.
type Nameless struct{ Path, Why string }

// A Target takes files: a Remote or a Local.
type Target interface {
	Add(ctx context.Context, f *File) error // the bytes of f are valid until it returns
	Flush(ctx context.Context) error
}

// Upload adds all debug files of paths to a target, until one of its methods fails. If
// sources is not empty, it also adds a bundle of the sources of each file that this
// folder has. It calls failed for a path, or a file of an archive, that cannot be read.
func Upload(ctx context.Context, to Target, paths []string, sources string, failed func(path string, err error)) (Skipped, error) {
	x := &finder{to: to, sources: sources, failed: failed}
	for _, p := range paths {
		if err := x.path(ctx, p); err != nil {
			return x.skipped, err
		}
	}
	return x.skipped, to.Flush(ctx)
}

// finder finds debug files.
type finder struct {
	to      Target
	sources string
	failed  func(path string, err error)
	skipped Skipped
}

// path adds a file or the files below a folder. Links in it are not followed.
func (x *finder) path(ctx context.Context, name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		x.failed(name, errors.Unwrap(err))
		return nil
	case info.Mode().IsRegular():
		return x.open(ctx, name, true)
	case !info.IsDir():
		x.failed(name, errors.New("must be a file or a folder, not a pipe or a device"))
		return nil
	}
	return filepath.WalkDir(name, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			x.failed(at, err)
			return nil
		case !d.Type().IsRegular():
			return ctx.Err()
		}
		return x.open(ctx, at, false)
	})
}

// open adds a file, or the files in it. If the user named it, another kind of file is a
// failure.
func (x *finder) open(ctx context.Context, name string, isNamed bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		x.failed(name, errors.Unwrap(err))
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		x.failed(name, err)
		return nil
	}
	if info.Size() == 0 && isNamed {
		x.failed(name, errors.New("the file is empty"))
		return nil
	}
	src := io.NewSectionReader(f, 0, info.Size())
	done, err := x.file(ctx, name, src)
	if now, statErr := f.Stat(); errors.Is(err, errChanged) ||
		err == nil && done && statErr == nil && (now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())) {
		x.failed(name, errChanged)
		return nil
	}
	if err != nil || done {
		return err
	}
	space := scratch.NewSpace(os.TempDir(), nil)
	defer space.Close()
	limits := archive.Limits{Files: 1 << 20, Bytes: 1 << 40} // of the user's own file
	isPacked := false
	var stop error
	err = archive.Each(src, name, limits, space, func(member string, r io.Reader) error {
		if member == filepath.Base(name) {
			return nil // the file is neither compressed nor an archive
		}
		isPacked = true
		if _, inside, isMember := strings.Cut(member, "/"); isMember {
			member = inside
		}
		stop = x.member(ctx, name+"/"+member, r)
		return stop
	})
	switch {
	case stop != nil:
		return stop
	case err != nil:
		x.failed(name, err)
	case !isPacked && isNamed:
		x.failed(name, errors.New("unsupported file: must be a debug file, an archive of such, or a folder"))
	case !isPacked:
		x.skipped.Other++
	}
	return nil
}

// member adds a file of an archive, from a temporary copy.
func (x *finder) member(ctx context.Context, name string, r io.Reader) error {
	tmp, err := scratch.NewSpool("")
	if err != nil {
		return err
	}
	defer tmp.Close()
	in := &bin.ErrReader{R: r}
	switch _, err := io.Copy(tmp, in); {
	case in.Err != nil:
		x.failed(name, in.Err)
		return ctx.Err()
	case err != nil:
		return err
	}
	done, err := x.file(ctx, name, tmp)
	if !done {
		x.skipped.Other++
	}
	return err
}

// file adds a file if it is a debug file.
func (x *finder) file(ctx context.Context, name string, src bin.Source) (done bool, err error) {
	kind, modules, err := debugfile.Identify(src)
	switch {
	case fault.KindOf(err) == fault.Unsupported:
		return false, nil
	case err != nil:
		x.failed(name, err)
		return true, nil
	case !slices.ContainsFunc(modules, hasID):
		if err := debugfile.CheckWhole(src); err != nil { // it may end before the id
			x.failed(name, err)
			return true, nil
		}
		x.skipped.Nameless = append(x.skipped.Nameless, Nameless{name, advice(name, kind)})
		return true, nil
	}
	f := &File{Path: name, Kind: kind, Modules: modules, Source: src}
	if err = x.to.Add(ctx, f); err == nil && x.sources != "" {
		err = x.addSources(ctx, f)
	}
	return true, err
}

// errChanged is why a file that is being written is not, or not only, uploaded.
var errChanged = errors.New("the file changed during the upload: upload it again when it is complete")

func hasID(m ident.Module) bool { return !m.DebugID.IsZero() || !m.CodeID.IsZero() }

// noSplitID is why a file with units of -gsplit-dwarf is not uploaded. A program may have
// thousands of them.
const noSplitID = "units of -gsplit-dwarf have no id"

// advice returns why a file of a format has no id, and how it gets one.
func advice(name, kind string) string {
	switch kind {
	case "elf":
		if extension := strings.ToLower(path.Ext(name)); extension == ".dwo" || extension == ".dwp" {
			return noSplitID
		}
		return "no build id: link with --build-id"
	case "wasm":
		return "no build id: link with --build-id, or add a section build_id"
	case "macho":
		return "no UUID: link without -no_uuid"
	case "pe":
		return "no debug id: link with /DEBUG"
	}
	return fmt.Sprintf("the %s file has no id", kind)
}

// addSources adds a bundle for each object in a file, of those of its sources that are in
// the folder.
func (x *finder) addSources(ctx context.Context, f *File) error {
	d, err := debugfile.Open(f.Source, object.Options{})
	if err != nil {
		return nil // the outcome of the file itself has the reason
	}
	for _, o := range d.Objects() {
		if err := x.addBundle(ctx, f, o); err != nil {
			return err
		}
	}
	return nil
}

func (x *finder) addBundle(ctx context.Context, f *File, o *object.Object) error {
	tmp, err := scratch.NewSpool("")
	if err != nil {
		return err
	}
	defer tmp.Close()
	switch written, _, err := srcbundle.Write(ctx, tmp, o, f.Name(), x.sources); {
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, err)
	case written == 0:
		return nil
	}
	return x.to.Add(ctx, &File{Path: f.Path + ".src.zip", Kind: "sourcebundle", Modules: []ident.Module{o.Info().Module}, Source: tmp})
}
