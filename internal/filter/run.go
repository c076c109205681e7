package filter

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/console"
	"symbolon/internal/ident"
)

// Run is the rewriting of one input. It is safe for concurrent use.
type Run struct {
	Names Names
	// Answer answers a request to a path of the interfaces of Mozilla or Symbolicator.
	// It is safe for concurrent use. The answer is JSON on one line, the error may be a
	// *StatusError.
	Answer func(ctx context.Context, path string, body []byte) ([]byte, error)
	Force  bool // names that the input has are replaced
	// Known has the modules that the user named, by path or file name.
	Known map[string]ident.Module
	// Local returns the identifiers of the file at a path; nil if files of this
	// machine are not used. It is called by one goroutine at a time.
	Local func(path string) (ident.Module, bool)

	mu      sync.Mutex
	modules map[string]*outcome
}

// outcome is the addresses of a module that have no names.
type outcome struct {
	name string
	lost int
	why  error // nil: it has names, but not for these
}

// errNoID is the reason of modules that the input does not identify.
var errNoID = errors.New("the input does not identify the file; use --module NAME=FILE, or --local for files at their paths")

// Module completes the identifiers of a module that the input names by its path.
// Those of the input precede those of the user, and these those of the file at the
// path. It returns false if there are none: the addresses of the module have no
// names. A code id without a type is the build id of an ELF file.
func (r *Run) Module(name string, m ident.Module) (ident.Module, bool) {
	m.CodeFile = base(cmp.Or(m.CodeFile, name))
	m.DebugFile = base(cmp.Or(m.DebugFile, m.CodeFile))
	m = derived(m)
	var local ident.Module
	isLocal := false
	if r.Local != nil { // also if the input has identifiers, as it may be that file
		r.mu.Lock()
		local, isLocal = r.Local(name)
		r.mu.Unlock()
	}
	if !m.CodeID.IsZero() || !m.DebugID.IsZero() || !m.FileID.IsZero() {
		return m, true
	}
	for _, n := range []string{name, base(name)} {
		if known, ok := r.Known[n]; ok {
			return named(known, m), true
		}
	}
	if isLocal {
		return named(local, m), true
	}
	r.miss(name, errNoID)
	return m, false
}

// named returns m with the file names of the module in the input, if it has none.
func named(m, input ident.Module) ident.Module {
	m.CodeFile = cmp.Or(m.CodeFile, input.CodeFile)
	m.DebugFile = cmp.Or(m.DebugFile, input.DebugFile)
	return derived(m)
}

// derived returns m with the identifiers that follow from a build id.
func derived(m ident.Module) ident.Module {
	if m.Type == ident.TypeUnknown && !m.CodeID.IsZero() && m.DebugID.IsZero() {
		m.Type = ident.TypeELF
		return m.Derive()
	}
	return m
}

// base returns the last component of a path of any system.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// Look looks addresses up, and counts them for Report.
func (r *Run) Look(ctx context.Context, q *Query) (Answer, error) {
	a, err := r.Names.Look(ctx, q)
	if err != nil {
		return nil, err
	}
	return &counted{Answer: a, run: r, q: q}, nil
}

// counted is an Answer whose addresses are counted when it is released.
type counted struct {
	Answer
	run *Run
	q   *Query
	ok  []bool
}

func (c *counted) Frames(i int) []Frame {
	f := c.Answer.Frames(i)
	if len(f) > 0 {
		if c.ok == nil {
			c.ok = make([]bool, len(c.q.Addresses))
		}
		c.ok[i] = true
	}
	return f
}

func (c *counted) Release() {
	for i, a := range c.q.Addresses {
		if a.Module < 0 {
			continue
		}
		m := c.q.Modules[a.Module]
		if c.ok == nil || !c.ok[i] {
			c.run.miss(cmp.Or(m.CodeFile, m.DebugFile), c.Missing(a.Module))
		}
	}
	c.Answer.Release()
}

// miss counts an address of a module without names.
func (r *Run) miss(name string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.modules[name]
	if o == nil {
		o = &outcome{name: name}
		if r.modules == nil {
			r.modules = map[string]*outcome{}
		}
		r.modules[name] = o
	}
	o.lost++
	if why != nil {
		o.why = why
	}
}

// maxReport limits the modules that Report lists.
const maxReport = 20

// Report prints the modules with addresses that have no names, and why.
func (r *Run) Report(w io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.SortedFunc(maps.Values(r.modules), func(a, b *outcome) int { return strings.Compare(a.name, b.name) })
	list = slices.DeleteFunc(list, func(o *outcome) bool { return o.why == nil })
	for _, o := range list[:min(len(list), maxReport)] {
		console.Printf(w, "symbolon: %s: no names for %s: %s\n",
			console.Printable(o.name), console.Count(o.lost, "frame"), console.Printable(o.why.Error()))
	}
	if more := len(list) - maxReport; more > 0 {
		console.Printf(w, "symbolon: and %s\n", console.Count(more, "more module"))
	}
}
