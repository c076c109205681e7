package web

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

var backoff = transfer.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second, MaxAfter: 10 * time.Second}

// Fetch writes the file of c to w.
func (s *Source) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	f := &fetch{Source: s, caller: ctx, target: s.target(c.Path), extra: asking(c), known: c.Validator, w: w}
	return s.do(ctx, f)
}

// do runs a fetch, and counts and logs it.
func (s *Source) do(ctx context.Context, f *fetch) (source.Attempt, error) {
	start := s.client.now()
	f.attempt.URL = source.CleanURL(f.target.String())
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

// fetch is a Fetch in progress.
type fetch struct {
	*Source
	caller  context.Context
	target  *url.URL
	extra   http.Header // of every request
	known   string      // validator of the known state of the file
	w       io.Writer
	attempt source.Attempt
	host    string   // of the last request
	links   []string // the headers Link of the file
}

// way is the request of an answer.
type way struct {
	ctx   context.Context
	guard *transfer.Guard // of ctx
	at    *url.URL
	home  bool // the origin is the one of the source
}

func (f *fetch) run() error {
	release, err := f.line(f.caller)
	if err != nil {
		return f.client.broken(f.caller, f.caller, f.attempt.URL, err).Error
	}
	defer release()
	total := f.caller
	if limit := f.cfg.DownloadTimeout(f.client.cfg.MaxDownloadTimeout); limit > 0 {
		var cancel context.CancelFunc
		total, cancel = context.WithTimeoutCause(total, limit, overdue(limit))
		defer cancel()
	}
	for try := 1; ; try++ {
		failed := f.try(total)
		if failed == nil {
			f.deny.answered(f.host)
			return nil
		}
		if !f.retries(failed, try) {
			return f.give(failed)
		}
		if backoff.Wait(total, try, failed.after) {
			f.attempt.Retries++
			continue
		}
		switch err := total.Err(); {
		case err != nil:
			failed = f.client.broken(f.caller, total, f.attempt.URL, err)
		case failed.after > 0:
			at := f.client.now().Add(failed.after).UTC().Format(time.RFC3339)
			failed.Detail += "; the server asks to come back after " + at
		}
		return f.give(failed)
	}
}

// retries reports whether there is another try after a failed one. A server that
// did not answer in time gets only one more.
func (f *fetch) retries(failed *failure, try int) bool {
	tries := f.client.cfg.MaxTries
	if failed.late {
		tries = min(tries, 2)
	}
	return failed.again && try < tries && f.attempt.Bytes == 0
}

// give ends the fetch with a failure, which may count against the host.
func (f *fetch) give(failed *failure) error {
	failed.Detail = brief(f.scrub(failed.Detail))
	if failed.Kind == fault.NotFound || failed.Kind == fault.Denied {
		f.deny.answered(f.host)
	}
	if failed.down && f.deny.failed(f.host, failed.Kind.String()+": "+failed.Detail) {
		f.client.log.Warn("symbol server failing, backing off",
			"host", f.host, "for", f.client.cfg.DenyListBlockTime, "error", failed.Error)
	}
	return failed.Error
}

// try makes one request, and follows its redirects.
func (f *fetch) try(total context.Context) *failure {
	ctx, guard := transfer.NewGuard(total, f.client.cfg.ReadTimeout)
	defer guard.Close()
	at, home := f.target, true
	for hops := 0; ; hops++ {
		f.attempt.URL, f.host = source.CleanURL(at.String()), at.Host
		if hops > 0 { // it is from a server
			f.attempt.URL, f.host = f.scrub(f.attempt.URL), f.scrub(f.host)
		}
		if why := f.deny.blocked(f.host); why != "" {
			return &failure{Error: fault.New(fault.Transport, f.attempt.URL, "%s", why)}
		}
		resp, err := f.send(ctx, at, home, f.extra)
		if err != nil {
			return f.client.broken(f.caller, ctx, f.attempt.URL, err)
		}
		f.attempt.Status = resp.StatusCode
		location := resp.Header.Get("Location")
		if !redirects(resp.StatusCode) || location == "" {
			return f.receive(total, way{ctx, guard, at, home}, resp)
		}
		discard(resp)
		if resp.StatusCode == http.StatusFound && at.Hostname() == loginHost {
			return &failure{Error: fault.New(fault.Denied, f.attempt.URL, "Potential login page detected")}
		}
		next, failed := f.follow(at, location, hops)
		if failed != nil {
			return failed
		}
		home = home && origin(next) == origin(at)
		at = next
		f.attempt.Redirects++
	}
}

// loginHost redirects requests that it denies to a login page with status 200.
const loginHost = "dev.azure.com"

func (f *fetch) send(ctx context.Context, at *url.URL, home bool, extra http.Header) (*http.Response, error) {
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
	maps.Copy(req.Header, extra)
	// An http.Client would repeat addresses with their secrets in its errors, and
	// follow redirects in its own way.
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

// follow returns the target of a redirect.
func (f *fetch) follow(at *url.URL, location string, hops int) (*url.URL, *failure) {
	stop := func(format string, args ...any) *failure {
		return &failure{Error: fault.New(fault.Transport, f.attempt.URL, format, args...)}
	}
	if most := max(f.client.cfg.MaxRedirects, 0); hops >= most {
		return nil, stop("more than %d redirects", most)
	}
	next, err := at.Parse(location)
	if err != nil {
		return nil, stop("invalid address of a redirect")
	}
	if next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "" {
		return nil, stop("redirects to another scheme than http and https")
	}
	next.User, next.Fragment, next.RawFragment = nil, "", ""
	next.Host = strings.ToLower(next.Host)
	return next, nil
}

// origin returns the origin of an address, to which credentials are bound.
func origin(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + " " + u.Hostname() + " " + port
}
