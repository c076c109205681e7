package dir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// List returns a page of keys. It reads the folders on the way to them as a whole.
// A link to a file is listed, the content of a linked folder only if it is named by
// prefix.
func (b *Bucket) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	n, err := bucket.BeginList(ctx, prefix, after, n)
	if n == 0 || err != nil {
		return nil, false, err
	}
	d, err := b.root()
	if err != nil {
		return nil, false, err
	}
	w := walk{ctx: ctx, root: d, prefix: prefix, after: after, n: n + 1}
	at := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if at != "" {
		info, err := d.stat(strings.TrimSuffix(at, "/"))
		switch {
		case bucket.Check(at[:len(at)-1]) != nil || reserved(at):
			return nil, false, nil // no key begins so
		case err != nil && fault.KindOf(failure(at, err)) == fault.NotFound, err == nil && !info.IsDir():
			return nil, false, nil
		case err != nil:
			return nil, false, failure(at, err)
		}
	}
	if err := w.folder(at); err != nil {
		return nil, false, err
	}
	return w.keys[:min(n, len(w.keys))], len(w.keys) > n, nil
}

// walk collects the first n keys that begin with prefix and are greater than after.
type walk struct {
	*root
	ctx           context.Context
	prefix, after string
	n             int
	keys          []string
}

// folder collects the keys of a folder, which is empty or ends with a slash. It asks for
// the types of as many names as it needs: each is a request to the system.
func (w *walk) folder(at string) error {
	f, err := w.openFolder(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it was removed
	case err != nil:
		return failure(at, err)
	}
	defer f.Close()
	keys, err := w.names(f, at)
	if err != nil {
		return err
	}
	var folders []string // before the next key, whose content is not: the file "a!" is before that of the folder "a"
	for _, key := range keys {
		if err := w.content(&folders, key); err != nil || len(w.keys) == w.n {
			return err
		}
		info, err := f.Lstat(key[len(at):])
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed
		case err != nil:
			return failure(key, err)
		case info.IsDir() && w.mayHave(key+"/"):
			folders = append(folders, key+"/")
		case w.isAsked(key) && w.isFile(key, info.Mode()):
			w.keys = append(w.keys, key)
		}
	}
	return w.content(&folders, "")
}

// content collects the keys of folders, the last one first, as long as they are before a
// key, which is empty at the end.
func (w *walk) content(folders *[]string, before string) error {
	for n := len(*folders); n > 0 && len(w.keys) < w.n; n-- {
		last := (*folders)[n-1]
		if before != "" && last > before {
			return nil
		}
		if err := w.folder(last); err != nil {
			return err
		}
		*folders = (*folders)[:n-1]
	}
	return nil
}

// openFolder opens a folder, which is empty or ends with a slash.
func (w *walk) openFolder(at string) (*os.Root, error) {
	at = strings.TrimSuffix("./"+at, "/")
	f, err := w.OpenRoot(at)
	if w.leaves(at, err) {
		return os.OpenRoot(filepath.Join(w.follow, filepath.FromSlash(at)))
	}
	return f, err
}

// names returns the names in a folder that are keys to list or may be folders of such
// keys, in order.
func (w *walk) names(folder *os.Root, at string) (keys []string, err error) {
	f, err := folder.Open(".")
	if err != nil {
		return nil, failure(at, err)
	}
	defer f.Close()
	for {
		if err := bucket.Ended(w.ctx); err != nil {
			return nil, err
		}
		list, err := f.Readdirnames(1000)
		for _, name := range list {
			if key := at + name; (w.isAsked(key) || w.mayHave(key+"/")) && bucket.Check(key) == nil && !reserved(key) {
				keys = append(keys, key)
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, fs.ErrNotExist): // it was removed
			slices.Sort(keys)
			return keys, nil
		case err != nil:
			return nil, failure(at, err)
		}
	}
}

// isAsked reports whether a key must be listed if it is a file.
func (w *walk) isAsked(key string) bool { return strings.HasPrefix(key, w.prefix) && key > w.after }

// mayHave reports whether keys to list can be in a folder.
func (w *walk) mayHave(folder string) bool {
	return (strings.HasPrefix(folder, w.prefix) || strings.HasPrefix(w.prefix, folder)) && (folder > w.after || strings.HasPrefix(w.after, folder))
}

// isFile reports whether a key is that of a file or of a link to one.
func (w *walk) isFile(key string, mode fs.FileMode) bool {
	if mode&fs.ModeSymlink == 0 {
		return mode.IsRegular()
	}
	info, err := w.stat(key)
	return err == nil && info.Mode().IsRegular()
}
