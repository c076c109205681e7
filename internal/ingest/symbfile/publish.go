package symbfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

const workers = 8 // that look at parts or remove them, for one file

// errGone is that a part was removed while it was read.
var errGone = errors.New("it is not there any more")

// alone publishes a file of one part.
func (u upload) alone(ctx context.Context, d *draft) (*Info, error) {
	if d.head.Size > int64(u.cfg.MaxFile) {
		return nil, u.tooLarge()
	}
	old, err := u.Info(ctx, u.file, u.kind)
	if kind := fault.KindOf(err); err != nil && kind != fault.NotFound && kind != fault.Malformed {
		return nil, err
	}
	h := &d.head
	h.Received = u.deps.Now().UnixMilli()
	heads := []*head{h}
	if old != nil && old.Content == describe(heads).Content && old.agrees(h) {
		return nil, u.alias(ctx, h.BuildID, old.Base)
	}
	return u.store(ctx, heads, io.NewSectionReader(d.spool, 0, d.spool.Size()))
}

func (u upload) tooLarge() error {
	return refuse(TooLarge, u.file.Base64(), "its parts together have more than %v", u.cfg.MaxFile)
}

// publish publishes a round that has all its parts, and ends it. Another process may
// do the same at this time: then it returns nil.
func (r round) publish(ctx context.Context, heads []*head) (*Info, error) {
	unlock, err := r.lock(ctx, r.folder())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if over, err := r.over(ctx); err != nil || over != nil {
		return nil, r.ended(over, err)
	}
	err = r.verify(ctx, heads)
	var refused *Refusal
	if errors.As(err, &refused) {
		if failed := r.end(ctx, nil); failed != nil {
			return nil, failed
		}
		return nil, err
	}
	var i *Info
	if err == nil {
		parts := &parts{ctx: ctx, r: r}
		defer parts.close()
		i, err = r.store(ctx, heads, parts)
	}
	switch {
	case errors.Is(err, errGone):
		return nil, r.ended(r.over(ctx))
	case err != nil:
		return nil, err
	}
	return i, r.end(ctx, heads)
}

// ended says what became of a part whose round another process ended.
func (r round) ended(over *mark, err error) error {
	switch {
	case err != nil:
		return err
	case over == nil: // parts were swept
		return fault.New(fault.Transport, r.folder(), "%w", errGone)
	case !over.Published:
		return refuse(Conflict, r.file.Base64(), "the upload gave way or was refused; begin again with part 0")
	}
	return nil
}

// each does something for all numbers below n, some at a time. It ends at the first
// error.
func each(n int, do func(k int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, min(workers, n))
	for w := range errs {
		all.Go(func() {
			for k := int(next.Add(1)) - 1; k < n && errs[w] == nil; k = int(next.Add(1)) - 1 {
				errs[w] = do(k)
			}
			if errs[w] != nil {
				next.Store(int64(n))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// verify checks what could not be checked of each part by itself.
func (r round) verify(ctx context.Context, heads []*head) error {
	size, raw := int64(0), false
	for k := range heads {
		size += heads[k].Size
		raw = raw || heads[k].Raw
	}
	if size > int64(r.cfg.MaxFile) {
		return r.tooLarge()
	}
	if !raw {
		return nil
	}
	parts := &parts{ctx: ctx, r: r}
	defer parts.close()
	z, err := zstd.NewReader(parts, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return fault.New(fault.Internal, "", "%w", err)
	}
	defer z.Close()
	file := symbfile.NewReader(z)
	file.Strict = true
	var sum head
	err = r.records(file, r.kind, &sum)
	var refused *Refusal
	switch {
	case parts.err != nil:
		return parts.err
	case errors.As(err, &refused):
		return err
	case err != nil:
		return &Refusal{Malformed, fault.Of(err)}
	}
	for k := range heads { // what was counted in each is wrong
		heads[k].Ranges, heads[k].Pads = 0, 0
	}
	heads[0].Ranges, heads[0].Pads = sum.Ranges, sum.Pads
	return nil
}

// store publishes what body has, and writes the names that the parts tell.
func (u upload) store(ctx context.Context, heads []*head, body io.Reader) (*Info, error) {
	i := describe(heads)
	told, err := u.names(ctx, i, heads)
	if err != nil {
		return nil, err
	}
	tail, err := i.frame()
	if err != nil {
		return nil, err
	}
	key := source.ElasticPath(u.file, u.kind.String())
	if _, err := u.deps.Bucket.Put(ctx, key, io.MultiReader(body, bytes.NewReader(tail)), bucket.Attrs{}); err != nil {
		return nil, err
	}
	u.deps.Log.Info("symbols are published", "file", u.file.Base64(), "kind", u.kind, "parts", i.Parts, "records", i.Records, "size", i.Size)
	if err := u.alias(ctx, told, i.Base); err != nil {
		return nil, err
	}
	return i, nil
}

// alias writes to which file a build id belongs, and the debug id made of it.
func (u upload) alias(ctx context.Context, id ident.BuildID, base uint64) error {
	if id.IsZero() {
		return nil
	}
	text, err := json.Marshal(source.Alias{FileID: u.file, Base: base})
	if err != nil {
		return fault.New(fault.Internal, "", "%w", err)
	}
	paths := source.AliasPaths(ident.Module{CodeID: id.CodeID(), DebugID: id.DebugID(false)})
	paths = append(paths, source.AliasPaths(ident.Module{DebugID: id.DebugID(true)})...) // whichever order its bytes have
	for _, path := range paths {
		if _, err := u.deps.Bucket.Put(ctx, path, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))}); err != nil {
			return err
		}
	}
	return nil
}

// parts is the frames of the parts one behind the other.
type parts struct {
	ctx  context.Context
	r    round
	next int
	in   io.Reader // what is left of a part
	end  io.Closer
	err  error
}

func (p *parts) Read(b []byte) (int, error) {
	for p.err == nil {
		if p.in == nil {
			if p.next == p.r.count {
				return 0, io.EOF
			}
			if p.err = p.open(); p.err != nil {
				break
			}
		}
		n, err := p.in.Read(b)
		if err == io.EOF {
			p.close()
			err = nil
		}
		if p.err = err; n > 0 {
			return n, nil
		}
	}
	return 0, p.err
}

// open opens the next part, behind its line.
func (p *parts) open() error {
	k := p.next
	p.next++
	key := p.r.part(k)
	r, _, err := p.r.deps.Bucket.Get(p.ctx, key, 0, -1)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return fmt.Errorf("part %d: %w", k, errGone)
	case err != nil:
		return err
	}
	in := bufio.NewReaderSize(r, 4*maxHead)
	p.in, p.end = in, r
	if _, err := in.ReadSlice('\n'); err != nil {
		return fault.New(fault.Transport, key, "%w", err)
	}
	return nil
}

func (p *parts) close() {
	if p.end != nil {
		p.end.Close()
	}
	p.in, p.end = nil, nil
}
