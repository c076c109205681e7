package symbfile

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/source"
)

// file is a file of the store.
type file struct {
	*Store
	id   ident.FileID
	kind Kind
}

// publish publishes a file, with the identities that its parts name. A file of one
// part that is published already is not written again; then the Info is nil.
func (f file) publish(ctx context.Context, c *ingest.Complete) (*Info, error) {
	heads, err := readHeads(c.Parts)
	if err != nil {
		return nil, err
	}
	i := describe(heads)
	if len(heads) == 1 {
		old, err := f.published(ctx, f.kind)
		if err != nil {
			return nil, err
		}
		if old != nil && old.Content == i.Content && old.agrees(heads[0]) {
			return nil, f.alias(ctx, heads[0].BuildID, old.Base)
		}
	} else if err := f.verify(c, f.kind, heads); err != nil {
		return nil, err
	} else {
		i = describe(heads)
	}
	sent, err := f.identify(ctx, i, heads)
	if err != nil {
		return nil, err
	}
	tail, err := i.frame()
	if err != nil {
		return nil, err
	}
	parts := c.Open()
	defer parts.Close()
	key := source.ElasticPath(f.id, f.kind.String())
	if _, err := f.deps.Bucket.Put(ctx, key, io.MultiReader(parts, bytes.NewReader(tail)), bucket.Attrs{}); err != nil {
		return nil, err
	}
	f.deps.Log.Info("symbols are published", "file", f.id.Base64(), "kind", f.kind, "parts", i.Parts, "records", i.Records, "size", i.Size)
	if err := f.alias(ctx, sent, i.Base); err != nil {
		return nil, err
	}
	return i, nil
}

// published returns the Info of the published file of a kind, nil if it is missing.
func (f file) published(ctx context.Context, k Kind) (*Info, error) {
	i, err := f.Info(ctx, f.id, k)
	if kind := fault.KindOf(err); err != nil && (kind == fault.NotFound || kind == fault.Malformed) {
		return nil, nil
	}
	return i, err
}

// identify sets the build id and the base of i to the first ones in the parts, else to
// those of the published files unless their build id differs. It returns the build id in
// the parts.
func (f file) identify(ctx context.Context, i *Info, heads []*head) (sent ident.BuildID, err error) {
	var base *uint64
	for _, h := range heads {
		if sent.IsZero() {
			sent = h.BuildID
		}
		if base == nil {
			base = h.Base
		}
	}
	i.BuildID = sent
	for _, kind := range [...]Kind{f.kind, Ranges + ReturnPads - f.kind} {
		if !i.BuildID.IsZero() && base != nil {
			break
		}
		old, err := f.published(ctx, kind)
		if err != nil {
			return "", err
		}
		if old == nil || old.BuildID.IsZero() {
			continue
		}
		if i.BuildID.IsZero() {
			i.BuildID = old.BuildID
		}
		if base == nil && i.BuildID == old.BuildID {
			base = &old.Base
		}
	}
	if base != nil {
		i.Base = *base
	}
	return sent, nil
}

// alias writes the file for a build id and the debug ids made of it.
func (f file) alias(ctx context.Context, id ident.BuildID, base uint64) error {
	if id.IsZero() {
		return nil
	}
	text, err := json.Marshal(source.Alias{FileID: f.id, Base: base})
	if err != nil {
		return fault.New(fault.Internal, "", "%w", err)
	}
	paths := source.AliasPaths(ident.Module{CodeID: id.CodeID(), DebugID: id.DebugID(false)})
	paths = append(paths, source.AliasPaths(ident.Module{DebugID: id.DebugID(true)})...) // the other order of bytes
	for _, path := range paths {
		if _, err := f.deps.Bucket.Put(ctx, path, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text))}); err != nil {
			return err
		}
	}
	return nil
}
