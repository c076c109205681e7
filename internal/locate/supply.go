package locate

import (
	"context"
	"crypto/sha256"
	"hash"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/format/macho"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// partStream receives a part while it is written to a spool. The part is opened when
// it is supplied to the object that needs it.
type partStream struct{ hash.Hash }

func newPartStream() partStream { return partStream{sha256.New()} }

func (t partStream) finish(_ context.Context, _ *shared, f *fetched, _ cache.Spool) error {
	f.isPart, f.hash = true, [32]byte(t.Sum(nil))
	return nil
}

// The uses of the object of a fetched file. It may be supplied with parts before all
// other use; another lookup may have other parts.
const (
	useNone int32 = iota
	useShared
	useSupplied
)

// object returns the object of an open file. If it is to be supplied with parts, or
// the one of the file has been, it is one for this lookup.
func (f *Found) object(ctx context.Context, supply bool) (*object.Object, error) {
	file, use := f.file.file, &f.file.use
	switch {
	case f.obj != nil:
		return f.obj, nil
	case len(f.Needs) == 0:
	case supply && use.CompareAndSwap(useNone, useSupplied):
	case !supply && (use.CompareAndSwap(useNone, useShared) || use.Load() == useShared):
	default:
		if f.l.space != nil {
			f.space = f.l.space(ctx)
		}
		var err error
		spool, space := f.file.spool, f.space
		file, err = debugfile.Open(spool, object.Options{Columns: f.l.columns, Space: space, Relax: func() { relax(spool, space) }})
		if err != nil {
			return nil, err
		}
	}
	f.obj = pick(file, f.Module)
	return f.obj, nil
}

// whole returns the object of an open file with its parts. A part that cannot be
// fetched any more is left out; the error is that of the file or of ctx.
func (f *Found) whole(ctx context.Context) (*object.Object, error) {
	obj, err := f.object(ctx, len(f.parts) > 0)
	if err != nil {
		return nil, err
	}
	had := f.parts
	f.parts = nil
	for i, p := range had {
		if !p.isSupplied {
			if why := f.supply(ctx, p); why != nil {
				if ctx.Err() != nil {
					f.parts = append(f.parts, had[i:]...)
					return nil, context.Cause(ctx)
				}
				p.file.Close()
				f.lookAgain(f.l.now().Add(retryAfter))
				continue
			}
		}
		f.parts = append(f.parts, p)
	}
	return obj, nil
}

// accept returns a fault if a part that was found is not the needed one. It opens
// the file for that, unless the part was accepted before.
func (f *Found) accept(ctx context.Context, p *part) *fault.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.file.IsAccepted {
		return nil
	}
	if err := f.open(ctx); err != nil {
		return fault.Of(err)
	}
	return f.supply(ctx, p)
}

// supply supplies the object of an open file with a part, and remembers whether the
// part is the needed file.
func (f *Found) supply(ctx context.Context, p *part) *fault.Error {
	obj, err := f.object(ctx, true)
	if err == nil {
		err = p.file.open(ctx)
	}
	if err != nil {
		return fault.Of(err)
	}
	own := p.file
	if own.candidate.Kind == source.UUIDMap {
		p.isSupplied, err = own.readUUID()
	} else {
		p.isSupplied, err = p.need.supply(obj, own.file.spool)
	}
	switch {
	case p.isSupplied && !own.IsAccepted:
		own.IsAccepted = true
		if own.candidate.Kind == source.DWP { // and what to look for besides it
			rest, _ := needsOf(obj)
			own.Needs = slices.DeleteFunc(rest, func(n need) bool { return n.Kind != object.NeedSplit })
		}
		own.Record(ctx, own.Hash)
	case p.isSupplied || fault.KindOf(err) == fault.Internal:
	default:
		why := fault.New(fault.Malformed, "", "not the needed file: %w", err)
		f.l.remember(ctx, own.key, why, own.candidate, own.file.began)
		f.l.logFault(own.candidate, own.file.attempt, why)
		return why
	}
	return fault.Of(err)
}

// readUUID reads a property list: its need is the UUID that it has.
func (f *Found) readUUID() (ok bool, err error) {
	text, err := bin.Read(f.file.spool, 0, int(min(f.file.spool.Size(), maxMeta)))
	if err != nil {
		return false, err
	}
	uuid, err := macho.ReadUUIDMap(text)
	f.Needs = []need{{Kind: object.NeedMap, ID: uuid[:]}}
	return err == nil, err
}

// supply supplies an object with a file.
func (n need) supply(obj *object.Object, src bin.Source) (ok bool, err error) {
	defer fault.Recover("supply", &err)
	defer object.RecoverFault(&err)()
	ok, err = obj.Supply(object.Need{Kind: n.Kind, Name: string(n.Name), Dir: string(n.Dir), ID: n.ID}, src)
	if !ok && err == nil {
		err = fault.New(fault.Malformed, "", "%s: asked for %x", fault.Mismatch, n.ID)
	}
	return ok && err == nil, err
}
