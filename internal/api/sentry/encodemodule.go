package sentry

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/symbolicate"
)

// module writes what became of a module. Until all of its stack traces are
// written it may still be lost.
func (e *encoder) module(m int32) {
	sent, known := &e.modules[m], &e.known[m]
	e.Raw(`{"debug_status":"`)
	e.Raw(debugStatus(known))
	e.Raw(`","features":`)
	e.features(known.Features, known.VCS)
	e.member("arch", archName(known.Arch, sent.kind))
	e.member("type", sent.kind.String())
	if !sent.codeID.IsZero() {
		e.member("code_id", string(sent.codeID))
	}
	if sent.codeFile.there {
		e.member("code_file", sent.codeFile.text)
	}
	if sent.hasDebug {
		e.member("debug_id", sent.debugID.String())
	}
	if sent.debugFile.there {
		e.member("debug_file", sent.debugFile.text)
	}
	if sent.checksum.there {
		e.member("debug_checksum", sent.checksum.text)
	}
	e.Raw(`,"image_addr":`)
	e.hex(sent.addr)
	if sent.hasSize {
		e.Raw(`,"image_size":`)
		e.Buf = strconv.AppendUint(e.Buf, sent.size, 10)
	}
	if e.listing {
		e.candidates(m)
	}
	e.Raw(`}`)
}

// debugStatus is the kind of failure in the words of the protocol.
func debugStatus(known *symbolicate.Module) string {
	switch {
	case !known.Asked:
		return "unused"
	case known.Found:
		return "found"
	}
	switch kindOf(known.Report.Fault) {
	case fault.NotFound:
		return "missing"
	case fault.Malformed:
		return "malformed"
	case fault.Denied, fault.Transport:
		return "fetching_failed"
	case fault.Timeout:
		return "timeout"
	case fault.Unsupported:
		return "unsupported"
	}
	return "other"
}

// kindOf is the kind of a failure, a plain miss where none is told.
func kindOf(f *fault.Error) fault.Kind {
	if f == nil {
		return fault.NotFound
	}
	return f.Kind
}

func (e *encoder) features(f object.Features, vcs string) {
	for i, one := range [...]struct {
		name string
		has  object.Features
	}{
		{"has_debug_info", object.HasDebug}, {"has_unwind_info", object.HasUnwind},
		{"has_symbols", object.HasSymbols}, {"has_sources", object.HasSources},
	} {
		e.Raw([]string{`{"`, `,"`}[min(i, 1)])
		e.Raw(one.name)
		e.Raw(`":`)
		e.Buf = strconv.AppendBool(e.Buf, f&one.has != 0)
	}
	if vcs != "" {
		e.member("srcsrv_vcs", vcs)
	}
	e.Raw(`}`)
}

// archName is the name that the protocol has for an architecture. Code of .NET
// has none.
func archName(a ident.Arch, kind ident.Type) string {
	if a = a.Family(); a == ident.ArchMIPS64 {
		a = ident.ArchMIPS // the protocol does not tell them apart
	}
	if kind == ident.TypeDotnet || a > ident.ArchMIPS64el && a != ident.ArchWasm32 {
		a = ident.ArchUnknown
	}
	return a.String()
}

// nothingListed stands where a source has no place for any file of a module.
const nothingListed = "No object files listed on this source"

// linkSource is the source of what came from the address of a source file.
const linkSource = "sourcelink"

// candidate is a place that was looked at.
type candidate struct {
	source, location string
	fault            *fault.Error
	features         object.Features
	vcs              string
	debug            string // what became of it as the debug file; empty: it was not chosen
	why              string
}

