package text

import (
	"time"

	"symbolon/internal/crash"
	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
)

// assumed prints the files that were taken for modules without build ids.
func (p *printer) assumed() {
	for _, i := range p.Loaded() {
		if name := p.Assumed[i]; name != "" {
			p.printf("\n%s has no build id. Its file is assumed to be %s, with the same entry point and segments.\n", ident.FileName(p.Modules[i].CodeFile), name)
		}
	}
}

// missing prints the trails of the modules without names or without unwind
// information, in the order of their addresses.
func (p *printer) missing(now time.Time) {
	for _, i := range p.Loaded() {
		m, s := p.Modules[i].Module, &p.Symbols[i]
		m.CodeFile, m.DebugFile = ident.FileName(m.CodeFile), ident.FileName(m.DebugFile)
		for _, x := range []struct {
			purpose locate.Purpose
			lookup  *crash.Lookup
			text    string
		}{{locate.SymFirst, &s.Debug, "names"}, {locate.Unwind, &s.Unwind, "unwind information"}} {
			if !x.lookup.Asked || x.lookup.Found || x.lookup.Report.Fault == nil {
				continue
			}
			p.printf("\nNo %s for %s:\n", x.text, m.CodeFile)
			// Without a candidate the advice is to name a source.
			explain.New(explain.Question{Module: m, Purpose: x.purpose}, x.lookup.Trail, x.lookup.Report.Fault, now, len(x.lookup.Trail)).WriteText(p.w, p.look, true)
			break // the other search went the same way
		}
	}
}
