package dir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
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

// folder collects the keys of a folder, which is empty or ends with a slash.
func (w *walk) folder(at string) error {
	keys, err := w.entries(at)
	if err != nil {
		return err
	}
	for _, key := range keys {
		switch {
		case len(w.keys) == w.n:
			return nil
		case strings.HasSuffix(key, "/"):
			if err := w.folder(key); err != nil {
				return err
			}
		default:
			w.keys = append(w.keys, key)
		}
	}
	return nil
}

// entries returns the entries of a folder that are keys to list or, with a slash
// at the end, folders that may have some. They are in the order of keys: the file
// "a!" is before the content of the folder "a".
func (w *walk) entries(at string) ([]string, error) {
	f, err := w.open(strings.TrimSuffix("./"+at, "/"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // it was removed
	case err != nil:
		return nil, failure(at, err)
	}
	defer f.Close()
	var keys []string
	for {
		if err := bucket.Ended(w.ctx); err != nil {
			return nil, err
		}
		list, err := w.read(f, at)
		for _, e := range list {
			if key := at + e.Name(); bucket.Check(key) != nil || reserved(key) {
				continue
			} else if folder := key + "/"; e.IsDir() && w.mayHave(folder) {
				keys = append(keys, folder)
			} else if strings.HasPrefix(key, w.prefix) && key > w.after && w.isFile(key, e) {
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

// read reads the next entries of a folder. Where all keys begin with a part of a name,
// only names that do are looked at: some systems need a request for the type of each.
func (w *walk) read(f *os.File, at string) ([]fs.DirEntry, error) {
	begin, ok := strings.CutPrefix(w.prefix, at)
	if !ok || begin == "" || w.follow != "" {
		return f.ReadDir(1000)
	}
	names, err := f.Readdirnames(1000)
	var list []fs.DirEntry
	for _, name := range names {
		if !strings.HasPrefix(name, begin) {
			continue
		}
		if info, err := w.Lstat(at + name); err == nil { // else it was removed
			list = append(list, fs.FileInfoToDirEntry(info))
		}
	}
	return list, err
}

// mayHave reports whether keys to list can be in a folder.
func (w *walk) mayHave(folder string) bool {
	return (strings.HasPrefix(folder, w.prefix) || strings.HasPrefix(w.prefix, folder)) && (folder > w.after || strings.HasPrefix(w.after, folder))
}

// isFile reports whether an entry is a file or a link to one.
func (w *walk) isFile(key string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := w.stat(key)
	return err == nil && info.Mode().IsRegular()
}
