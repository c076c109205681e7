package companion

import (
	"errors"
	"io"
	"os"

	"symbolon/internal/debugfile"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
)

// Options select an object of a file and the places of its companions.
type Options struct {
	Arch   string // of the object; empty: any
	Object int    // the number of the object among those of Arch, from 0
	Only   bool   // Arch is ignored for a file with one object

	Dirs    []string // folders with companions, searched before those of the system
	Package string   // the .dwp file; empty: one next to the file
	Bundles []string // .dSYM folders with debug files

	// Fetch returns the path of the debug file of a build id that is not found in a
	// folder, or nothing. It may be nil.
	Fetch func(id []byte) string

	Columns bool // see object.Options
	Written bool // see object.Options
	Once    bool // see object.Options
	GNU     bool // see object.Options
	Short   bool // see object.Options

	Stdin io.Reader // content of the file "-"; nil: "-" is a name

	base uint64 // load address of the binary that the file belongs to
}

// A File is an object of a file, with its companions. It is closed once; the
// object is not used after that.
type File struct {
	object  *object.Object
	objects []*object.Object // of the named file
	binary  *object.Object   // whose debug file object is; nil: object is of the named file
	source  *Source          // of object
	open    []*Source
	spaces  []*scratch.Space
}

// Object returns the object that has the debug information.
func (d *File) Object() *object.Object { return d.object }

// Objects returns all objects of the named file.
func (d *File) Objects() []*object.Object { return d.objects }

// Binary returns the object of the named file if Object is of its debug file,
// else nil.
func (d *File) Binary() *object.Object { return d.binary }

// Source returns the file that Object is in.
func (d *File) Source() *Source { return d.source }

// Close closes all files.
func (d *File) Close() (err error) {
	for _, s := range d.open {
		err = errors.Join(err, s.Close())
	}
	for _, s := range d.spaces {
		err = errors.Join(err, s.Close())
	}
	return err
}

// Supply passes the first of the files that the object accepts to it, and
// reports whether there is one.
func (d *File) Supply(n object.Need, paths ...string) bool {
	for _, path := range paths {
		src, err := OpenSource(path, nil)
		if err != nil {
			continue
		}
		if ok, err := d.object.Supply(n, src.Source); err == nil && ok {
			d.open = append(d.open, src)
			return true
		}
		src.Close()
	}
	return false
}

// openFile opens a file for d, which closes it. Large unpacked sections are kept
// in temporary files.
func (d *File) openFile(name string, opt Options) (*object.File, error) {
	src, err := OpenSource(name, opt.Stdin)
	if err != nil {
		return nil, err
	}
	space := scratch.NewSpace(os.TempDir(), nil)
	d.source, d.open, d.spaces = src, append(d.open, src), append(d.spaces, space)
	f, err := debugfile.Open(src.Source, object.Options{
		Columns: opt.Columns, Written: opt.Written, Once: opt.Once, GNU: opt.GNU, Short: opt.Short, Base: opt.base,
		Space: space, Relax: func() { space.Relax(); src.Relax() },
	})
	if err != nil {
		return nil, named(name, err)
	}
	return f, nil
}

// Cause returns the reason of a failure to read files: the first one that was
// written meanwhile, or else err. The content that was read of such a file may
// never have been complete, so it is a failure even if err is nil.
func Cause(err error, files ...*File) error {
	for _, d := range files {
		if d == nil {
			continue
		}
		for _, s := range d.open {
			if changed := s.Changed(); changed != nil {
				return changed
			}
		}
	}
	return err
}
