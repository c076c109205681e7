package send

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/ident"
	"symbolon/internal/transfer"
)

const (
	org        = "symbolon" // in paths; the server takes any
	maxAnswer  = 32 << 20
	zstdWindow = 1 << 20 // the largest that the server takes
	maxTries   = 6
	idleTime   = 2 * time.Minute // without an answer
)

// limits are those of uploads.
type limits struct {
	URL              string   `json:"url"`
	ChunkSize        int64    `json:"chunkSize"`
	ChunksPerRequest int      `json:"chunksPerRequest"`
	MaxFileSize      int64    `json:"maxFileSize"` // zero: unknown
	MaxRequestSize   int64    `json:"maxRequestSize"`
	Concurrency      int      `json:"concurrency"`
	Compression      []string `json:"compression"`

	target *url.URL // of chunks
}

var errForeign = errors.New("unexpected answer: is --url the address of a server for uploads?")

// getLimits asks for the limits.
func (r *Remote) getLimits(ctx context.Context) (*limits, error) {
	l := &limits{}
	err := r.do(ctx, call{method: http.MethodGet, url: r.base.JoinPath("api/0/organizations", org, "chunk-upload/")}, l)
	switch {
	case err != nil:
		return nil, err
	case l.ChunkSize < 1 || l.ChunksPerRequest < 1 || l.MaxRequestSize < 1 || l.Concurrency < 1:
		return nil, errForeign
	}
	l.target, err = r.base.JoinPath("api/0/").Parse(strings.TrimPrefix(l.URL, "/"))
	if err != nil || l.target.Host != r.base.Host { // the token is not sent elsewhere
		return nil, fmt.Errorf("the server names %.200q for uploads, which is another server", l.URL)
	}
	return l, nil
}

// The states of files on the wire whose end is known. The others are open.
const (
	stateOK    = "ok"
	stateError = "error"
)

// state is the state of a file.
type state struct {
	State   string       `json:"state"`
	Missing []ident.SHA1 `json:"missingChunks"`
	Detail  string       `json:"detail"`
}

// assemble sends the server the lists of chunks of files, and returns the states of the
// files.
func (r *Remote) assemble(ctx context.Context, items []*item) (states map[ident.SHA1]state, err error) {
	type entry struct {
		Name    string        `json:"name"`
		DebugID ident.DebugID `json:"debug_id,omitzero"`
		Chunks  []ident.SHA1  `json:"chunks"`
	}
	all := map[ident.SHA1]entry{}
	for _, it := range items {
		all[it.sum] = entry{it.File.Name(), it.File.Modules[0].DebugID, it.chunks}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	labels := url.Values{}
	for k, v := range r.cfg.Labels {
		labels.Add("label", k+"="+v)
	}
	u := r.base.JoinPath("api/0/projects", org, r.cfg.Project, "files/difs/assemble/")
	u.RawQuery = labels.Encode()
	return states, r.do(ctx, call{http.MethodPost, u, "application/json", body}, &states)
}

// encoder compresses chunks, one after the other.
type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
}

// encoder returns the encoder of chunks and the field of the form for them: zstd, which
// costs the server a third of gzip, if the server takes it.
func (l *limits) encoder() (z encoder, field string, err error) {
	if slices.Contains(l.Compression, "zstd") {
		// A chunk has a SHA-1, and needs no checksum.
		z, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(false))
		return z, "file_zstd", err
	}
	z, err = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z, "file_gzip", err
}

// sendGroup sends chunks in one request.
func (r *Remote) sendGroup(ctx context.Context, group []piece) error {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	z, field, err := r.limits.encoder()
	if err != nil {
		return err
	}
	for i := range group {
		p := &group[i]
		part, err := form.CreateFormFile(field, p.sum.String())
		if err != nil {
			return err
		}
		z.Reset(part)
		h := sha1.New()
		if _, err := io.Copy(io.MultiWriter(z, h), io.NewSectionReader(p.file, p.off, p.size)); err != nil {
			return fmt.Errorf("%s: %w", p.file.Path, err)
		}
		if ident.SHA1(h.Sum(nil)) != p.sum {
			return fmt.Errorf("%s: %w", p.file.Path, errChanged)
		}
		if err := z.Close(); err != nil {
			return err
		}
	}
	if err := form.Close(); err != nil {
		return err
	}
	return r.do(ctx, call{http.MethodPost, r.limits.target, form.FormDataContentType(), b.Bytes()}, nil)
}

