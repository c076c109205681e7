package batch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/filter/auto"
	"symbolon/internal/transfer"
)

const (
	rangeSize = 8 << 20 // bytes of an input that are fetched at a time
	maxTries  = 4       // of a range
	maxInputs = 1_000_000
	mark      = "\ufeff" // of the byte order, which some programs write before the first row
)

var backoff = transfer.Backoff{First: time.Second, Max: 10 * time.Second}

// input is a file to read.
type input struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Version string `json:"version"`

	bucket bucket.Bucket
	key    string
}

// split returns the bucket or folder of an input, and the rest: a key or a prefix.
func split(name string) (place, key string) {
	if scheme, rest, ok := strings.Cut(name, "://"); ok {
		rest, key, _ = strings.Cut(rest, "/")
		return scheme + "://" + rest, key
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return name, ""
	}
	return filepath.Dir(name), filepath.Base(name)
}

// find returns the files of all inputs, in their order.
func (o *Options) find(ctx context.Context) (list []input, err error) {
	open := map[string]bucket.Bucket{}
	for _, name := range o.Inputs {
		if isInside(o.Out, name) {
			return nil, fault.New(fault.Malformed, o.Out, "invalid place of the output: must not be inside of the input %s", name)
		}
		place, key := split(name)
		b := open[place]
		if b == nil {
			if b, err = o.Open(place, false); err != nil {
				return nil, err
			}
			open[place] = b
		}
		found, err := files(ctx, b, place, key)
		if err != nil {
			return nil, within(place, err)
		}
		if list = append(list, found...); len(list) > maxInputs {
			return nil, fault.New(fault.Unsupported, name, "more than %d input files", maxInputs)
		}
	}
	return list, nil
}

// isInside reports whether the output is in an input.
func isInside(out, name string) bool {
	if !strings.Contains(out+name, "://") {
		out = resolved(out)
		name = strings.TrimSuffix(resolved(name), string(filepath.Separator)) + string(filepath.Separator) // which the root has
	}
	return strings.HasPrefix(out+string(filepath.Separator), name)
}

// resolved returns an absolute path without symbolic links, also that of a file that
// does not exist yet.
func resolved(path string) string {
	path, _ = filepath.Abs(path) // without a working folder, it is refused elsewhere
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}

// files returns the file with a key or, if there is none, the files of rows whose
// keys begin with it.
func files(ctx context.Context, b bucket.Bucket, place, key string) ([]input, error) {
	isPrefix := key == "" || strings.HasSuffix(key, "/")
	keys := []string{key}
	if !isPrefix {
		_, err := b.Stat(ctx, key)
		if isPrefix = fault.KindOf(err) == fault.NotFound && strings.Contains(place, "://"); err != nil && !isPrefix {
			return nil, err
		}
	}
	if isPrefix {
		keys = nil
		for k, err := range bucket.Keys(ctx, b, key, "") {
			if err != nil {
				return nil, err
			}
			if hasRows(k) {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) == 0 {
		return nil, fault.New(fault.NotFound, place+"/"+key, "no files of rows: .json, .jsonl, .ndjson, also with .gz or .zst")
	}
	list := make([]input, len(keys))
	return list, bucket.Each(len(keys), func(i int) error {
		a, err := b.Stat(ctx, keys[i])
		list[i] = input{Name: place + "/" + keys[i], Size: a.Size, Version: a.Version, bucket: b, key: keys[i]}
		return err
	})
}

// hasRows reports whether a key in a folder is that of a file of rows.
func hasRows(key string) bool {
	key = strings.TrimSuffix(strings.TrimSuffix(key, ".gz"), ".zst")
	return strings.HasSuffix(key, ".json") || strings.HasSuffix(key, ".jsonl") || strings.HasSuffix(key, ".ndjson")
}

// content is the unpacked content of an input.
type content struct {
	*bufio.Reader
	io.Closer
	in *input
}

// open opens an input.
func (w *run) open(ctx context.Context, in *input) (*content, error) {
	r, err := auto.Unpack(bufio.NewReaderSize(&ranges{ctx: ctx, in: in, count: w.count}, 64<<10))
	if err != nil {
		return nil, damaged(in, err)
	}
	c := &content{bufio.NewReaderSize(r, 256<<10), r, in}
	if head, _ := c.Peek(len(mark)); string(head) == mark {
		_, err = c.Discard(len(mark))
	}
	return c, err
}

// peek returns the bytes that are buffered, at least one.
func (c *content) peek() ([]byte, error) {
	if _, err := c.Peek(1); err != nil {
		return nil, damaged(c.in, err)
	}
	return c.Peek(c.Buffered())
}

// damaged returns the error of an input: those of decoders mean that it is damaged.
func damaged(in *input, err error) error {
	var f *fault.Error
	if err == io.EOF || errors.As(err, &f) || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.New(fault.Malformed, in.Name, "%w", err)
}

// within returns an error of a bucket with the place of the bucket, and without the call
// of the system that failed.
func within(place string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	at := *f
	if at.Place != place && !strings.HasPrefix(at.Place, place+"/") && !strings.Contains(at.Place, "://") {
		at.Place = place + "/" + at.Place
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		at.Detail, at.Cause = file.Err.Error(), file.Err
		if at.Kind == fault.Internal { // such as a full disk
			return fmt.Errorf("%s: %w", at.Place, file.Err)
		}
	}
	return &at
}

// count reports progress.
func (w *run) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.read += int64(n); w.Progress != nil {
		w.Progress(w.read, w.all)
	}
}

// ranges reads an input range by range, each of them complete: a connection is not
// kept while rows are looked up.
type ranges struct {
	ctx   context.Context
	in    *input
	count func(n int)
	off   int64
	buf   []byte
	rest  []byte
}

func (r *ranges) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		n := min(rangeSize, r.in.Size-r.off)
		if n == 0 {
			return 0, io.EOF
		}
		if r.buf == nil {
			r.buf = make([]byte, n)
		}
		for try := 1; ; try++ {
			err := r.fetch(r.buf[:n])
			if err == nil {
				break
			}
			kind := fault.KindOf(err)
			if kind != fault.Transport && kind != fault.Timeout || try == maxTries || !backoff.Wait(r.ctx, try, 0) {
				return 0, err
			}
		}
		r.rest, r.off = r.buf[:n], r.off+n
		r.count(int(n))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// fetch fills buf with the bytes at r.off.
func (r *ranges) fetch(buf []byte) error {
	in, a, err := r.in.bucket.Get(r.ctx, r.in.key, r.off, int64(len(buf)))
	if err != nil {
		return within(strings.TrimSuffix(r.in.Name, "/"+r.in.key), err)
	}
	defer in.Close()
	if a.Size != r.in.Size || a.Version != r.in.Version {
		return fault.New(fault.Malformed, r.in.Name, "the input changed while it was read")
	}
	_, err = io.ReadFull(in, buf)
	return err
}
