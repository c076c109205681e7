package mozilla

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Open opens a file.
type Open func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error)

// Deps are the dependencies of a door.
type Deps struct {
	// Grant returns the rights of the client of a request.
	Grant func(*http.Request) (*token.Grant, error)
	Run   func(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error)
	// Open opens the first requested file that the client may read. A .sym file may be
	// made of another one.
	Open Open
	// OpenTry also searches the files of try builds.
	OpenTry Open
	// Identify returns the identifiers that such a file has.
	Identify func(ctx context.Context, g *token.Grant, asked source.FileRequest) (ident.Module, error)
	Now      func() time.Time
	Log      *slog.Logger
}

// lookups has the methods of a *symbolicate.Result that the encoders use. Tests have
// others.
type lookups interface {
	Frames(i int) ([]sym.Frame, error)
	AppendText(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	AppendFile(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Release()
}

// Door serves the routes.
type Door struct {
	cfg   Config
	deps  Deps
	grant func(*http.Request) (*token.Grant, error)
	run   func(ctx context.Context, g *token.Grant, req *symbolicate.Request) ([]symbolicate.Module, lookups, error)
	now   func() time.Time
	log   *slog.Logger
}

// New returns a door.
func New(cfg Config, deps Deps) *Door {
	return &Door{
		cfg: cfg.Defaults(), deps: deps, grant: deps.Grant, now: deps.Now, log: deps.Log,
		run: func(ctx context.Context, g *token.Grant, req *symbolicate.Request) ([]symbolicate.Module, lookups, error) {
			res, err := deps.Run(ctx, g, req)
			if err != nil {
				return nil, nil, err
			}
			return res.Modules, res, nil
		},
	}
}

func (d *Door) isTecken() bool { return d.cfg.V4Profile == profileTecken }

// failV4 writes an error for clients of v4.
func (d *Door) failV4(w http.ResponseWriter, r *http.Request, status int, title string) {
	switch {
	case !d.isTecken():
		api.Fail(w, r, status, title)
	case status == http.StatusMethodNotAllowed:
		api.FailError(w, r, status, "Must use HTTP POST")
	default:
		api.FailError(w, r, status, title)
	}
}

// answer is a request with the result of the engine.
type answer struct {
	*request
	found []symbolicate.Module // by index of request.modules
	lookups
	took time.Duration
}

// answer decodes a request and has the engine answer it. It returns nil if the
// client has got an error, or has left.
func (d *Door) answer(w http.ResponseWriter, r *http.Request, is dialect, fail api.FailFunc) *answer {
	g, ok := d.identify(w, r, fail)
	if !ok {
		return nil
	}
	req, err := decode(r.Body, is)
	if err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return nil
	}
	start := d.now()
	found, res, err := d.run(r.Context(), g, &req.query)
	switch {
	case err == nil:
		for i, m := range req.modules {
			if _, err := m.ident(); err != nil {
				found[i].Report.Fault = fault.Of(err)
			}
		}
		return &answer{req, found, res, d.now().Sub(start)}
	case r.Context().Err() != nil:
		return nil
	}
	d.log.Error("symbolication failed", "request_id", api.RequestID(r.Context()), "error", err)
	fail(w, r, api.Status(err), "")
	return nil
}

// identify returns the rights of the client of a request. If its token is not valid, it
// answers with an error and returns false.
func (d *Door) identify(w http.ResponseWriter, r *http.Request, fail api.FailFunc) (g *token.Grant, ok bool) {
	g, err := d.grant(r)
	switch {
	case err == nil:
		return g, true
	case errors.Is(err, token.ErrUnknown):
		fail(w, r, http.StatusUnauthorized, err.Error())
	case r.Context().Err() == nil:
		d.log.Error("cannot read the tokens", "request_id", api.RequestID(r.Context()), "error", err)
		fail(w, r, api.Status(err), "")
	}
	return nil, false
}

// finish sends the rest of an answer. If the answer cannot be completed, the
// client gets an error, or a broken connection after a part of the answer.
func (d *Door) finish(r *http.Request, e *encoder, fail api.FailFunc) {
	if !errors.Is(e.Err, symbolicate.ErrTooManyFrames) {
		e.end()
		return
	}
	d.log.Warn("an answer has too many frames", "request_id", api.RequestID(r.Context()), "begun", e.Sent)
	if e.Sent {
		panic(http.ErrAbortHandler)
	}
	fail(e.to, r, http.StatusRequestEntityTooLarge, "the answer has too many frames; ask for fewer addresses in a single request")
}

func explain(err error) (status int, title string) {
	refused := err.(*api.Refusal)
	return refused.Status, refused.Text
}

// moduleName returns the name of a module in frames: the name of the code file if it is
// known, else of the debug file. As in Eliot, a name with a space is ignored. A long name
// is truncated, since each frame repeats it.
func (a *answer) moduleName(m int32) string {
	switch {
	case m < 0 || a.modules[m].file == "":
		return "<unknown>"
	case a.found[m].Found && a.found[m].Name != "" && !strings.Contains(a.found[m].Name, " "):
		return a.found[m].Name
	}
	if name := a.modules[m].file; len(name) <= maxText {
		return name
	}
	return strings.ToValidUTF8(a.modules[m].file[:maxText], "")
}

// isLookedUp reports whether a module was looked up.
func (a *answer) isLookedUp(m int32) bool { return a.found[m].Asked && a.modules[m].isNamed() }