// call is a request.
type call struct {
	method      string
	url         *url.URL
	contentType string
	body        []byte
}

// do makes a request, again after failures that may pass, and decodes the answer.
func (r *Remote) do(ctx context.Context, x call, answer any) error {
	backoff := transfer.Backoff{First: r.cfg.RetryWait, Max: 10 * time.Second, MaxAfter: time.Minute}
	for try := 1; ; try++ {
		canPass, after, err := r.try(ctx, x, answer)
		mayRetry := err != nil && canPass && try < maxTries && after <= backoff.MaxAfter && ctx.Err() == nil
		if mayRetry {
			r.retrying(err)
		}
		if mayRetry && backoff.Wait(ctx, try, after) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
}

// retrying reports a failure after which a request is made again.
func (r *Remote) retrying(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Retrying(err)
}

// try makes a request once. If it fails, try reports whether the failure may pass, and
// how long the server asks to wait.
func (r *Remote) try(ctx context.Context, x call, answer any) (canPass bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, x.method, x.url.String(), bytes.NewReader(x.body))
	if err != nil {
		return false, 0, err
	}
	req.Header.Set("User-Agent", "symbolon")
	if r.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.cfg.Token)
	}
	if x.contentType != "" {
		req.Header.Set("Content-Type", x.contentType)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		text, canPass := transfer.Reason(err)
		return canPass, 0, fmt.Errorf("connect to %s: %s", r.base.Host, text)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return true, 0, fmt.Errorf("read the answer of %s: %w", r.base.Host, err)
	case resp.StatusCode/100 != 2:
		canPass = transfer.IsTransient(resp.StatusCode)
		return canPass, transfer.RetryAfter(resp.Header.Get("Retry-After"), time.Now()), r.refusal(resp, text)
	case answer != nil && json.Unmarshal(text, answer) != nil:
		return false, 0, errForeign
	}
	return false, 0, nil
}

// refusal returns the error in an answer.
func (r *Remote) refusal(resp *http.Response, text []byte) error {
	var a struct{ Detail, Error string }
	_ = json.Unmarshal(text, &a) // it may be a page
	own := transfer.OneLine(a.Detail + " " + a.Error)
	why := cmp.Or(own, transfer.PlainReason(resp.Header, text))
	switch {
	case resp.StatusCode == http.StatusUnauthorized && r.cfg.Token == "":
		return fmt.Errorf("the server requires a token: name one with the right upload, with -t or SYMBOLON_UPLOAD_TOKEN (%s)", resp.Status)
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("the server rejects the token: name one with the right upload, with -t or SYMBOLON_UPLOAD_TOKEN; \"symbolon token add\" creates it, with the --data of that server (%s)", resp.Status)
	case resp.StatusCode/100 == 3:
		return fmt.Errorf("the server answers %s and redirects to %.200q: if that is right, use it with -u", resp.Status, resp.Header.Get("Location"))
	case why == "" && resp.StatusCode == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("a proxy in front of the server answers %s: configure it to accept requests of 33 MiB (client_max_body_size of nginx)", resp.Status)
	case own == "" && resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("the server answers %s: is --url the address of a server for uploads?", resp.Status)
	case why == "":
		return fmt.Errorf("the server answers %s", resp.Status)
	case own != "" && resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("the server answers %s: %s: name the project of the token with --project, or another token with -t", resp.Status, why)
	}
	return fmt.Errorf("the server answers %s: %s", resp.Status, why)
}
