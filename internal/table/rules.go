package table

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cficache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/unwind/rule"
)

// Rules looks up unwind information. A file and its table return the same rows.
type Rules interface {
	// Row returns the rules for an address, nil if it has none. It must not be
	// changed, and is valid until the handle is closed.
	Row(addr uint64) rule.Row
	// HasRules reports whether any address has rules.
	HasRules() bool
}

// cficaches are the tables of unwind information.
var cficaches = &kind{
	name: cache.Cficache, version: fmt.Sprint(cficache.Version),
	open:   openRules,
	direct: func(obj *object.Object) *entry { return &entry{rules: RulesOf(obj)} },
	build:  buildRules,
}

// tableRules is an open table.
type tableRules struct{ *cficache.Table }

func (t tableRules) HasRules() bool {
	_, rows := t.Counts()
	return rows > 0
}

func openRules(_ *shared, blob cache.Blob, hash [32]byte, m ident.Module) (*entry, error) {
	data, err := bin.Read(blob, 0, int(blob.Size()))
	var tab *cficache.Table
	if err == nil {
		tab, err = cficache.Open(data)
	}
	if err == nil && (tab.Info().InputHash != hash || tab.Info().Module.DebugID != m.DebugID) {
		err = fault.New(fault.Malformed, "cficache", "the table of another file")
	}
	if err != nil {
		_ = blob.Close()
		return nil, err
	}
	return &entry{rules: tableRules{tab}, size: blob.Size(), blob: blob}, nil
}

func buildRules(ctx context.Context, t *shared, w io.Writer, obj *object.Object, in Input) error {
	return BuildUnwind(ctx, w, obj, int64(t.cfg.BuildMemory), in)
}

// BuildUnwind writes the table of the unwind information of obj, an object of this
// file. It holds at most about memory bytes.
func BuildUnwind(ctx context.Context, w io.Writer, obj *object.Object, memory int64, in Input) error {
	m := obj.Info().Module
	opt := cficache.Options{Info: cficache.Info{Module: m, InputSize: in.Size, InputHash: in.Hash}, Memory: memory}
	records := 0
	return cficache.Build(w, m.Arch, func(yield func(*sym.Unwind) error) error {
		return obj.CFI(func(u *sym.Unwind) error {
			if records++; records%(16<<10) == 0 {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				runtime.Gosched() // for answers, also where lowerPriority does nothing
				obj.Relax()
			}
			return yield(u)
		})
	}, opt)
}

// directRules is an open file without a table.
type directRules struct {
	obj *object.Object
	cpu *rule.CPU // nil: there are no rules
}

// RulesOf returns the unwind information of an object, without a table.
func RulesOf(obj *object.Object) Rules {
	info := obj.Info()
	if info.Features&object.HasUnwind == 0 {
		return directRules{obj: obj}
	}
	return directRules{obj, rule.For(info.Module.Arch)}
}

func (d directRules) HasRules() bool { return d.cpu != nil }

// Row returns the first row of Windows, and after it, for evaluations that fail, that
// of CFI.
func (d directRules) Row(addr uint64) (row rule.Row) {
	if d.cpu == nil {
		return nil
	}
	var compiler *rule.Compiler // large, and most addresses of a scan have no rules
	keep := func(start, end uint64, r rule.Row) error {
		if addr-start < end-start {
			row = append(row, r...)
		}
		return nil
	}
	err := d.obj.CFIAt(addr, func(u *sym.Unwind) error {
		if u.Kind == sym.UnwindWindows && row != nil {
			return nil
		}
		if compiler == nil {
			compiler = &rule.Compiler{CPU: d.cpu}
		}
		return compiler.Add(u, keep)
	})
	if err == nil && compiler != nil {
		err = compiler.Flush(keep)
	}
	if err != nil { // the disk fails
		return nil
	}
	return row
}
