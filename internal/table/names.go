package table

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// symcaches are the tables of functions, files and lines.
var symcaches = &kind{
	name: cache.Symcache, version: fmt.Sprint(symcache.Version),
	open: openNames, direct: namesOf, build: buildNames,
}

// answerer looks up addresses. A file and its table return the same frames.
// AppendText appends the text of t. It is plain if it needs no escapes in JSON:
// printable ASCII without quotes and backslashes.
type answerer interface {
	Lookup(dst []sym.Frame, addr uint64) []sym.Frame
	Nearest(addr uint64) (sym.Frame, bool)
	AppendText(dst []byte, t sym.Text) (out []byte, plain bool)
}

// direct is an open file without a table.
type direct struct{ *object.Object }

func (d direct) AppendText(dst []byte, t sym.Text) ([]byte, bool) {
	return d.Object.AppendText(dst, t), false
}

func namesOf(obj *object.Object) *entry { return &entry{names: direct{obj}, mangled: obj.Mangled()} }

func openNames(t *shared, blob cache.Blob, hash [32]byte, m ident.Module) (*entry, error) {
	tab, err := symcache.Open(blob)
	if err == nil && (tab.Info().InputHash != hash || tab.Info().Module.DebugID != m.DebugID) {
		err = fault.New(fault.Malformed, "symcache", "the table of another file")
	}
	if err != nil {
		_ = blob.Close()
		return nil, err
	}
	names := t.cfg.names(blob.Size())
	tab.Remember(names)
	return &entry{names: tab, mangled: tab.Info().Flags&symcache.Mangled != 0, size: blob.Size() + names, blob: blob}, nil
}

func buildNames(ctx context.Context, t *shared, w io.Writer, obj *object.Object, in Input) error {
	if obj.Info().Kind == "symbfile" && t.cfg.MaxBytes > 0 {
		// Its table may be a thousand times as large as the file, which answers as
		// well.
		w = &limitedWriter{w: w, cfg: &t.cfg}
	}
	opt := symcache.Options{Memory: int64(t.cfg.BuildMemory), Scratch: t.scratch, Workers: max(1, runtime.GOMAXPROCS(0)-1)}
	return Build(ctx, w, obj, opt, in)
}

// limitedWriter writes a table that must fit into the memory for open tables.
type limitedWriter struct {
	w    io.Writer
	cfg  *Config
	size int64
}

func (b *limitedWriter) Write(p []byte) (int, error) {
	if b.size += int64(len(p)); b.size+b.cfg.names(b.size) > int64(b.cfg.MaxBytes) {
		return 0, fault.New(fault.Unsupported, "table build", "the table does not fit into table.max_bytes")
	}
	return b.w.Write(p)
}

// Build writes the table of obj, an object of this file.
func Build(ctx context.Context, w io.Writer, obj *object.Object, opt symcache.Options, in Input) error {
	names := obj.Names()
	b := symcache.NewBuilder(opt, names.AppendText)
	defer b.Close()
	blocks := 0
	err := obj.Blocks(object.BlockOptions{Workers: opt.Workers, Scratch: opt.Scratch, Memory: opt.Memory / 4}, func(blk *sym.Block) error {
		if blocks++; blocks%32 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			runtime.Gosched() // for answers, also where lowerPriority does nothing
			obj.Relax()
		}
		if err := b.Add(blk); err != nil {
			return err
		}
		if n := names.LeftOut(); n > 0 { // answers from the file have them
			return fault.New(fault.Unsupported, "table build", "names of functions and files are too long: many times the size of the file")
		}
		return nil
	})
	if err != nil {
		return err
	}
	info := obj.Info()
	head := symcache.Info{
		Module: info.Module, Producer: info.Producer, InputSize: in.Size, InputHash: in.Hash, BadRecords: info.BadRecords,
	}
	if obj.Mangled() {
		head.Flags = symcache.Mangled
	}
	return b.Finish(w, head)
}
