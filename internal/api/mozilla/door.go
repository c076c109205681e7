package mozilla

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// File is a .sym file, open for reading.
type File interface {
	bin.Source
	Close() error
}

// Deps are the parts that a door works with.
type Deps struct {
	Run     func(ctx context.Context, req *symbolicate.Request) (*symbolicate.Result, error)
	Symbols func(ctx context.Context, m ident.Module) (File, error) // NotFound where there is none
	Now     func() time.Time
	Log     *slog.Logger
}

// lookups are the answers of the engine.
type lookups interface {
	Frames(i int) ([]sym.Frame, error)
	AppendText(dst []byte, m int32, t sym.Text) (out []byte, plain bool)
	Release()
}

// Door serves the routes.
type Door struct {
	cfg     Config
	run     func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, lookups, error)
	symbols func(ctx context.Context, m ident.Module) (File, error)
	now     func() time.Time
	log     *slog.Logger
}

// New makes a door.
func New(cfg Config, deps Deps) *Door {
	return &Door{
		cfg: cfg.Defaults(), symbols: deps.Symbols, now: deps.Now, log: deps.Log,
		run: func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, lookups, error) {
			res, err := deps.Run(ctx, req)
			if err != nil {
				return nil, nil, err
			}
			return res.Modules, res, nil
		},
	}
}

// Routes are what the door serves.
func (d *Door) Routes() []api.Route {
	post, read := []string{http.MethodPost}, []string{http.MethodGet, http.MethodHead}
	v4 := api.Route{Methods: post, Pattern: "/symbolicate/v4", Handle: d.v4, Fail: d.failV4}
	routes := []api.Route{
		{Methods: post, Pattern: "/symbolicate/v5", Handle: d.v5},
		v4,
		{Methods: read, Pattern: "/{file}/{id:hex}/{sym:.sym}", Handle: d.read, Fail: api.FailError},
		{Methods: read, Pattern: "/try/{file}/{id:hex}/{sym:.sym}", Handle: d.read, Fail: api.FailError},
	}
	if d.tecken() {
		v4.Pattern = "/"
		routes = append(routes, v4)
	}
	return routes
}

func (d *Door) tecken() bool { return d.cfg.V4Profile == profileTecken }

// failV4 words errors for the clients of v4.
func (d *Door) failV4(w http.ResponseWriter, r *http.Request, status int, title string) {
	switch {
	case !d.tecken():
		api.Fail(w, r, status, title)
	case status == http.StatusMethodNotAllowed:
		api.FailError(w, r, status, "Must use HTTP POST")
	default:
		api.FailError(w, r, status, title)
	}
}

// answer is a request with what the engine said to it.
type answer struct {
	*payload
	known []symbolicate.Module // by index of payload.modules
	lookups
	took time.Duration
}

// ask reads a request and has it answered. It is nil when there is nothing to
// say any more: the client was refused, or left.
func (d *Door) ask(w http.ResponseWriter, r *http.Request, is dialect, fail api.FailFunc) *answer {
	p, err := decode(r.Body, is)
	if err != nil {
		status, title := explain(err)
		fail(w, r, status, title)
		return nil
	}
	start := d.now()
	known, found, err := d.run(r.Context(), &p.req)
	switch {
	case err == nil:
		for i, m := range p.modules {
			if _, err := m.ask(); err != nil {
				known[i].Report.Fault = fault.Of(err)
			}
		}
		return &answer{p, known, found, d.now().Sub(start)}
	case r.Context().Err() != nil:
		return nil
	}
	d.log.Error("the engine could not answer", "request_id", api.RequestID(r.Context()), "error", err)
	fail(w, r, api.Status(err), "")
	return nil
}

// finish sends the rest of an answer. One that cannot be completed is refused,
// or, when some of it is out, broken off, which is all that tells the client so.
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
	if unread, ok := err.(*api.BodyError); ok {
		return unread.Status, unread.Title
	}
	refused := err.(*refusal)
	return refused.status, refused.title
}

// module is the name that a frame is shown with: that of the code where it is
// known, else that of the debug file. As with Eliot, a name with a blank in it
// is not taken. A long name is cut, as each frame repeats it.
func (a *answer) module(m int32) string {
	switch {
	case m < 0 || a.modules[m].file == "":
		return "<unknown>"
	case a.known[m].Found && a.known[m].Name != "" && !strings.Contains(a.known[m].Name, " "):
		return a.known[m].Name
	}
	if name := a.modules[m].file; len(name) <= maxText {
		return name
	}
	return strings.ToValidUTF8(a.modules[m].file[:maxText], "")
}

// found writes whether there are symbols for a module, null if that was not
// looked up.
func (e *encoder) found(m int32) {
	if !e.looked(m) {
		e.Raw("null")
		return
	}
	e.Bool(e.known[m].Found)
}

// looked says whether a module was looked up.
func (a *answer) looked(m int32) bool { return a.known[m].Asked && a.modules[m].named() }

// debugHeader says whether the header asks for the debug block. A person who
// writes false does not want it.
func debugHeader(r *http.Request) bool {
	switch strings.ToLower(r.Header.Get("Debug")) {
	case "", "0", "false", "no":
		return false
	}
	return true
}
