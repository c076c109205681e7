package locate

import (
	"context"
	"crypto/sha256"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// maxNames is the largest size of a list of hidden names.
const maxNames = 64 << 20

// hidden returns the list of names that an object needs if Apple's store has hidden
// its names.
func hidden(o *object.Object) (n object.Need, ok bool) {
	for _, n := range o.Needs() {
		if n.Kind == object.NeedMap && len(n.ID) == 16 {
			return n, true
		}
	}
	return n, false
}

// complete supplies a file with its hidden names, if the sources have them. It runs
// once, before the first lookup, for all users of the file: so the end of a context
// does not end it.
func (l *Locator) complete(ctx context.Context, f *fetched, m ident.Module, public bool) {
	ctx = context.WithoutCancel(ctx)
	f.once.Do(func() {
		o := pick(f.file, m)
		n, ok := hidden(o)
		if f.hidden = ok; !ok {
			return
		}
		names := l.hiddenNames(ctx, [16]byte(n.ID), public)
		if names == nil {
			return
		}
		if ok, err := o.Supply(n, bin.Bytes(names)); ok && err == nil {
			f.names = sha256.Sum256(names)
		}
	})
}

// hiddenNames returns the list of hidden names of a binary, or nil. Its UUID is that
// of the binary before it was uploaded, which a property list maps. All scopes share
// a public file, so its names must be public as well.
func (l *Locator) hiddenNames(ctx context.Context, uuid [16]byte, public bool) []byte {
	at := func(uuid [16]byte) ident.Module {
		return ident.Module{Type: ident.TypeMachO, DebugID: ident.NewDebugID(uuid, 0)}
	}
	if list := l.findText(ctx, at(uuid), source.UUIDMap, public); list != nil {
		if original, err := macho.ReadUUIDMap(list); err == nil {
			uuid = original
		}
	}
	return l.findText(ctx, at(uuid), source.BCSymbolMap, public)
}

// findText returns the content of the first file of a kind, or nil. If public is set,
// only public files count. Failures are remembered like those of other files.
func (l *Locator) findText(ctx context.Context, m ident.Module, kind string, public bool) []byte {
	for _, s := range l.sources {
		candidates, err := s.Candidates(ctx, m, []string{kind})
		if err != nil {
			continue
		}
		for _, c := range candidates {
			if public && !c.Public {
				continue
			}
			if text := l.candidateText(ctx, s, c, l.key(c, m)); text != nil {
				return text
			}
		}
	}
	return nil
}

func (l *Locator) candidateText(ctx context.Context, s source.Source, c source.Candidate, key cache.Key) []byte {
	if _, err := l.tier.Get(ctx, cache.Meta, key); err != nil {
		return nil
	}
	if text := l.storedText(ctx, key); text != nil {
		return text
	}
	asked := l.now()
	text := &source.Text{Max: maxNames}
	a, err := s.Fetch(ctx, c, text)
	if err != nil {
		f := fault.Of(err)
		l.remember(ctx, key, f, c, asked)
		if ctx.Err() == nil {
			l.logFault(c, a, f)
		}
		return nil
	}
	if !c.Local {
		_ = cache.StoreText(context.WithoutCancel(ctx), l.tier, cache.Objects, key, text.Bytes) // or it is fetched again
	}
	return text.Bytes
}

// storedText returns the content of a stored file, or nil.
func (l *shared) storedText(ctx context.Context, key cache.Key) []byte {
	blob, err := l.tier.Get(ctx, cache.Objects, key)
	if err != nil || blob == nil {
		return nil
	}
	defer blob.Close()
	text, err := io.ReadAll(io.NewSectionReader(blob, 0, min(blob.Size(), maxNames)))
	if err != nil {
		return nil
	}
	return text
}

// metaFor returns the meta of the object of a file that m asks for. All scopes
// share a public file.
func (l *Locator) metaFor(ctx context.Context, f *fetched, m ident.Module, public bool) *Meta {
	if f.mapping != nil {
		return f.mapping.meta(m)
	}
	l.complete(ctx, f, m, public)
	meta := metaOf(pick(f.file, m), f.spool.Size())
	meta.Hidden, meta.Names = f.hidden, f.names
	return &meta
}
