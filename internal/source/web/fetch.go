package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
)

const (
	firstWait     = 100 * time.Millisecond // at most, before the second try; doubled for each one after it
	mostWait      = 5 * time.Second
	mostAsked     = 10 * time.Second // that a server may ask us to wait
	drainBytes    = 32 << 10         // of an answer without a file, to keep its connection
	drainPatience = 300 * time.Millisecond
	maxCoding     = 40 // bytes of the header Content-Encoding
)

// Fetch writes the file of c to w.
func (s *Source) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	start := s.client.now()
	f := &fetch{Source: s, caller: ctx, path: c.Path, w: w}
	f.attempt.URL = s.address(c.Path)
	err := f.run()
	f.attempt.Time = s.client.now().Sub(start)

	label := s.cfg.ID
	if s.guarded {
		label = source.Guest
	}
	source.Count(label, f.attempt, err)
	s.client.log.LogAttrs(ctx, slog.LevelDebug, "download",
		slog.String("source", s.cfg.ID), slog.String("url", f.attempt.URL), slog.Int("status", f.attempt.Status),
		slog.Int64("wire", f.attempt.Wire), slog.Int64("bytes", f.attempt.Bytes), slog.Int("retries", f.attempt.Retries),
		slog.Duration("time", f.attempt.Time), slog.Any("error", err))
	return f.attempt, err
}

// fetch is one Fetch under way.
type fetch struct {
	*Source
	caller  context.Context
	path    string
	w       io.Writer
	attempt source.Attempt
	host    string // the one asked last
}

func (f *fetch) run() error {
	release, err := f.line(f.caller)
	if err != nil {
		return f.client.broken(f.caller, f.caller, f.attempt.URL, err).Error
	}
	defer release()
	total := f.caller
	if limit := f.client.cfg.MaxDownloadTimeout; limit > 0 {
		var cancel context.CancelFunc
		total, cancel = context.WithTimeoutCause(total, limit, errTotal)
		defer cancel()
	}
	for try := 1; ; try++ {
		failed := f.try(total)
		if failed == nil {
			return nil
		}
		wait, again := f.wait(total, failed, try)
		if !again {
			return f.give(failed)
		}
		select {
		case <-time.After(wait):
			f.attempt.Retries++
		case <-total.Done():
			return f.give(f.client.broken(f.caller, total, f.attempt.URL, total.Err()))
		}
	}
}

// wait says whether there is another try after a failed one, and how long
// until then: a random part of a bound that doubles, so that many clients of a
// server that comes back do not all come at once, or what the server asks for.
func (f *fetch) wait(total context.Context, failed *failure, try int) (time.Duration, bool) {
	if !failed.again || try >= f.client.cfg.MaxTries || f.attempt.Bytes > 0 {
		return 0, false
	}
	wait := failed.after
	if wait == 0 {
		wait = rand.N(min(firstWait<<min(try-1, 10), mostWait)) + 1
	}
	end, bounded := total.Deadline()
	if wait > mostAsked || bounded && time.Until(end) < wait {
		if failed.after > 0 {
			at := f.client.now().Add(failed.after).UTC().Format(time.RFC3339)
			failed.Detail += "; the server asks to come back after " + at
		}
		return 0, false
	}
	return wait, true
}

// give ends the fetch with a failure, for which the host may have to answer.
func (f *fetch) give(failed *failure) error {
	failed.Detail = brief(f.scrub(failed.Detail))
	if failed.down && f.client.deny[f.guarded].failed(f.host, failed.Error.Error()) {
		f.client.log.Warn("a host of symbols fails and is left alone for a while",
			"host", f.host, "for", f.client.cfg.DenyListBlockTime, "error", failed.Error)
	}
	return failed.Error
}

// try asks once, and follows where the server sends us.
func (f *fetch) try(total context.Context) *failure {
	ctx, cancel := context.WithCancelCause(total)
	defer cancel(nil)
	at, home := f.target(f.path), true // home: this is the origin that the headers are for
	for hops := 0; ; hops++ {
		f.attempt.URL, f.host = source.CleanURL(at.String()), at.Host
		if hops > 0 { // others have made it
			f.attempt.URL, f.host = f.scrub(f.attempt.URL), f.scrub(f.host)
		}
		if why := f.client.deny[f.guarded].blocked(f.host); why != "" {
			return &failure{Error: fault.New(fault.Transport, f.attempt.URL, "%s", why)}
		}
		resp, err := f.send(ctx, at, home)
		if err != nil {
			return f.client.broken(f.caller, ctx, f.attempt.URL, err)
		}
		f.attempt.Status = resp.StatusCode
		location := resp.Header.Get("Location")
		if !redirects(resp.StatusCode) || location == "" {
			failed := f.receive(ctx, cancel, resp)
			if err := ctx.Err(); err != nil {
				// A server that learns that we leave may still get a regular
				// end through, so that a part looks like the whole, or some
				// other answer that says nothing about the file.
				return f.client.broken(f.caller, ctx, f.attempt.URL, err)
			}
			return failed
		}
		discard(resp)
		next, failed := f.follow(at, location, hops)
		if failed != nil {
			return failed
		}
		home = home && origin(next) == origin(at)
		at = next
		f.attempt.Redirects++
	}
}

