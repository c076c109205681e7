package table

import (
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
var cficaches = &kind{direct: rulesOf}

// directRules is an open file without a table.
type directRules struct {
	obj *object.Object
	cpu *rule.CPU // nil: unknown
}

func rulesOf(obj *object.Object) *entry {
	return &entry{rules: directRules{obj, rule.For(obj.Info().Module.Arch)}}
}

func (d directRules) HasRules() bool {
	return d.cpu != nil && d.obj.Info().Features&object.HasUnwind != 0
}

// Row returns the first row of Windows, and after it, for evaluations that fail, that
// of CFI.
func (d directRules) Row(addr uint64) (row rule.Row) {
	if d.cpu == nil {
		return nil
	}
	compiler := rule.Compiler{CPU: d.cpu}
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
		return compiler.Add(u, keep)
	})
	if err == nil {
		err = compiler.Flush(keep)
	}
	if err != nil { // the disk fails
		return nil
	}
	return row
}