// candidates writes the places that were looked at for a module, if there are
// any, each once: those for the debug file come first.
func (e *encoder) candidates(m int32) {
	known := &e.known[m]
	all := candidatesOf(nil, known.Trail())
	e.chosen(all, known)
	all = candidatesOf(all, known.SourceTrail())
	for _, l := range e.excerpts.order {
		if l.asked && slices.Contains(l.modules, m) {
			all = append(all, candidate{source: linkSource, location: l.url, fault: l.fault, features: object.HasSources})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.location, b.location))
	})
	all = slices.CompactFunc(all, func(a, b candidate) bool { return a.source == b.source && a.location == b.location })
	for i := range all {
		e.Raw([]string{`,"candidates":[`, `,`}[min(i, 1)])
		e.candidate(&all[i])
	}
	if len(all) > 0 {
		e.Raw(`]`)
	}
}

func candidatesOf(out []candidate, tried []locate.Tried) []candidate {
	for i := range tried {
		t := &tried[i]
		c := candidate{source: t.Source, location: t.Location, fault: t.Fault, features: t.Features, vcs: t.VCS}
		if t.Location == "" {
			c.location, c.fault = nothingListed, fault.New(fault.NotFound, "", nothingListed)
		}
		out = append(out, c)
	}
	return out
}

// chosen says of the file that was to answer what it came to. Where none could
// be chosen since they are damaged, it is the first of them.
func (e *encoder) chosen(all []candidate, known *symbolicate.Module) {
	at := slices.IndexFunc(known.Trail(), func(t locate.Tried) bool { return t.Chosen })
	if known.Found {
		if at >= 0 {
			all[at].debug = "ok"
		}
		return
	}
	why := known.Report.Fault
	if at < 0 && kindOf(why) == fault.Malformed {
		at = slices.IndexFunc(all, func(c candidate) bool { return c.fault != nil && c.fault.Kind == fault.Malformed })
	}
	if at < 0 {
		return
	}
	all[at].debug, all[at].why = e.verdict(why)
	if all[at].debug == "notfound" || all[at].debug == "noperm" {
		all[at].debug = "error"
	}
}

// verdict names a failure as the peer does, and adds its detail. A download
// that reached a limit of ours is reported with the limit of all its tries, as
// the peer has it; one that the server ended with a status of its own is not.
func (e *encoder) verdict(f *fault.Error) (status, details string) {
	if f == nil {
		return "ok", ""
	}
	switch f.Kind {
	case fault.NotFound:
		return "notfound", ""
	case fault.Malformed:
		return "malformed", ""
	case fault.Denied:
		return "noperm", f.Detail
	case fault.Timeout:
		if f.Status != 0 {
			return "error", "download failed: " + f.Detail
		}
		return "error", "download timed out after " + shortTime(e.patience)
	case fault.Unsupported:
		return "error", "unsupported: " + f.Detail
	case fault.Transport:
		detail := f.Detail
		if detail == "connection refused" {
			detail = "Connection refused (os error 111)" // clients look for it
		}
		return "error", "download failed: " + detail
	}
	return "error", "internal error"
}

// shortTime writes a time in the unit that it has at least one of, without
// minutes: 300s, 1.5s, 200ms.
func shortTime(d time.Duration) string {
	unit, name := time.Second, "s"
	switch {
	case d < time.Microsecond:
		unit, name = time.Nanosecond, "ns"
	case d < time.Millisecond:
		unit, name = time.Microsecond, "µs"
	case d < time.Second:
		unit, name = time.Millisecond, "ms"
	}
	return strconv.FormatFloat(float64(d)/float64(unit), 'f', -1, 64) + name
}

func (e *encoder) candidate(c *candidate) {
	e.Raw(`{"source":`)
	e.Buf = json.AppendQuoted(e.Buf, c.source)
	e.member("location", c.location)
	status, details := e.verdict(c.fault)
	e.Raw(`,"download":{"status":"`)
	e.Raw(status)
	e.Raw(`"`)
	if details != "" {
		e.member("details", details)
	}
	if c.fault == nil {
		e.name("features")
		e.features(c.features, c.vcs)
	}
	e.Raw(`}`)
	if c.debug != "" {
		e.Raw(`,"debug":{"status":"`)
		e.Raw(c.debug)
		e.Raw(`"`)
		if c.why != "" {
			e.member("details", c.why)
		}
		e.Raw(`}`)
	}
	e.Raw(`}`)
}