func (f *fetch) send(ctx context.Context, at *url.URL, home bool) (*http.Response, error) {
	req := &http.Request{
		Method: http.MethodGet, URL: at, Host: at.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"User-Agent":      {f.client.cfg.UserAgent},
			"Accept-Encoding": {source.AcceptEncoding},
		},
	}
	if home {
		for name, value := range f.headers {
			req.Header[name] = []string{value.Reveal()}
		}
	}
	// Not through an http.Client: it would repeat addresses with their secrets
	// in its errors, and follow redirects its own way.
	return f.client.transports[trust{f.guarded, f.cfg.AcceptInvalidCerts}].RoundTrip(req.WithContext(ctx))
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow is where a redirect leads.
func (f *fetch) follow(at *url.URL, location string, hops int) (*url.URL, *failure) {
	stop := func(format string, args ...any) *failure {
		return &failure{Error: fault.New(fault.Transport, f.attempt.URL, format, args...)}
	}
	if most := max(f.client.cfg.MaxRedirects, 0); hops >= most {
		return nil, stop("more than %d redirects", most)
	}
	next, err := at.Parse(location)
	if err != nil {
		return nil, stop("redirects to what is no address")
	}
	if next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "" {
		return nil, stop("redirects to another scheme than http and https")
	}
	next.User, next.Fragment, next.RawFragment = nil, "", ""
	next.Host = strings.ToLower(next.Host)
	return next, nil
}

// origin is what credentials are given to.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + " " + u.Hostname() + " " + port
}

// receive takes the answer of a request that was not redirected.
func (f *fetch) receive(ctx context.Context, cancel context.CancelCauseFunc, resp *http.Response) *failure {
	if failed := verdict(f.attempt.URL, resp.StatusCode); failed != nil {
		failed.after = f.retryAfter(resp.Header.Get("Retry-After"))
		discard(resp)
		return failed
	}
	defer resp.Body.Close()
	if most := f.client.cfg.MaxDownloadSize; most > 0 && resp.ContentLength > int64(most) {
		return &failure{Error: fault.New(fault.Malformed, f.attempt.URL, "larger than the limit of %v: %w", most, bin.ErrLimit)}
	}
	coding := strings.Join(resp.Header.Values("Content-Encoding"), ",")
	if strings.Trim(strings.ToLower(coding), "abcdefghijklmnopqrstuvwxyz0123456789-, ") != "" || len(coding) > maxCoding {
		return &failure{Error: fault.New(fault.Unsupported, f.attempt.URL, "content encoding that is no list of names")}
	}
	body := newPatient(resp.Body, f.client.cfg.ReadTimeout, cancel)
	out, err := f.client.decoder.Decode(f.w, body, coding)
	f.attempt.Wire += out.Wire
	f.attempt.Bytes = out.Bytes
	if err == nil {
		return nil
	}
	var known *fault.Error
	if !errors.As(err, &known) {
		return f.client.broken(f.caller, ctx, f.attempt.URL, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && endsWhereItEnds(resp) {
		return f.client.broken(f.caller, ctx, f.attempt.URL, io.ErrUnexpectedEOF)
	}
	return &failure{Error: &fault.Error{Kind: known.Kind, Place: f.attempt.URL, Detail: known.Detail, Cause: known.Cause}}
}

// endsWhereItEnds tells whether only the end of the connection says where the
// body ends, so that a cut cannot be told from the end.
func endsWhereItEnds(resp *http.Response) bool {
	return resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.ProtoMajor == 1
}

// retryAfter reads the header of that name: seconds or a date.
func (f *fetch) retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(f.client.now()), 0)
	}
	return 0
}

// discard reads the short body of an answer that holds no file, so that the
// connection can be used again, and gives up soon if there is no end to it.
func discard(resp *http.Response) {
	defer resp.Body.Close()
	if resp.ContentLength > drainBytes {
		return
	}
	timer := time.AfterFunc(drainPatience, func() { resp.Body.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, drainBytes) // only the connection is at stake
}

// patient is a body that cancels its request when nothing comes for too long.
type patient struct {
	r     io.Reader
	limit time.Duration
	timer *time.Timer
}

func newPatient(r io.Reader, limit time.Duration, cancel context.CancelCauseFunc) io.Reader {
	if limit <= 0 {
		return r
	}
	p := &patient{r: r, limit: limit, timer: time.AfterFunc(limit, func() { cancel(errIdle) })}
	p.timer.Stop()
	return p
}

func (p *patient) Read(b []byte) (int, error) {
	p.timer.Reset(p.limit)
	defer p.timer.Stop()
	return p.r.Read(b)
}
