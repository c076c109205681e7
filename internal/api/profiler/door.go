package profiler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// Config of the door. The zero value is the default.
type Config struct {
	Enabled       bool     `yaml:"enabled" help:"Answer POST /source/v1 and POST /asm/v1, with which the Firefox Profiler shows source code and disassembly. Clients get the source files that debug information names, and the machine code of programs, of all modules that they may symbolicate."`
	SourceFolders []string `yaml:"source_folders" help:"Folders of this machine. Files below them are sent by POST /source/v1 if debug information has their path, and no source bundle, debug file or debuginfod server has their text. Links must not lead out of the folder."`
}

// Deps are the dependencies of a door.
type Deps struct {
	Grant func(*http.Request) (*token.Grant, error)
	Run   func(ctx context.Context, g *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error)
	// Code finds the program of a module.
	Code func(ctx context.Context, g *token.Grant, m ident.Module) (*locate.Found, error)
	// Source returns a source file of a program from a debuginfod server.
	Source func(ctx context.Context, g *token.Grant, program ident.CodeID, path string) ([]byte, error)
	// HasFiles allows files of this machine from any folder.
	HasFiles bool
	Log      *slog.Logger
}

// Door serves the routes.
type Door struct {
	cfg      Config
	deps     Deps
	decoding sync.Mutex // held by decode
}

// New returns a door.
func New(cfg Config, deps Deps) *Door { return &Door{cfg: cfg, deps: deps} }

// maxBody limits a request: a path and some names.
const maxBody = 64 << 10

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	post := []string{http.MethodPost}
	return []api.Route{
		{Methods: post, Pattern: "/source/v1", Summary: "Get a source file of a profile", Accepts: "application/json", Produces: "application/json", MaxBody: maxBody, Handle: d.handle(d.source), Fail: fail},
		{Methods: post, Pattern: "/asm/v1", Summary: "Disassemble a function of a profile", Accepts: "application/json", Produces: "application/json", MaxBody: maxBody, Handle: d.handle(d.asm), Fail: fail},
	}
}

// fail writes an error with both of its names.
func fail(w http.ResponseWriter, _ *http.Request, status int, text string) {
	if text == "" {
		text = strconv.Itoa(status) + " " + http.StatusText(status)
	}
	api.WriteJSON(w, status, struct {
		Error string `json:"error"`
		Title string `json:"title"`
	}{text, text})
}

var errDisabled = errors.New("this server does not send source code and machine code; its operator can allow it with profiler.enabled: true in the configuration")

// handle answers a request with the result of do.
func (d *Door) handle(do func(r *http.Request, g *token.Grant, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !d.cfg.Enabled {
			fail(w, r, http.StatusOK, errDisabled.Error())
			return
		}
		g, err := d.deps.Grant(r)
		var body []byte
		var out any
		if err == nil {
			body, err = io.ReadAll(r.Body)
		}
		if err == nil {
			out, err = do(r, g, body)
		}
		var refused *api.Refusal
		var internal *fault.Error
		switch {
		case err == nil:
			api.WriteJSON(w, http.StatusOK, out)
		case r.Context().Err() != nil:
		case errors.Is(err, token.ErrUnknown):
			fail(w, r, http.StatusUnauthorized, err.Error())
		case errors.As(err, &refused):
			fail(w, r, refused.Status, refused.Text)
		case g == nil || errors.As(err, &internal):
			d.deps.Log.Error("cannot answer a profiler", "request_id", api.RequestID(r.Context()), "error", err)
			fail(w, r, http.StatusOK, "internal error")
		default:
			fail(w, r, http.StatusOK, err.Error())
		}
	}
}

// request is a request of either route.
type request struct {
	Name         string `json:"name"`
	CodeID       string `json:"codeId"`
	DebugName    string `json:"debugName"`
	DebugID      string `json:"debugId"`
	ModuleOffset string `json:"moduleOffset"`
	File         string `json:"file"`
	StartAddress string `json:"startAddress"`
	Size         string `json:"size"`

	ContinueUntilFunctionEnd bool `json:"continueUntilFunctionEnd"`
}

// jsonTypes describe the types of a request and its members.
var jsonTypes = map[reflect.Kind]string{reflect.Struct: "an object", reflect.String: "a string", reflect.Bool: "true or false"}

// decode decodes a request.
func decode(body []byte) (q request, err error) {
	err = json.Unmarshal(body, &q)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return q, fmt.Errorf("invalid %s: must be %s", cmp.Or(wrong.Field, "request"), jsonTypes[wrong.Type.Kind()])
	}
	if err != nil {
		return q, fmt.Errorf("invalid request: %w", err)
	}
	return q, nil
}

// address parses a number such as 0x1f.
func address(name, text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("invalid %s %.40q: must be 0x and up to 16 hexadecimal digits", name, text)
	}
	return v, nil
}

// module returns the module of a request.
func module(debugName, debugID string) (ident.Module, error) {
	id, err := ident.ParseDebugID(debugID)
	if err != nil {
		return ident.Module{}, fmt.Errorf("invalid debugId %.64q: must be one of Breakpad", debugID)
	}
	return ident.Module{DebugFile: debugName, DebugID: id, DebugIDText: debugID}, nil
}

// lookUp looks addresses of one module up.
func (d *Door) lookUp(ctx context.Context, g *token.Grant, req *symbolicate.Request, addrs ...uint64) (*symbolicate.Result, error) {
	for _, a := range addrs {
		req.Frames = append(req.Frames, symbolicate.Frame{Addr: a})
	}
	req.Purpose = locate.SymFirst
	res, err := d.deps.Run(ctx, g, req)
	if err != nil {
		return nil, missing("symbols", err)
	}
	return res, nil
}

// missing returns the error of a lookup without its place, which only the operator
// may see. One that is internal stays a fault.
func missing(what string, err error) error {
	f := fault.Of(err)
	if f.Kind == fault.Internal {
		return f
	}
	return fmt.Errorf("find %s: %s: %s", what, f.Kind, f.Detail)
}
