package sentry

import (
	"context"
	"io"
	"net/http"

	"symbolon/internal/api/wire"
	"symbolon/internal/demangle"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Lookups are the answers that a test has in the place of an engine.
type Lookups interface {
	Addr(i int) (addr uint64, ok bool)
	Frames(i int) ([]sym.Frame, error)
	AppendRaw(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	AppendFile(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Source(m int32, path string) (text []byte, link string)
	Release()
}

// Run answers in the place of an engine. The error is that of its context.
type Run = func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, Lookups, error)

// NewWith returns a door over the engines of a test. Unless deps decide, every client
// may use it.
func NewWith(cfg Config, deps Deps, find func(Search) (Run, error)) *Door {
	if deps.Grant == nil {
		deps.Grant = func(*http.Request) (*token.Grant, error) {
			all := []string{token.Any}
			return &token.Grant{Scopes: all, Sources: all, RequestSources: true}, nil
		}
	}
	d := New(cfg, deps)
	d.engine = func(_ context.Context, s Search) (engine, error) {
		r, err := find(s)
		return func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, result) {
			known, look, err := r(ctx, req)
			if err != nil {
				return nil, &whole{Lookups: ended{}}
			}
			if s, ok := look.(Stages); ok {
				return known, &staged{whole{look, len(known)}, s}
			}
			return known, &whole{look, len(known)}
		}, err
	}
	return d
}

// Stages are answers whose modules are decided one after the other.
type Stages interface {
	Lookups
	Next() (modules []int32, more bool)
}

type staged struct {
	whole
	stages Stages
}

func (s *staged) Next() ([]int32, bool) { return s.stages.Next() }

// whole are answers whose modules are decided at once.
type whole struct {
	Lookups
	modules int
}

func (w *whole) Next() (modules []int32, more bool) {
	for m := range w.modules {
		modules = append(modules, int32(m))
	}
	return modules, false
}

func (w *whole) Open(int, int) {}

// ended are the answers after a context has ended.
type ended struct{ Lookups }

func (ended) Release() {}

// Ask decodes a body into the request to the engine.
func Ask(body io.Reader, cfg Config) (*symbolicate.Request, error) {
	q, err := wire.Decode(body, cfg.Defaults().limits())
	if err != nil {
		return nil, err
	}
	return (&request{Request: q}).query(), nil
}

// Allows reports whether a URL may be fetched with these patterns.
func Allows(enabled bool, origins []string, address string) bool {
	return allows(&wire.Scraping{Enabled: enabled, Origins: origins}, address)
}

var testNames names

// Encode encodes the answer to a request.
func Encode(body io.Reader, run Run, to io.Writer) error {
	decoded, err := wire.Decode(body, Config{}.Defaults().limits())
	if err != nil {
		return err
	}
	q := &request{Request: decoded}
	req := q.query()
	known, look, err := run(context.Background(), req)
	if err != nil {
		return err
	}
	defer look.Release()
	e := &encoder{request: q, res: &whole{look, len(known)}, req: req, known: known, names: &testNames, excerpts: &excerpts{}}
	e.Begin(to)
	defer e.Encoder.Release()
	e.answer()
	return e.Err
}

// Held returns the number and the bytes of the kept answers.
func (d *Door) Held() (answers int, bytes int64) {
	u := d.jobs.Usage()
	return u.Answers, u.Bytes
}

// Running returns the number of running jobs.
func (d *Door) Running() int { return d.jobs.Usage().Running }

// Readable demangles names with a new cache, and returns the memory that the cache
// uses.
func Readable(raw []string) (texts []string, held int) {
	n, work := &names{}, &demangle.Work{}
	for _, r := range raw {
		text, mangled := n.readable([]byte(r), work)
		if !mangled {
			text = "="
		}
		texts = append(texts, text)
	}
	for _, m := range []map[string]string{n.new, n.old} {
		for raw, text := range m {
			held += len(raw) + len(text) + nameCost
		}
	}
	return texts, held
}

// Plain returns the bytes of uncompressed answers.
func (d *Door) Plain() int64 { return d.jobs.Usage().Plain }
