package companion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"symbolon/internal/bin"
	"symbolon/internal/format/xz"
	"symbolon/internal/scratch"
	"symbolon/internal/source"
)

// maxUnpacked limits a decompressed file.
const maxUnpacked = 64 << 30

// OpenUnpacked opens a file of any size until done is called; "-" is stdin, unless that
// is nil. A pipe, stdin and a file compressed with zstd or gzip are copied to a temporary
// file, a file compressed with xz to temporary memory.
func OpenUnpacked(ctx context.Context, name string, stdin io.Reader) (src bin.Source, done func(), err error) {
	from := stdin
	if name != "-" || from == nil {
		if info, err := os.Stat(name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			f, err := os.Open(name)
			if err != nil {
				return nil, nil, err
			}
			defer f.Close()
			from = f
		} else if src, done, err = openRegular(name); err != nil {
			return nil, nil, err
		}
	}
	if src != nil {
		if head, _ := bin.Read(src, 0, int(min(4, src.Size()))); string(head) != "\x28\xb5\x2f\xfd" &&
			!bytes.HasPrefix(head, []byte("\x1f\x8b")) {
			return unxz(name, src, done)
		}
		defer done()
		from = io.NewSectionReader(src, 0, src.Size())
	}
	f, err := os.CreateTemp("", "symbolon-*")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.Remove(f.Name()) }
	_, err = source.NewDecoder(bin.Limit{Bytes: maxUnpacked, Ratio: -1}, nil).Decode(ctx, f, cancelable{ctx, from}, "")
	if err = errors.Join(err, f.Close()); err != nil {
		remove()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	src, end, err := openRegular(f.Name())
	if err != nil {
		remove()
		return nil, nil, err
	}
	return unxz(name, src, func() { end(); remove() })
}

func openRegular(name string) (bin.Source, func(), error) {
	s, err := OpenSource(name, nil)
	if err != nil {
		return nil, nil, err
	}
	return s, func() { _ = s.Close() }, nil // it was read only
}

// unxz returns a file, decompressed if it is compressed with xz.
func unxz(name string, src bin.Source, done func()) (bin.Source, func(), error) {
	if head, _ := bin.Read(src, 0, int(min(6, src.Size()))); string(head) != "\xfd7zXZ\x00" {
		return src, done, nil
	}
	defer done()
	packed, err := bin.Read(src, 0, int(src.Size()))
	size, space := int64(0), scratch.NewSpace(os.TempDir(), nil)
	if err == nil {
		size, err = xz.Size(packed)
	}
	if err == nil && size > maxUnpacked {
		err = fmt.Errorf("larger than the limit of %v", bin.Size(maxUnpacked))
	}
	var b []byte
	if err == nil {
		b, err = space.Take(int(size))
	}
	if err == nil {
		err = xz.Into(b, packed)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), space.Close())
	}
	return bin.Bytes(b), func() { _ = space.Close() }, nil
}

// cancelable is a reader whose reads fail when its context is canceled.
type cancelable struct {
	ctx context.Context
	io.Reader
}

func (c cancelable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.Reader.Read(p)
}
