package sentry

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
)

// module writes the outcome for a module. It may change until all of its stack
// traces are written.
func (e *encoder) module(m int32) {
	sent, known := &e.Modules[m], &e.known[m]
	e.Open('{')
	e.Key("debug_status").String(lookupStatus(known.Asked, known.Found, known.Report.Fault))
	features := known.Features
	if u := e.unwinding(m); u != nil {
		e.Key("unwind_status").String(lookupStatus(u.asked, u.found, u.fault))
		features |= u.features
	}
	e.Key("features")
	e.features(features, known.VCS)
	e.Key("arch").String(archName(known.Arch, sent.Kind))
	e.Key("type").String(sent.Kind.String())
	if !sent.CodeID.IsZero() {
		e.Key("code_id").String(string(sent.CodeID))
	}
	if sent.CodeFile.OK {
		e.Key("code_file").String(sent.CodeFile.Text)
	}
	if sent.HasDebug {
		e.Key("debug_id").String(sent.DebugID.String())
	}
	if sent.DebugFile.OK {
		e.Key("debug_file").String(sent.DebugFile.Text)
	}
	if sent.Checksum.OK {
		e.Key("debug_checksum").String(sent.Checksum.Text)
	}
	e.Key("image_addr").Hex(sent.Addr)
	if sent.HasSize {
		e.Key("image_size").Uint(sent.Size)
	}
	if e.Listing {
		e.candidates(m)
	}
	e.Close('}')
}

// lookupStatus returns the status of the protocol for the search for a file of a
// module.
func lookupStatus(asked, found bool, why *fault.Error) string {
	switch {
	case !asked:
		return "unused"
	case found:
		return "found"
	}
	switch kindOf(why) {
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

// kindOf returns the kind of a fault, NotFound for nil.
func kindOf(f *fault.Error) fault.Kind {
	if f == nil {
		return fault.NotFound
	}
	return f.Kind
}

func (e *encoder) features(f object.Features, vcs string) {
	e.Open('{')
	for _, one := range [...]struct {
		name    string
		feature object.Features
	}{
		{"has_debug_info", object.HasDebug}, {"has_unwind_info", object.HasUnwind},
		{"has_symbols", object.HasSymbols}, {"has_sources", object.HasSources},
	} {
		e.Key(one.name).Bool(f&one.feature != 0)
	}
	if vcs != "" {
		e.Key("srcsrv_vcs").String(vcs)
	}
	e.Close('}')
}

// archName returns the name of an architecture in the protocol. .NET code is
// "unknown".
func archName(a ident.Arch, kind ident.Type) string {
	if a = a.Family(); a == ident.ArchMIPS64 {
		a = ident.ArchMIPS // the protocol does not distinguish them
	}
	if kind == ident.TypeDotnet || a > ident.ArchMIPS64el && a != ident.ArchWasm32 {
		a = ident.ArchUnknown
	}
	return a.String()
}

// nothingListed is the location of a source without a path for the module.
const nothingListed = "No object files listed on this source"

// linkSource is the source of files that were fetched from a link.
const linkSource = "sourcelink"

// candidate is an entry of the trail of a module.
type candidate struct {
	source, location string
	fault            *fault.Error
	features         object.Features
	vcs              string
	debug, unwind    use
}

// use is the status of a file that was chosen for a purpose, "" for others.
type use struct{ status, why string }

// candidates writes the trail of a module, if it is not empty, without duplicates.
func (e *encoder) candidates(m int32) {
	known := &e.known[m]
	all := candidatesOf(nil, known.Trail())
	if at, chosen := e.chosen(all, known.Trail(), known.Found, known.Report.Fault); at >= 0 {
		all[at].debug = chosen
	}
	if u := e.unwinding(m); u != nil {
		more := candidatesOf(nil, u.trail)
		if at, chosen := e.chosen(more, u.trail, u.found, u.fault); at >= 0 {
			more[at].unwind = chosen
		}
		all = append(all, more...)
	}
	all = candidatesOf(all, known.SourceTrail())
	for _, l := range e.excerpts.order {
		if l.asked && slices.Contains(l.modules, m) {
			all = append(all, candidate{source: linkSource, location: l.url, fault: l.fault, features: object.HasSources})
		}
	}
	if all = merge(all); len(all) == 0 {
		return
	}
	e.Key("candidates").Open('[')
	for i := range all {
		e.candidate(&all[i])
	}
	e.Close(']')
}

// merge sorts candidates, and merges those of one place: the first one counts, with
// the uses of all.
func merge(all []candidate) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.location, b.location))
	})
	out := all[:0]
	for _, c := range all {
		if n := len(out); n > 0 && out[n-1].source == c.source && out[n-1].location == c.location {
			out[n-1].debug = cmp.Or(out[n-1].debug, c.debug)
			out[n-1].unwind = cmp.Or(out[n-1].unwind, c.unwind)
			continue
		}
		out = append(out, c)
	}
	return out
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

// chosen returns the index of the candidate that was chosen, and its status, or -1.
// If all files are malformed, it is the first of them.
func (e *encoder) chosen(all []candidate, trail []locate.Tried, found bool, why *fault.Error) (at int, u use) {
	at = slices.IndexFunc(trail, func(t locate.Tried) bool { return t.Chosen })
	if found {
		return at, use{status: "ok"}
	}
	if at < 0 && kindOf(why) == fault.Malformed {
		at = slices.IndexFunc(all, func(c candidate) bool { return c.fault != nil && c.fault.Kind == fault.Malformed })
	}
	u.status, u.why = verdict(why)
	if u.status == "notfound" || u.status == "noperm" {
		u.status = "error"
	}
	return at, u
}

// verdict returns the status and the details of a fault, as Symbolicator has them.
func verdict(f *fault.Error) (status, details string) {
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
		return "error", "download timed out" + afterLimit(f.Detail)
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

// afterLimit returns the time limit that the detail of a timeout ends with.
func afterLimit(detail string) string {
	limit, err := time.ParseDuration(detail[strings.LastIndexByte(detail, ' ')+1:])
	if err != nil {
		return ""
	}
	return " after " + shortTime(limit)
}

// shortTime formats a duration in the largest unit, up to seconds, in which it is at
// least one: 300s, 1.5s, 200ms.
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
	e.Open('{')
	e.Key("source").String(c.source)
	e.Key("location").String(c.location)
	e.Key("download").Open('{')
	e.statusOf(verdict(c.fault))
	if c.fault == nil {
		e.Key("features")
		e.features(c.features, c.vcs)
	}
	e.Close('}')
	for _, one := range [...]struct {
		name string
		use
	}{{"unwind", c.unwind}, {"debug", c.debug}} {
		if one.status != "" {
			e.Key(one.name).Open('{')
			e.statusOf(one.status, one.why)
			e.Close('}')
		}
	}
	e.Close('}')
}

func (e *encoder) statusOf(status, details string) {
	e.Key("status").String(status)
	if details != "" {
		e.Key("details").String(details)
	}
}
