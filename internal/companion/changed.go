package companion

import (
	"fmt"
	"os"
	"runtime/debug"
)

// watch knows what an open file was like at first.
type watch struct {
	name string
	was  os.FileInfo // nil: it is none of the file system
}

// changed says that the file was written meanwhile. A new file of its name changes
// nothing about the one that is open.
func (w watch) changed() error {
	if w.was == nil {
		return nil
	}
	now, err := os.Stat(w.name)
	if err != nil || !os.SameFile(w.was, now) || now.Size() == w.was.Size() && now.ModTime().Equal(w.was.ModTime()) {
		return nil
	}
	return fmt.Errorf("%s: it changed while it was read; try again when nobody writes it", w.name)
}

// Changed says that the file was written since it was opened.
func (f *Source) Changed() error { return f.watch.changed() }

// changed says whether one of the files was written since it was opened.
func (d *File) changed() error {
	if d == nil {
		return nil
	}
	for _, f := range d.open {
		if err := f.Changed(); err != nil {
			return err
		}
	}
	return nil
}

// Verdict is how reading files ended: if one of them was written meanwhile, that is
// why it failed, or what was made is of no file that there ever was.
func Verdict(err error, files ...*File) error {
	for _, d := range files {
		if changed := d.changed(); changed != nil {
			return changed
		}
	}
	return err
}

// Unfaulted does what reads mapped files. That one of them is shorter than it was is
// an error of it.
func Unfaulted(do func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		p := recover()
		if _, ok := p.(interface{ Addr() uintptr }); ok {
			err = fmt.Errorf("a file is not there any more as it was, or its disk does not give it back: %v", p)
		} else if p != nil {
			panic(p)
		}
	}()
	return do()
}
