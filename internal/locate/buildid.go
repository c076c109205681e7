package locate

import (
	"context"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/ident"
)

// maxBuildID is more bytes than what is kept of a build id.
const maxBuildID = 1 << 10

// buildID returns the build id that a file states, if its debug id follows from
// it.
func (meta *Meta) buildID() ident.BuildID {
	if t := meta.Module.Type; t != ident.TypeELF && t != ident.TypeWasm {
		return ""
	}
	id, err := ident.ParseBuildID(meta.Module.CodeID.String())
	if err != nil || !id.Fits(meta.Module.DebugID) {
		return ""
	}
	return id
}

// learn keeps the build id of a file that was found for m, for modules that are
// known by their debug id alone.
func (l *Locator) learn(ctx context.Context, m ident.Module, meta *Meta, public bool) {
	id, debugID := meta.buildID(), meta.Module.DebugID
	if id.IsZero() || l.guests {
		return
	}
	key := l.buildIDKey(debugID, public)
	if l.keptBuildID(ctx, key, debugID) == id {
		return
	}
	text := []byte(id.String())
	blob, err := l.tier.Put(context.WithoutCancel(ctx), cache.Meta, key, func(w io.Writer) error {
		_, err := io.WriteString(w, checksum(key, text)+id.String())
		return err
	})
	if err != nil {
		l.log.Warn("cannot keep a build id", "error", err)
		return
	}
	_ = blob.Close()       // it was only written
	if !m.LacksBuildID() { // else m itself is looked up by it at once
		l.invalidations.note(learnedID(debugID), l.now())
	}
}

// learned returns the build id of the files that were seen with a debug id, "" if
// none was.
func (l *Locator) learned(ctx context.Context, d ident.DebugID) ident.BuildID {
	if l.guests {
		return ""
	}
	if id := l.keptBuildID(ctx, l.buildIDKey(d, false), d); !id.IsZero() {
		return id
	}
	return l.keptBuildID(ctx, l.buildIDKey(d, true), d)
}

// keptBuildID returns the build id that is kept under a key.
func (l *Locator) keptBuildID(ctx context.Context, key cache.Key, d ident.DebugID) ident.BuildID {
	blob, err := l.tier.Get(ctx, cache.Meta, key)
	if err != nil || blob == nil {
		return ""
	}
	defer blob.Close()
	text, err := bin.Read(blob, 0, int(min(blob.Size(), maxBuildID)))
	if err != nil || len(text) < sumSize || string(text[:sumSize]) != checksum(key, text[sumSize:]) {
		return ""
	}
	id, err := ident.ParseBuildID(string(text[sumSize:]))
	if err != nil || !id.Fits(d) {
		return ""
	}
	return id
}

// buildIDKey names what is kept of a debug id: that of private files is for their
// scope, that of public ones for all.
func (l *Locator) buildIDKey(d ident.DebugID, public bool) cache.Key {
	if public {
		return cache.KeyOf("build id", "public", d.Breakpad())
	}
	return cache.KeyOf("build id", "scope", l.scope, d.Breakpad())
}

// learnedID returns what is invalidated when the build id of a debug id was
// learned: modules without the build id are looked up again.
func learnedID(d ident.DebugID) string { return "build id of " + d.Breakpad() }

// merged returns the second trail of a lookup, with what the first one knows of
// places that were asked for it.
func merged(first, second []Tried) []Tried {
	for i := range second {
		t := &second[i]
		for _, before := range first {
			if t.Cached && t.Source == before.Source && t.Kind == before.Kind && t.Location == before.Location {
				before.Chosen = t.Chosen
				*t = before
				break
			}
		}
	}
	return second
}
