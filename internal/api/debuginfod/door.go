package debuginfod

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

// Config of the door. The zero value is the default.
type Config struct {
	DisableReset bool `yaml:"disable_reset" help:"Answer 502 or 504 when a source fails, as other interfaces do, instead of resetting the connection. gdb and elfutils take these for a missing file and do not ask again for ten minutes; after a reset they ask again. A proxy in front turns a reset into 502 anyway."`
}

// Deps are the dependencies of a door.
type Deps struct {
	Grant func(r *http.Request) (*token.Grant, error)
	// Open opens the first requested file that the client may read.
	Open func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error)
	// Source returns a source file of one of the modules, by its path in the debug information.
	Source func(ctx context.Context, g *token.Grant, asked []source.FileRequest, path string) ([]byte, error)
	// Search yields the uploaded files of a query that the client may read, until yield
	// returns false or ctx ends.
	Search func(ctx context.Context, g *token.Grant, q Query, yield func(File) bool) error
	Log    *slog.Logger
}

// Door serves the routes.
type Door struct {
	cfg       Config
	deps      Deps
	searching chan struct{} // has an element while a search runs
}

// New returns a door.
func New(cfg Config, deps Deps) *Door { return &Door{cfg, deps, make(chan struct{}, 1)} }

// holdTime is the time that a request waits for a place. Clients wait for 90 s.
const holdTime = 30 * time.Second

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	read := []string{http.MethodGet, http.MethodHead}
	return []api.Route{
		{Methods: read, Pattern: "/buildid/", Summary: "Get a debug file, a program or a source file by build id", Produces: "application/octet-stream", Raw: true, Hold: holdTime, Challenge: api.Basic, Handle: d.serve, Fail: d.fail},
		{Methods: read, Pattern: "/metadata", Summary: "Search the uploads by build id, name or pattern", Produces: "application/json", Hold: holdTime, Challenge: api.Basic, Handle: d.metadata, Fail: d.fail},
	}
}

// fail writes an error of the front.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, status int, title string) {
	if status == http.StatusTooManyRequests || status >= 500 {
		d.giveUp(w, r, http.StatusServiceUnavailable)
		return
	}
	text(w, status, title)
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may have left
}

// giveUp ends a request that may succeed later.
func (d *Door) giveUp(w http.ResponseWriter, r *http.Request, status int) {
	if !d.cfg.DisableReset && r.ProtoMajor == 1 {
		api.Reset(w, status)
	}
	text(w, status, http.StatusText(status))
}

// refuse answers that a file cannot be served. A file that is damaged or that a source
// denies is a missing one: asking again would not help.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status := api.Status(err)
	if status == http.StatusUnauthorized {
		text(w, status, err.Error())
		return
	}
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Denied, fault.Malformed, fault.Unsupported:
		notFound(w)
		return
	case fault.Internal:
		d.deps.Log.Error("cannot open a file", "request_id", api.RequestID(r.Context()), "error", err)
	}
	d.giveUp(w, r, status)
}

func notFound(w http.ResponseWriter) { text(w, http.StatusNotFound, "not found") }

// serve answers a request for ID/WORD or ID/WORD/REST.
func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(r.PathValue("rest"), "/", 3)
	if len(parts) < 2 {
		notFound(w)
		return
	}
	id, word, rest := parts[0], parts[1], strings.Join(parts[2:], "")
	var f api.File
	g, err := d.deps.Grant(r)
	switch {
	case err != nil:
	case word == "debuginfo" || word == "executable":
		f, err = d.open(r.Context(), g, id, word)
	case word == "section":
		f, err = d.section(r.Context(), g, id, rest)
	case word == "source":
		f, err = d.source(r.Context(), g, id, rest)
	default:
		err = errNotFound
	}
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	d.send(w, r, f)
}

var errNotFound = fault.New(fault.NotFound, "", "not found")

// open opens the file of an id that a word names.
func (d *Door) open(ctx context.Context, g *token.Grant, id, word string) (api.File, error) {
	asked := source.ByID(id, word)
	if len(asked) == 0 {
		return nil, errNotFound
	}
	return d.deps.Open(ctx, g, asked)
}

// send sends a file, unless the client does not want one of this size.
func (d *Door) send(w http.ResponseWriter, r *http.Request, f api.File) {
	size := f.Size()
	if most, err := strconv.ParseInt(r.Header.Get("X-DEBUGINFOD-MAXSIZE"), 10, 64); err == nil && most > 0 && size > most {
		text(w, http.StatusNotAcceptable, fmt.Sprintf("File too large, max size=%d", most))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-DEBUGINFOD-SIZE", strconv.FormatInt(size, 10))
	if name := f.Info().Name; name != "" {
		h.Set("X-DEBUGINFOD-FILE", strings.Map(printable, name))
	}
	api.SendFile(w, r, f, d.deps.Log)
}

// printable keeps the characters that a header may have.
func printable(c rune) rune {
	if c < ' ' || c == 0x7f {
		return '_'
	}
	return c
}

// source returns a source file. The path of a client begins after "source"; that of a
// file for Windows has no slash at its beginning.
func (d *Door) source(ctx context.Context, g *token.Grant, id, rest string) (api.File, error) {
	asked := source.ByID(id, "executable")
	if rest == "" || len(asked) == 0 {
		return nil, errNotFound
	}
	var text []byte
	var err error
	for _, name := range []string{"/" + rest, rest} {
		if text, err = d.deps.Source(ctx, g, asked, name); fault.KindOf(err) != fault.NotFound {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return &part{Source: bin.Bytes(text), info: api.FileInfo{Name: path.Base(rest), Tag: fmt.Sprintf("%x", sum[:16])}}, nil
}
