package locate

import (
	"context"

	"symbolon/internal/cache"
	"symbolon/internal/ident"
)

// buildID returns the build id that a file has, if its debug id follows from it.
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

// learnBuildID stores the build id of a file that was found for m, for modules that
// have only the debug id.
func (l *Locator) learnBuildID(ctx context.Context, m ident.Module, meta *Meta, public bool) {
	id, debugID := meta.buildID(), meta.Module.DebugID
	if id.IsZero() || l.untrusted {
		return
	}
	key := l.buildIDKey(debugID, public)
	if l.storedBuildID(ctx, key, debugID) == id {
		return
	}
	if err := l.storeChecked(ctx, key, []byte(id.String())); err != nil {
		l.log.Warn("cannot store a build id", "error", err)
		return
	}
	if !m.LacksBuildID() { // else this lookup uses it
		l.invalidations.note(learnedMark(debugID), l.now())
	}
}

// learnedBuildID returns the build id of the files that were found with a debug id,
// or "".
func (l *Locator) learnedBuildID(ctx context.Context, d ident.DebugID) ident.BuildID {
	if l.untrusted {
		return ""
	}
	if id := l.storedBuildID(ctx, l.buildIDKey(d, false), d); !id.IsZero() {
		return id
	}
	return l.storedBuildID(ctx, l.buildIDKey(d, true), d)
}

// storedBuildID returns the build id that is stored under a key, or "".
func (l *Locator) storedBuildID(ctx context.Context, key cache.Key, d ident.DebugID) ident.BuildID {
	blob, err := l.tier.Get(ctx, cache.Meta, key)
	if err != nil || blob == nil {
		return ""
	}
	defer blob.Close()
	text, err := readChecked(blob, key)
	if err != nil {
		return ""
	}
	id, err := ident.ParseBuildID(string(text))
	if err != nil || !id.Fits(d) {
		return ""
	}
	return id
}

// buildIDKey returns the key of the build id of a debug id. Build ids of private files
// are stored for their scope, those of public files for all.
func (l *Locator) buildIDKey(d ident.DebugID, public bool) cache.Key {
	if public {
		return cache.KeyOf("build id", "public", d.Breakpad())
	}
	return cache.KeyOf("build id", "scope", l.scope, d.Breakpad())
}

// learnedMark returns the identifier that is invalidated when the build id of a
// debug id is learned: modules without the build id are looked up again.
func learnedMark(d ident.DebugID) string { return "build id of " + d.Breakpad() }

// mergeTrails returns the second trail of a lookup. Attempts that it took from the
// cache and that the first one made are those of the first.
func mergeTrails(first, second []Tried) []Tried {
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
