package table

import (
	"context"
	"io"

	"symbolon/internal/cache"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
)

// A kind of table answers one kind of question. All kinds have the same life: a file
// answers for itself until its table has been built, stored and opened.
type kind struct {
	name    cache.Kind
	version string
	// open opens the table in blob. If that is not the table of the object m of the
	// file with this hash, it closes blob and returns a fault.
	open func(t *shared, blob cache.Blob, hash [32]byte, m ident.Module) (*entry, error)
	// direct makes an entry that answers from the file.
	direct func(obj *object.Object) *entry
	build  func(ctx context.Context, t *shared, w io.Writer, obj *object.Object, in Input) error
}

// kindFor returns the kind of table for a purpose.
func kindFor(p locate.Purpose) *kind {
	if p == locate.Unwind {
		return cficaches
	}
	return symcaches
}

// key returns the key of the table of an object: the content of its file and of the
// other inputs, and its id, as a file may have several objects.
func (k *kind) key(hash, aux [32]byte, m ident.Module) cache.Key {
	parts := []string{string(k.name), k.version, string(hash[:]), m.DebugID.String()}
	if aux != ([32]byte{}) {
		parts = append(parts, string(aux[:]))
	}
	return cache.KeyOf(parts...)
}
