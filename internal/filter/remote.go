package filter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/console"
	"symbolon/internal/ident"
)

// Remote looks addresses up on a server with Mozilla's interface. It is safe for
// concurrent use.
type Remote struct {
	// Log is where failures of the server are reported. The addresses are then left without
	// names, requests are Unanswered, and the server is not asked for a minute. If it is nil,
	// Look and Answer return the failure.
	Log io.Writer

	url    string
	shown  string // the address in errors, without secrets
	token  string // empty: none
	limits limits

	mu      sync.Mutex
	failure error     // the last one
	retryAt time.Time // when the server is asked again
}

// NewRemote returns names of the server at an address. Errors do not have it, as it may
// have secrets.
func NewRemote(address, token string) (*Remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(address, "?#") {
		return nil, errors.New("invalid URL: must be http://HOST or https://HOST, without a query and a fragment")
	}
	full := strings.TrimSuffix(u.String(), "/")
	u.User = nil
	return &Remote{url: full, shown: bin.RedactTokens(strings.TrimSuffix(u.String(), "/")), token: token, limits: defaults}, nil
}

const (
	maxRemote = 10_000      // addresses of a request
	backOff   = time.Minute // how long a server that failed is not asked
)

// remoteFrame is a frame of an answer of the server.
type remoteFrame struct {
	Frame    *int   // its number
	Place    string `json:"module_offset"`
	Function string
	Offset   string `json:"function_offset"`
	Size     string `json:"function_size"`
	File     string
	Line     uint32
	Inlines  []struct {
		Function, File string
		Line           uint32
	}
	at uint64 // the address
}

// Look implements Names. Addresses as linked are taken for addresses in the image, since
// both are equal in position-independent programs and libraries.
func (r *Remote) Look(ctx context.Context, q *Query) (Answer, error) {
	a := &remoteAnswer{frames: make([]remoteFrame, len(q.Addresses)), missing: make([]error, len(q.Modules))}
	for from := 0; from < len(q.Addresses); from += maxRemote {
		err := r.whileUp(ctx, func() error { return r.look(ctx, q, a, from, min(from+maxRemote, len(q.Addresses))) })
		if isUnanswered(err) {
			for _, at := range q.Addresses[from:] {
				if at.Module >= 0 {
					a.missing[at.Module] = err
				}
			}
			return a, nil
		} else if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Unanswered is the error of a request that has no answer because the server failed.
type Unanswered struct{ error }

func (e *Unanswered) Unwrap() error { return e.error }

func isUnanswered(err error) bool {
	_, ok := errors.AsType[*Unanswered](err)
	return ok
}

// whileUp calls ask unless the server failed in the last minute.
func (r *Remote) whileUp(ctx context.Context, ask func() error) error {
	if r.Log == nil {
		return ask()
	}
	r.mu.Lock()
	failure, isBackingOff := r.failure, time.Now().Before(r.retryAt)
	r.mu.Unlock()
	if isBackingOff {
		return &Unanswered{failure}
	}
	err := ask()
	if err == nil || ctx.Err() != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !time.Now().Before(r.retryAt) { // the first of several requests
		r.failure, r.retryAt = err, time.Now().Add(backOff)
		console.Printf(r.Log, "symbolon: %s; copying without names for a minute\n", console.Printable(err.Error()))
	}
	return &Unanswered{err}
}

// errNoSpace is the reason for addresses that servers cannot look up.
var errNoSpace = errors.New("addresses are offsets in the program, from symbols, or of a program that is not relocated, which a server cannot be asked for; use --source or --local")

// look asks for some of the addresses.
func (r *Remote) look(ctx context.Context, q *Query, a *remoteAnswer, from, to int) error {
	var modules [][]string
	index := map[int32]int{}
	var stack [][2]json.Number
	var asked []int
	for i, at := range q.Addresses[from:to] {
		if at.Module < 0 {
			continue
		}
		if at.Space != Relative && at.Space != Linked {
			a.missing[at.Module] = errNoSpace
			continue
		}
		n, ok := index[at.Module]
		if !ok {
			n = len(modules)
			index[at.Module] = n
			modules = append(modules, memoryMap(q.Modules[at.Module]))
		}
		if at.IsReturn {
			at.Addr--
		}
		a.frames[from+i].at = at.Addr
		asked = append(asked, from+i)
		stack = append(stack, [2]json.Number{json.Number(strconv.Itoa(n)), json.Number(strconv.FormatUint(at.Addr, 10))})
	}
	if len(stack) == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]any{"jobs": []any{map[string]any{"memoryMap": modules, "stacks": []any{stack}}}})
	if err != nil {
		return err
	}
	var out struct {
		Results []struct {
			Stacks [][]remoteFrame
			Found  map[string]*bool `json:"found_modules"`
		}
	}
	text, err := r.ask(ctx, "/symbolicate/v5", body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return fmt.Errorf("%s: invalid answer: must be that of /symbolicate/v5", r.shown)
	}
	if len(out.Results) != 1 || len(out.Results[0].Stacks) != 1 || len(out.Results[0].Stacks[0]) != len(stack) {
		return fmt.Errorf("%s: invalid answer: must have a frame for each address", r.shown)
	}
	for n, i := range asked {
		f, at := out.Results[0].Stacks[0][n], a.frames[i].at
		if place, err := strconv.ParseUint(f.Place, 0, 64); f.Frame != nil && *f.Frame != n || f.Place != "" && (err != nil || place != at) {
			return fmt.Errorf("%s: invalid answer: must have the frames of the request", r.shown)
		}
		a.frames[i], a.frames[i].at = f, at
	}
	for m, n := range index {
		if ok := out.Results[0].Found[modules[n][0]+"/"+modules[n][1]]; ok == nil || !*ok {
			a.missing[m] = errors.New("the server has no symbols of the file")
		}
	}
	return nil
}

// memoryMap returns a module as requests name it.
func memoryMap(m ident.Module) []string {
	m = m.Derive()
	list := []string{ident.FileName(cmp.Or(m.DebugFile, m.CodeFile, "unknown")), m.DebugID.Breakpad()}
	if !m.CodeID.IsZero() {
		list = append(list, m.CodeID.String())
	}
	return list
}

// remoteAnswer is the answer of a server.
type remoteAnswer struct {
	frames  []remoteFrame
	missing []error
	list    []Frame
}

// Missing implements Answer.
func (a *remoteAnswer) Missing(m int32) error { return a.missing[m] }

// Frames implements Answer.
func (a *remoteAnswer) Frames(i int) []Frame {
	f := &a.frames[i]
	if f.Function == "" {
		return nil
	}
	offset, _ := strconv.ParseUint(f.Offset, 0, 64)
	size, _ := strconv.ParseUint(f.Size, 0, 64)
	frame := func(function, file string, line uint32, isInlined bool) Frame {
		return Frame{Function: []byte(function), Raw: []byte(function), File: []byte(file), Line: line,
			Entry: f.at - offset, Size: size, Inlined: isInlined}
	}
	a.list = a.list[:0]
	for _, x := range f.Inlines {
		a.list = append(a.list, frame(x.Function, x.File, x.Line, true))
	}
	a.list = append(a.list, frame(f.Function, f.File, f.Line, false))
	return a.list
}

// Release implements Answer.
func (a *remoteAnswer) Release() {}
