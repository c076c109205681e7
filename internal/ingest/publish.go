package ingest

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
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

const (
	workers   = 8           // that look at parts or remove them, for one file
	cleanTime = time.Minute // for removing parts, whoever waits
)

// What becomes of parts while they are read.
var (
	errGone    = errors.New("it is not there any more") // as somebody else has published it
	errChanged = errors.New("it is another one")
)

// alone publishes a file of one part.
func (g generation) alone(ctx context.Context, d *draft) (*Info, error) {
	if d.head.Size > int64(g.cfg.MaxFile) {
		return nil, g.tooLarge()
	}
	i, err := g.Info(ctx, g.file, g.kind)
	if kind := fault.KindOf(err); err != nil && kind != fault.NotFound && kind != fault.Malformed {
		return nil, err
	}
	h := &d.head
	if i != nil && i.Parts == 1 && i.has(0, h.Sum) && i.agrees(h) {
		return nil, g.alias(ctx, h.BuildID, i.Base)
	}
	h.Received = g.deps.Now().UnixMilli()
	return g.store(ctx, []head{*h}, io.NewSectionReader(d.spool, 0, d.spool.Size()))
}

func (g generation) tooLarge() error {
	return refuse(TooLarge, g.file.Base64(), "its parts together have more than %v", g.cfg.MaxFile)
}

// publish publishes the file if all parts are there.
func (g generation) publish(ctx context.Context) (*Info, error) {
	unlock, err := g.lock(ctx, g.folder())
	if err != nil {
		return nil, err
	}
	defer unlock()
	s, err := g.state(ctx)
	if err != nil {
		return nil, err
	}
	if s.refused() {
		return nil, g.contest(ctx, g.count-1)
	}
	heads, missing, err := g.gather(ctx, s)
	if err != nil || missing < g.count { // somebody was faster, or a part expired
		g.seen.set(g.folder(), missing)
		return nil, err
	}
	err = g.verify(ctx, heads)
	var refused *Refusal
	if errors.As(err, &refused) {
		g.clean(ctx, heads)
	}
	if err == nil {
		err = g.unmark(ctx, heads)
	}
	var i *Info
	if err == nil {
		parts := &parts{ctx: ctx, g: g, heads: heads}
		defer parts.close()
		i, err = g.store(ctx, heads, parts)
	}
	switch {
	case errors.Is(err, errGone):
		g.seen.drop(g.folder())
		return nil, nil
	case errors.Is(err, errChanged):
		return nil, refuse(Conflict, g.file.Base64(), "a part of it was replaced while it was published")
	case err != nil:
		return nil, err
	}
	g.clean(ctx, heads)
	return i, nil
}

// gather reads the heads of all parts, and tells which one is missing: g.count if
// none is.
func (g generation) gather(ctx context.Context, s *state) ([]head, int, error) {
	heads := make([]head, g.count)
	var missing atomic.Int64
	missing.Store(int64(g.count))
	err := each(g.count, func(k int) error {
		h, err := g.look(ctx, k)
		if err != nil {
			return err
		}
		if s.counts(k, h) {
			heads[k] = *h
			return nil
		}
		for m := missing.Load(); int64(k) < m && !missing.CompareAndSwap(m, int64(k)); m = missing.Load() {
		}
		return nil
	})
	return heads, int(missing.Load()), err
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
func (g generation) verify(ctx context.Context, heads []head) error {
	size, raw := int64(0), false
	for k := range heads {
		size += heads[k].Size
		raw = raw || heads[k].Raw
	}
	if size > int64(g.cfg.MaxFile) {
		return g.tooLarge()
	}
	if !raw {
		return nil
	}
	parts := &parts{ctx: ctx, g: g, heads: heads}
	defer parts.close()
	z, err := zstd.NewReader(parts, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return fault.New(fault.Internal, "", "%w", err)
	}
	defer z.Close()
	r := symbfile.NewReader(z)
	r.Strict = true
	var sum head
	err = g.records(r, g.kind, &sum)
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
func (g generation) store(ctx context.Context, heads []head, body io.Reader) (*Info, error) {
	i := g.describe(heads)
	told, err := g.names(ctx, i, heads)
	if err != nil {
		return nil, err
	}
	tail, err := i.frame()
	if err != nil {
		return nil, err
	}
	key := source.ElasticPath(g.file, g.kind.String())
	if err := g.deps.Bucket.Put(ctx, key, io.MultiReader(body, bytes.NewReader(tail)), bucket.Attrs{}); err != nil {
		return nil, err
	}
	g.deps.Log.Info("symbols are published", "file", g.file.Base64(), "kind", g.kind, "parts", i.Parts, "records", i.Records, "size", i.Size)
	if err := g.alias(ctx, told, i.Base); err != nil {
		return nil, err
	}
	return i, nil
}

// alias writes to which file a build id belongs, and the debug id made of it.
func (g generation) alias(ctx context.Context, id ident.BuildID, base uint64) error {
	if id.IsZero() {
		return nil
	}
	text, err := json.Marshal(source.Alias{FileID: g.file, Base: base})
	if err != nil {
		return fault.New(fault.Internal, "", "%w", err)
	}
	paths := source.AliasPaths(ident.Module{CodeID: id.CodeID(), DebugID: id.DebugID(false)})
	paths = append(paths, source.AliasPaths(ident.Module{DebugID: id.DebugID(true)})...) // whichever order its bytes have
	for _, path := range paths {
		if err := g.deps.Bucket.Put(ctx, path, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))}); err != nil {
			return err
		}
	}
	return nil
}

// clean removes the parts, also if nobody waits any more: of those that are left,
// another upload that does not tell who it is might take one for its own.
func (g generation) clean(ctx context.Context, heads []head) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	g.seen.drop(g.folder())
	if err := each(len(heads), func(k int) error { return g.take(ctx, k, &heads[k]) }); err != nil {
		g.deps.Log.Warn("parts of a file are left behind", "file", g.file.Base64(), "kind", g.kind, "error", err)
	}
}

// parts is the frames of the parts one behind the other, as long as the parts are
// those that were gathered.
type parts struct {
	ctx   context.Context
	g     generation
	heads []head
	next  int
	r     io.Reader // what is left of a part
	end   io.Closer
	err   error
}

func (p *parts) Read(b []byte) (int, error) {
	for p.err == nil {
		if p.r == nil {
			if p.next == len(p.heads) {
				return 0, io.EOF
			}
			if p.err = p.open(); p.err != nil {
				break
			}
		}
		n, err := p.r.Read(b)
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

// open opens the next part.
func (p *parts) open() error {
	k := p.next
	p.next++
	key := p.g.part(k)
	r, _, err := p.g.deps.Bucket.Get(p.ctx, key, 0, -1)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return fmt.Errorf("part %d: %w", k, errGone)
	case err != nil:
		return err
	}
	in := bufio.NewReaderSize(r, 4*maxHead)
	p.r, p.end = in, r
	line, err := in.ReadSlice('\n')
	if err != nil {
		return fault.New(fault.Transport, key, "%w", err)
	}
	h, err := parseHead(line, key)
	if err != nil {
		return err
	}
	if want := &p.heads[k]; h.Sum != want.Sum || h.Received != want.Received || h.Cut != want.Cut {
		return fmt.Errorf("part %d: %w", k, errChanged)
	}
	return nil
}

func (p *parts) close() {
	if p.end != nil {
		p.end.Close()
	}
	p.r, p.end = nil, nil
}
