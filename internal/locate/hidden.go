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

// maxNames is the size of the largest list of hidden names.
const maxNames = 64 << 20

// hidden is what an object needs whose names were hidden when it went through
// Apple's store; it is not ok if none are.
func hidden(o *object.Object) (n object.Need, ok bool) {
	for _, n := range o.Needs() {
		if n.Kind == object.NeedMap && len(n.ID) == 16 {
			return n, true
		}
	}
	return n, false
}

// complete gives a file the names that were hidden, if the sources have them. It
// comes before the first question to the file, and counts for all who ask: so
// one who leaves does not end it.
func (l *Locator) complete(ctx context.Context, f *fetched, m ident.Module, public bool) {
	ctx = context.WithoutCancel(ctx)
	f.once.Do(func() {
		o := pick(f.file, m)
		n, ok := hidden(o)
		if f.hidden = ok; !ok {
			return
		}
		names := l.names(ctx, [16]byte(n.ID), public)
		if names == nil {
			return
		}
		if ok, err := o.Supply(n, bin.Bytes(names)); ok && err == nil {
			f.names = sha256.Sum256(names)
		}
	})
}

// names are those that were hidden in a binary; nil if no source has them. They
// are filed under the UUID that it had before, which a property list may tell. For
// a public file, which all scopes share, they are public too: others would learn
// what is private to this scope.
func (l *Locator) names(ctx context.Context, uuid [16]byte, public bool) []byte {
	at := func(uuid [16]byte) ident.Module {
		return ident.Module{Type: ident.TypeMachO, DebugID: ident.NewDebugID(uuid, 0)}
	}
	if list := l.text(ctx, at(uuid), source.UUIDMap, public); list != nil {
		if original, err := macho.ReadUUIDMap(list); err == nil {
			uuid = original
		}
	}
	return l.text(ctx, at(uuid), source.BCSymbolMap, public)
}

// text is the first file of a kind that is there, whole; only public ones count
// if that is wanted. Misses are remembered like those of other files.
func (l *Locator) text(ctx context.Context, m ident.Module, kind string, public bool) []byte {
	for _, s := range l.sources {
		candidates, err := s.Candidates(ctx, m, []string{kind})
		if err != nil {
			continue
		}
		for _, c := range candidates {
			if public && !c.Public {
				continue
			}
			if text := l.oneText(ctx, s, c, l.key(c, m)); text != nil {
				return text
			}
		}
	}
	return nil
}

func (l *Locator) oneText(ctx context.Context, s source.Source, c source.Candidate, key cache.Key) []byte {
	if _, err := l.tier.Get(ctx, cache.Meta, key); err != nil {
		return nil
	}
	if text := l.keptText(ctx, key); text != nil {
		return text
	}
	asked := l.now()
	text, a, err := l.fetchText(ctx, s, c)
	if err != nil {
		f := fault.Of(err)
		l.remember(ctx, key, f, c, asked)
		if ctx.Err() == nil {
			l.tell(c, a, f)
		}
		return nil
	}
	if !c.Local {
		l.keepText(ctx, cache.Objects, key, text)
	}
	return text
}

// keptText is the whole of a file that was kept; nil if it is not there.
func (l *desk) keptText(ctx context.Context, key cache.Key) []byte {
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

// fetchText gets a whole file from its source.
func (l *desk) fetchText(ctx context.Context, s source.Source, c source.Candidate) ([]byte, source.Attempt, error) {
	text := &source.Text{Max: maxNames}
	a, err := s.Fetch(ctx, c, text)
	return text.Bytes, a, err
}

// keepText keeps what came of a candidate.
func (l *desk) keepText(ctx context.Context, kind cache.Kind, key cache.Key, text []byte) {
	blob, err := l.tier.Put(context.WithoutCancel(ctx), kind, key, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		_ = blob.Close() // it was only written
	}
}
