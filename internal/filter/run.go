package filter

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"symbolon/internal/console"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Run is the rewriting of one input. It is safe for concurrent use.
type Run struct {
	Names Names
	// Answer answers a request to a path of the interfaces of Mozilla or Symbolicator.
	// It is safe for concurrent use. The answer is JSON on one line, the error may be a
	// *StatusError.
	Answer func(ctx context.Context, path string, body []byte) ([]byte, error)
	Force  bool   // names that the input has are replaced
	Advice string // for modules that the input does not identify, in Report
	// Known has the modules that the user named, by path or file name.
	Known map[string]ident.Module
	// Local returns the identifiers of the file at a path; nil if files of this
	// machine are not used. It is called by one goroutine at a time.
	Local func(path string) (ident.Module, bool)
	// Has reports whether the user named the file of a module, or Local found it; nil if
	// neither is possible. It is for Report.
	Has func(m ident.Module) bool

	mu        sync.Mutex
	modules   map[missingKey]*Missing // without names
	counts    Counts
	hasAsked  bool // a request of the input
	hasFailed bool
}

// Counts are the numbers of addresses that were looked up, as often as the input has them.
type Counts struct{ Addresses, Named int }

// Missing is a module without names.
type Missing struct {
	Name      string
	Addresses int
	Why       error
	Module    ident.Module // its identifiers; zero without any
}

// missingKey identifies a module without names.
type missingKey struct{ name, reason, id string }

func (m *Missing) key() missingKey {
	id := m.Module.CodeID.String()
	if !m.Module.DebugID.IsZero() {
		id = m.Module.DebugID.String()
	}
	return missingKey{m.Name, m.Reason(), id}
}

// Reason returns the kind of the failure.
func (m *Missing) Reason() string {
	if f, ok := errors.AsType[*fault.Error](m.Why); ok {
		return f.Kind.String()
	}
	return "no identifier"
}

// maxModules limits the modules that are remembered for Missing.
const maxModules = 1 << 16

// errNoID is the reason of modules that the input does not identify.
var errNoID = errors.New("the input does not identify the file")

// Module completes the identifiers of a module that the input names by its path.
// Identifiers in the input take precedence over those of the user, and these over those
// of the file at the path. It returns false if there are none: the module cannot be
// looked up. A code id without a type is the build id of an ELF file.
func (r *Run) Module(name string, m ident.Module) (ident.Module, bool) {
	m.CodeFile = ident.FileName(cmp.Or(m.CodeFile, name))
	m.DebugFile = ident.FileName(cmp.Or(m.DebugFile, m.CodeFile))
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
	for _, n := range []string{name, ident.FileName(name)} {
		if known, ok := r.Known[n]; ok {
			return named(known, m), true
		}
	}
	if isLocal {
		return named(local, m), true
	}
	r.Unidentified(name)
	return m, false
}

// Unidentified counts an address in a file that Module could not complete. Module counts
// the first one.
func (r *Run) Unidentified(name string) { r.miss(Missing{Name: name, Addresses: 1, Why: errNoID}) }

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
	n := Counts{}
	for i, a := range c.q.Addresses {
		times := 1
		if c.q.Times != nil {
			times = int(c.q.Times[i])
		}
		n.Addresses += times
		if c.ok != nil && c.ok[i] {
			n.Named += times
		} else if a.Module >= 0 && times > 0 {
			if why := c.Missing(a.Module); why != nil {
				m := c.q.Modules[a.Module]
				c.run.miss(Missing{cmp.Or(m.CodeFile, m.DebugFile), times, why, m})
			}
		}
	}
	c.run.Count(n)
	c.Answer.Release()
}

// runKey is the key of the Run in the context of Answer.
type runKey struct{}

// Ask calls Answer with a context that has r.
func (r *Run) Ask(ctx context.Context, path string, body []byte) ([]byte, error) {
	text, err := r.Answer(context.WithValue(ctx, runKey{}, r), path, body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasAsked, r.hasFailed = true, r.hasFailed || isUnanswered(err)
	return text, err
}

// RunOf returns the run that a context of Answer has, to count the addresses and the
// missing modules of the request; nil if it has none.
func RunOf(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// miss counts addresses of a module without names.
func (r *Run) miss(m Missing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasFailed = r.hasFailed || isUnanswered(m.Why)
	key := m.key()
	if was := r.modules[key]; was != nil {
		was.Addresses += m.Addresses
	} else if len(r.modules) < maxModules {
		if r.modules == nil {
			r.modules = map[missingKey]*Missing{}
		}
		r.modules[key] = &m
	}
}

// Count adds the numbers of other addresses that were looked up.
func (r *Run) Count(n Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Addresses += n.Addresses
	r.counts.Named += n.Named
}

// Counts returns the numbers of addresses that were looked up so far.
func (r *Run) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// IsEmpty reports whether the input has nothing that was looked up so far.
func (r *Run) IsEmpty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.hasAsked && r.counts == (Counts{}) && len(r.modules) == 0
}

// HasFailed reports whether names are missing because the server failed.
func (r *Run) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hasFailed
}

// Missing returns the modules without names, by name.
func (r *Run) Missing() (list []Missing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.modules {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Missing) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Reason(), b.Reason()), strings.Compare(a.key().id, b.key().id))
	})
	return list
}

// Add adds the missing modules of another input to those of r.
func (r *Run) Add(list []Missing) {
	for _, m := range list {
		r.miss(m)
	}
}

// maxReport limits the modules that Report lists.
const maxReport = 20

// Report prints the modules with addresses that have no names, and why.
func (r *Run) Report(w io.Writer) {
	list := r.Missing()
	for _, m := range list[:min(len(list), maxReport)] {
		why := m.Why.Error()
		if m.Why == errNoID && r.Advice != "" {
			why += "; " + r.Advice
		}
		if r.Has != nil && fault.KindOf(m.Why) == fault.NotFound && r.Has(m.Module) {
			why = "the file has no symbols, and no source has its debug file"
		}
		console.Printf(w, "symbolon: %s: no names for %s: %s\n",
			console.Printable(m.Name), console.Count(m.Addresses, "frame"), console.Printable(why))
	}
	if more := len(list) - maxReport; more > 0 {
		console.Printf(w, "symbolon: and %s\n", console.Count(more, "more module"))
	}
}
