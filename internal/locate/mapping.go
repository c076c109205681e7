package locate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// mapping is what tells the lines of C# that those of a found file come from, if
// there is such a thing. It belongs to who looks for the file, not to the file:
// others may ask other sources for it.
type mapping struct {
	hash   [32]byte // SHA-256 of its text; zero: there is none
	source source.Source
	at     source.Candidate
	key    cache.Key
	read   *il2cpp.Map // nil: nobody needed it yet
	again  time.Time   // when there may be one, if there is none; zero: that cannot be told
}

// findMapping looks for the mapping of a file that was found for its lines. That
// is one question more to a source whose layout has a place for it, or none if
// the source lists its files. The error is only that of a caller who left.
func (l *Locator) findMapping(ctx context.Context, f *Found, m *wish, trail []Tried) error {
	if f.Features&object.HasDebug == 0 || f.Kind == source.PortablePDB {
		return nil
	}
	for _, s := range l.sources {
		if down(trail, s.ID()) {
			continue
		}
		l.mappingIn(ctx, s, &f.lines, m)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if f.lines.hash != ([32]byte{}) {
			return nil
		}
	}
	return nil
}

// mappingIn looks for a mapping in one source. One that we trip over has none.
func (l *Locator) mappingIn(ctx context.Context, s source.Source, n *mapping, m *wish) {
	defer func() {
		if p := recover(); p != nil {
			n.hash, n.read = [32]byte{}, nil
			l.log.Error("a mapping could not be looked for", "source", s.ID(), "error", panicked(p))
		}
	}()
	candidates, err := s.Candidates(ctx, m.Module, []string{source.IL2CPP})
	if err != nil {
		return
	}
	for _, c := range candidates {
		n.source, n.at, n.key = s, c, l.key(c, m.Module)
		end := l.askMapping(ctx, n, m)
		if n.hash != ([32]byte{}) {
			return
		}
		if n.again.IsZero() || end.Before(n.again) {
			n.again = end
		}
	}
}

// askMapping finds out whether a mapping is where n says, and if not, until when
// that holds. What is known is asked first.
func (l *Locator) askMapping(ctx context.Context, n *mapping, m *wish) time.Time {
	blob, err := l.tier.Get(ctx, cache.Meta, n.key)
	if err != nil {
		f, end := fault.Of(err), cache.Expires(err)
		if m.forgotten().Before(end.Add(-l.life(f, n.at))) {
			return end
		}
	}
	if blob != nil {
		defer blob.Close()
		if n.hash = readSum(blob, n.key); n.hash != ([32]byte{}) {
			return time.Time{}
		}
	}
	f := l.fetchMapping(ctx, n)
	if f == nil {
		return time.Time{}
	}
	return l.now().Add(max(l.life(f, n.at), time.Minute))
}

// reading is a mapping that came, or the fault that came instead of it.
type reading struct {
	read  *il2cpp.Map
	hash  [32]byte
	fault *fault.Error
}

// fetchMapping gets the text of a mapping and reads it, for all who ask for it now.
func (l *Locator) fetchMapping(ctx context.Context, n *mapping) *fault.Error {
	r, err := l.reads.Do(ctx, n.key, func(ctx context.Context) (reading, error) { return l.readMapping(ctx, n.source, n.at, n.key), nil })
	if err != nil { // the caller left, or it is a mistake of ours
		return fault.Of(err)
	}
	n.read, n.hash = r.read, r.hash
	return r.fault
}

func (l *desk) readMapping(ctx context.Context, s source.Source, c source.Candidate, key cache.Key) (r reading) {
	text, attempt, err := l.fetchText(ctx, s, c)
	if err == nil {
		r.read, err = il2cpp.Read(text, nil)
	}
	if err != nil {
		if r.fault = fault.Of(err); ctx.Err() == nil {
			l.remember(ctx, key, r.fault, c)
			l.tell(c, attempt, r.fault)
		}
		return r
	}
	r.hash = sha256.Sum256(text)
	if !c.Local {
		l.keepText(ctx, cache.Objects, key, text)
		l.keepText(ctx, cache.Meta, key, sumText(key, r.hash))
	}
	return r
}

// openMapping reads a mapping that is there, or was.
func (l *Locator) openMapping(ctx context.Context, n *mapping) {
	if n.read != nil || n.hash == ([32]byte{}) {
		return
	}
	if text := l.keptText(ctx, n.key); text != nil {
		if read, err := il2cpp.Read(text, nil); err == nil {
			n.read, n.hash = read, sha256.Sum256(text)
			return
		}
		l.tier.Forget(ctx, cache.Objects, n.key)
	}
	n.hash = [32]byte{}
	if f := l.fetchMapping(context.WithoutCancel(ctx), n); f != nil {
		n.again = l.now().Add(renewLater)
	}
}

// Of a mapping its hash is kept, in hexadecimal digits behind a checksum.

func sumText(key cache.Key, hash [32]byte) []byte {
	text := hex.AppendEncode(nil, hash[:])
	return append([]byte(checksum(key, text)), text...)
}

// readSum is the hash; zero if it is damaged.
func readSum(src bin.Source, key cache.Key) (hash [32]byte) {
	text, err := bin.Read(src, 0, int(min(src.Size(), 256)))
	if err != nil || len(text) != sumSize+2*len(hash) || string(text[:sumSize]) != checksum(key, text[sumSize:]) {
		return hash
	}
	if _, err := hex.Decode(hash[:], text[sumSize:]); err != nil {
		return [32]byte{}
	}
	return hash
}
