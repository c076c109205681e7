package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Route is one path of a door.
//
// A Pattern without braces is one path: "/symbolicate/v5". One that ends in a
// slash matches every path below, which is the path value "rest": "/requests/". One
// with braces is a shape, tried last: "/{file}/{id:hex}/{sym:.sym}" matches three
// segments, the second of hexadecimal digits, the third with the suffix .sym; they
// are path values. A shape that ends in /{$} matches only with a slash at the end:
// "/upload/{$}". The first segment of a path, prefix or shape, if it is literal,
// does not match a variable of a shape.
//
// Admit admits a request before its body is read, or answers it and returns false.
// If it is nil, every request is admitted.
type Route struct {
	Methods   []string // OPTIONS is answered by the front
	Pattern   string
	Summary   string // a line for the OpenAPI document
	Accepts   string // media types of bodies, with commas; empty: not documented
	Produces  string // media types of answers, in the same way
	Handle    http.HandlerFunc
	Admit     func(w http.ResponseWriter, r *http.Request) bool
	MaxBody   int64         // bytes of a body, as sent and decoded; zero: the configured limit
	MaxHeld   int64         // limit of the memory to reserve before the handler calls Reserve; zero: that of the whole body
	Raw       bool          // of a pattern that ends in a slash: "rest" is as the client sent it, with its slashes and dots
	Hold      time.Duration // time that a request waits for a place when the server is full
	Exempt    bool          // answered even when the server is full, and logged only for debugging
	Challenge string        // WWW-Authenticate of answers 401; empty: Bearer
	Fail      FailFunc      // writes the errors of the front; nil: Fail
}

// Basic is the challenge for debuggers, which may have a password for a server.
const Basic = `Basic realm="symbols"`

// node has the routes of one pattern.
type node struct {
	pattern string
	routes  map[string]*Route // by method
	methods string            // of the routes, for headers
	fail    FailFunc
	isRaw   bool
	form    []segment // of a shape
}

type segment struct {
	kind segmentKind
	name string // of the path value; empty for exact
	text string // for exact and suffix
}

// segmentKind orders segments from the narrowest to the widest.
type segmentKind int

const (
	exact segmentKind = iota
	hexDigits
	suffix
	anything
)

// mux finds the node of a path.
type mux struct {
	paths    map[string]*node
	prefixes []*node         // longest first
	shapes   []*node         // narrow before wide
	heads    map[string]bool // literal first segments
}

// newMux panics if two routes have the same pattern and method.
func newMux(doors [][]Route) *mux {
	m := &mux{paths: map[string]*node{}, heads: map[string]bool{}}
	for _, door := range doors {
		for i := range door {
			m.add(&door[i])
		}
	}
	slices.SortStableFunc(m.prefixes, func(a, b *node) int { return len(b.pattern) - len(a.pattern) })
	slices.SortStableFunc(m.shapes, func(a, b *node) int {
		return slices.CompareFunc(a.form, b.form, func(a, b segment) int { return int(a.kind) - int(b.kind) })
	})
	return m
}

func (m *mux) add(r *Route) {
	n := m.node(r.Pattern)
	for _, method := range r.Methods {
		if n.routes[method] != nil {
			panic("api: " + method + " " + r.Pattern + " is registered twice")
		}
		n.routes[method] = r
	}
	if r.Fail != nil {
		n.fail = r.Fail
	}
	n.isRaw = n.isRaw || r.Raw
	n.methods = methodList(n.routes)
}

// node returns the node of a pattern. It adds a missing one.
func (m *mux) node(pattern string) *node {
	fresh := &node{pattern: pattern, routes: map[string]*Route{}, fail: Fail}
	if head, _, _ := strings.Cut(pattern[1:], "/"); head != "" && head[0] != '{' {
		m.heads[head] = true
	}
	switch {
	case strings.Contains(pattern, "{"):
		fresh.form = parseShape(pattern)
		for _, n := range m.shapes {
			if slices.EqualFunc(n.form, fresh.form, sameSegment) {
				if n.pattern != pattern {
					panic("api: " + pattern + " and " + n.pattern + " have the same shape")
				}
				return n
			}
		}
		m.shapes = append(m.shapes, fresh)
	case pattern != "/" && strings.HasSuffix(pattern, "/"):
		for _, n := range m.prefixes {
			if n.pattern == pattern {
				return n
			}
		}
		m.prefixes = append(m.prefixes, fresh)
	default:
		if n := m.paths[pattern]; n != nil {
			return n
		}
		m.paths[pattern] = fresh
	}
	return fresh
}

