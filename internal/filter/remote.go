package filter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/ident"
	"symbolon/internal/transfer"
)

// Remote looks addresses up on a server with Mozilla's interface. It is safe for
// concurrent use.
type Remote struct {
	url   string
	shown string // the address in errors, without user info
	token string // empty: none
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
	return &Remote{full, strings.TrimSuffix(u.String(), "/"), token}, nil
}

const (
	maxRemote       = 10_000    // addresses of a request
	maxRemoteAnswer = 256 << 20 // bytes of an answer
)

// remoteFrame is a frame of an answer of the server.
type remoteFrame struct {
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
		if err := r.look(ctx, q, a, from, min(from+maxRemote, len(q.Addresses))); err != nil {
			return nil, err
		}
	}
	return a, nil
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
	text, err := r.Answer(ctx, "/symbolicate/v5", body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return fmt.Errorf("%s: invalid answer: %w", r.shown, err)
	}
	if len(out.Results) != 1 || len(out.Results[0].Stacks) != 1 || len(out.Results[0].Stacks[0]) != len(stack) {
		return fmt.Errorf("%s: invalid answer: must have a frame for each address", r.shown)
	}
	for n, i := range asked {
		at := a.frames[i].at
		a.frames[i] = out.Results[0].Stacks[0][n]
		a.frames[i].at = at
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

// maxTries limits the requests for one answer.
const maxTries = 5

// Answer sends a request to a path of the server, again while the server is busy or
// away, and returns its answer.
func (r *Remote) Answer(ctx context.Context, path string, body []byte) ([]byte, error) {
	backoff := transfer.Backoff{First: time.Second, Max: 10 * time.Second, MaxAfter: time.Minute}
	for try := 1; ; try++ {
		text, canPass, after, err := r.try(ctx, path, body)
		if err == nil || !canPass || try == maxTries || !backoff.Wait(ctx, try, after) {
			return text, err
		}
	}
}

// client follows the redirects that keep the body of a request, and returns others.
var client = http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
	if next.Method != http.MethodPost || len(via) >= maxTries {
		return http.ErrUseLastResponse
	}
	return nil
}}

// try sends a request once. If it fails, try reports whether the failure may pass, and
// how long the server asks to wait.
func (r *Remote) try(ctx context.Context, path string, body []byte) (text []byte, canPass bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "symbolon")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, true, 0, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxRemoteAnswer))
	switch {
	case err != nil:
		return nil, true, 0, fmt.Errorf("%s: %w", r.shown, err)
	case len(text) == maxRemoteAnswer:
		err = &StatusError{http.StatusRequestEntityTooLarge, "the answer is too large; ask for fewer addresses in a single request"}
		return nil, false, 0, err
	}
	if to, err := resp.Location(); err == nil {
		return nil, false, 0, fmt.Errorf("%s: status %d: redirects to another URL; use that of %s", r.shown, resp.StatusCode, to.Redacted())
	}
	if err := CheckStatus(resp.StatusCode, text); err != nil {
		canPass = slices.Contains([]int{408, 429, 500, 502, 503, 504}, resp.StatusCode)
		return nil, canPass, transfer.RetryAfter(resp.Header.Get("Retry-After"), time.Now()), fmt.Errorf("%s: %w", r.shown, err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return nil, false, 0, fmt.Errorf("%s: invalid answer: %w", r.shown, err)
	}
	return line.Bytes(), false, 0, nil
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
