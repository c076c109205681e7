package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/store/blob"
	"symbolon/internal/symwrite"
	"symbolon/internal/table"
)

// symMaker makes .sym files of files in other formats. They are kept in the disk
// cache as zstd.
type symMaker struct {
	tier    cache.Tier
	scratch bin.Scratch
	memory  *bin.Budget
	flight  *cache.Flight[cache.Key, struct{}]
}

func newSymMaker(tier cache.Tier, scratch bin.Scratch, memory *bin.Budget) *symMaker {
	m := &symMaker{tier: tier, scratch: scratch, memory: memory, flight: cache.NewFlight[cache.Key, struct{}](nil, nil)}
	m.flight.Keep = true // clients may not wait so long, and ask again
	return m
}

// openSym returns a .sym file: the one of a source, or else one made from the best other
// file.
func (n *Node) openSym(ctx context.Context, l *locate.Locator, asked source.FileRequest) (api.File, error) {
	f, err := openOne(ctx, l, asked)
	if err == nil || ctx.Err() != nil {
		return f, err
	}
	made, other := n.syms.open(ctx, l, asked.Module)
	if fault.KindOf(other) == fault.NotFound && other != nil {
		return nil, err
	}
	return made, other
}

// symVersion is part of the keys of .sym files. It changes with package symwrite.
const symVersion = "2"

// symInput has the files from which a .sym file is made.
type symInput struct {
	debug, code *locate.Found // code is nil if debug has unwind information, or if it was not found
	name        string        // of the code file; empty: not known
	key         cache.Key
}

func (in *symInput) close() {
	in.debug.Close()
	if in.code != nil {
		in.code.Close()
	}
}

// find finds the files for a module.
func (k *symMaker) find(ctx context.Context, l *locate.Locator, m ident.Module) (*symInput, error) {
	found, _, err := l.Best(ctx, m, locate.Debug)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		found, _, err = l.Best(ctx, m, locate.Unwind) // names are missing, and stacks can be walked
	}
	if err != nil {
		return nil, err
	}
	in := &symInput{debug: found}
	if found.Features&object.HasUnwind == 0 {
		if m.CodeID.IsZero() {
			m.CodeID, m.CodeFile = found.Module.CodeID, cmp.Or(m.CodeFile, found.Module.CodeFile)
		}
		if in.code, _, err = l.Best(ctx, m, locate.Unwind); err != nil && ctx.Err() != nil {
			found.Close()
			return nil, err
		}
	}
	in.name = codeName(cmp.Or(in.code, found))
	tags := []string{"sym", symVersion, m.DebugFile, in.name}
	for _, f := range []*locate.Found{found, in.code} {
		tag, err := tagOf(ctx, f)
		if err != nil {
			in.close()
			return nil, err
		}
		tags = append(tags, tag)
	}
	in.key = cache.KeyOf(tags...)
	return in, nil
}

// codeName returns the name of a PE file. It is empty if the source stores the file under
// another name, such as "executable", or that of a cabinet, such as "tea.dl_".
func codeName(f *locate.Found) string {
	name := ident.FileName(f.Name())
	if f.Kind != source.PE || path.Ext(name) == "" || strings.HasSuffix(name, "_") || ident.CheckFileName(name) != nil {
		return ""
	}
	return name
}

// tagOf identifies the content of a file, which may be nil.
func tagOf(ctx context.Context, f *locate.Found) (string, error) {
	if f == nil {
		return "", nil
	}
	if f.Tag() == "" { // its source has no validators
		src, err := f.Content(ctx)
		if err != nil {
			return "", err
		}
		sum, err := table.HashOf(src, nil)
		if err != nil {
			return "", err
		}
		f.Record(ctx, sum)
		f.Hash = sum
	}
	return fmt.Sprintf("%s %x", f.Tag(), f.Aux()), nil
}

// open returns the .sym file for a module, which is made once for all clients.
func (k *symMaker) open(ctx context.Context, l *locate.Locator, m ident.Module) (api.File, error) {
	in, err := k.find(ctx, l, m)
	if err != nil {
		return nil, err
	}
	key := in.key
	in.close()
	f, err := k.stored(ctx, key, m)
	if f != nil || err != nil {
		return f, err
	}
	if _, err = k.flight.Do(ctx, key, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, k.make(ctx, l, m)
	}); err != nil {
		return nil, err
	}
	if f, err = k.stored(ctx, key, m); f == nil && err == nil {
		err = fault.New(fault.Internal, "", "the disk cache has no room for a .sym file")
	}
	return f, err
}

// make makes the .sym file for a module.
func (k *symMaker) make(ctx context.Context, l *locate.Locator, m ident.Module) error {
	in, err := k.find(ctx, l, m)
	if err != nil {
		return err
	}
	defer in.close()
	release, err := k.memory.Acquire(ctx, 16<<20+min(in.debug.Size, 48<<20))
	if err != nil {
		return err
	}
	defer release()
	opt := symwrite.Options{File: m.DebugFile, CodeFile: in.name, Generator: "symbolon", Scratch: k.scratch}
	obj, _, err := in.debug.File(ctx)
	if err != nil {
		return err
	}
	if in.code != nil {
		if opt.Binary, _, err = in.code.File(ctx); err != nil {
			return err
		}
	}
	return cache.Store(ctx, k.tier, cache.Objects, in.key, func(w io.Writer) error {
		z := blob.NewWriter(w)
		return errors.Join(symwrite.Write(ctx, z, obj, opt), z.Close())
	})
}

// stored returns the .sym file that is stored under a key, or nil.
func (k *symMaker) stored(ctx context.Context, key cache.Key, m ident.Module) (api.File, error) {
	entry, err := k.tier.Get(ctx, cache.Objects, key)
	if err != nil || entry == nil {
		return nil, err
	}
	r, err := blob.Open(ctx, entry)
	if err != nil { // it is made again
		_ = entry.Close() // else r closes it
		k.tier.Forget(ctx, cache.Objects, key)
		return nil, nil
	}
	return &packedFile{r, api.FileInfo{Name: ident.SymName(m.DebugFile), Tag: key.String()[:32]}}, nil
}

// packedFile is a file that is stored as a zstd stream. Close releases it.
type packedFile struct {
	*blob.Reader
	info api.FileInfo
}

// Info returns the name of the file and its entity tag.
func (o *packedFile) Info() api.FileInfo { return o.info }