func parseShape(pattern string) []segment {
	var form []segment
	for text := range strings.SplitSeq(pattern[1:], "/") {
		if text == "{$}" {
			text = "" // the segment after a slash at the end
		}
		if text == "" || text[0] != '{' {
			form = append(form, segment{kind: exact, text: text})
			continue
		}
		name, kind, _ := strings.Cut(strings.Trim(text, "{}"), ":")
		switch {
		case kind == "":
			form = append(form, segment{kind: anything, name: name})
		case kind == "hex":
			form = append(form, segment{kind: hexDigits, name: name})
		case kind[0] == '.':
			form = append(form, segment{kind: suffix, name: name, text: kind})
		default:
			panic("api: invalid segment form " + kind + " in " + pattern)
		}
	}
	return form
}

func sameSegment(a, b segment) bool { return a.kind == b.kind && a.text == b.text }

// methodList returns the methods in a fixed order.
func methodList(routes map[string]*Route) string {
	var list []string
	for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		if routes[m] != nil {
			list = append(list, m)
		}
	}
	return strings.Join(list, ", ")
}

// match returns the node for the path of r, and sets the path values of r.
func (m *mux) match(r *http.Request) *node {
	whole := "/" + strings.TrimLeft(r.URL.Path, "/")
	for _, n := range m.prefixes {
		if rest, ok := strings.CutPrefix(whole, n.pattern); ok && n.isRaw {
			r.SetPathValue("rest", rest)
			return n
		}
	}
	segments, ok := split(r.URL)
	if !ok {
		return nil
	}
	path := "/" + strings.Join(segments, "/")
	if n := m.paths[path]; n != nil {
		return n
	}
	for _, n := range m.prefixes {
		if rest, ok := strings.CutPrefix(path, n.pattern); ok && rest != "" && rest[len(rest)-1] != '/' {
			r.SetPathValue("rest", rest)
			return n
		}
	}
	for _, n := range m.shapes {
		if n.fits(segments) && (n.form[0].kind == exact || !m.heads[segments[0]]) {
			for i, s := range n.form {
				if s.kind != exact {
					r.SetPathValue(s.name, segments[i])
				}
			}
			return n
		}
	}
	return nil
}

// failFunc returns the FailFunc for an unknown path: that of its prefix, or of a
// shape with the same literal beginning, if there is one.
func (m *mux) failFunc(r *http.Request) FailFunc {
	for _, n := range m.prefixes {
		if strings.HasPrefix(r.URL.Path, n.pattern) {
			return n.fail
		}
	}
	for _, n := range m.shapes {
		if literal, _, _ := strings.Cut(n.pattern, "{"); literal != "/" && strings.HasPrefix(r.URL.Path, literal) {
			return n.fail
		}
	}
	return Fail
}

func (n *node) fits(segments []string) bool {
	if len(segments) != len(n.form) {
		return false
	}
	for i, s := range n.form {
		fits := segments[i] != ""
		switch s.kind {
		case exact:
			fits = segments[i] == s.text
		case hexDigits:
			fits = fits && strings.Trim(segments[i], "0123456789abcdefABCDEF") == ""
		case suffix:
			fits = strings.HasSuffix(segments[i], s.text)
		}
		if !fits {
			return false
		}
	}
	return true
}

// split returns the decoded segments of a path; several slashes count as one. After
// a slash at the end there is an empty segment. It returns false for an encoded
// slash, which routes do not have.
func split(u *url.URL) (segments []string, ok bool) {
	path := u.EscapedPath()
	if path == "" || path[0] != '/' {
		return nil, false
	}
	for text := range strings.SplitSeq(path[1:], "/") {
		if text == "" {
			continue
		}
		text, err := url.PathUnescape(text)
		if err != nil || strings.Contains(text, "/") {
			return nil, false
		}
		segments = append(segments, text)
	}
	if len(segments) > 0 && path[len(path)-1] == '/' {
		segments = append(segments, "")
	}
	return segments, true
}
