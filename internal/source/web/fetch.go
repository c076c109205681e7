package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
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
		label = source.RequestLabel
	}
	source.Count(label, f.attempt, err)
	s.client.log.LogAttrs(ctx, slog.LevelDebug, "download",
		slog.String("source", s.cfg.ID), slog.String("url", f.attempt.URL), slog.Int("status", f.attempt.Status),
		slog.Int64("wire", f.attempt.Wire), slog.Int64("bytes", f.attempt.Bytes), slog.Int("retries", f.attempt.Retries),
		slog.Duration("duration", f.attempt.Time), slog.Any("error", err))
	return f.attempt, err
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
		total, cancel = context.WithTimeoutCause(total, limit, transfer.Overdue(limit))
		defer cancel()
	}
	for try := 1; ; try++ {
		failed := f.try(total)
		if failed == nil {
			f.client.count(f.deny, f.host, nil)
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
	f.client.count(f.deny, f.host, failed)
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

// read writes a file of the server that is not of a module.
func (s *Source) read(ctx context.Context, path string, w io.Writer) error {
	_, err := s.Fetch(ctx, source.Candidate{Path: path}, w)
	return err
}

// Ask writes the answer of the source's own address to a query. Of the candidate
// only the validator is used. links are the headers Link.
func (s *Source) Ask(ctx context.Context, query string, c source.Candidate, w io.Writer) (a source.Attempt, links []string, err error) {
	u := *s.base
	u.RawQuery = query
	if own := s.query.Reveal(); own != "" {
		u.RawQuery = own + "&" + query
	}
	f := &fetch{Source: s, caller: ctx, target: &u, extra: asking(c), known: c.Validator, w: w}
	a, err = s.do(ctx, f)
	return a, f.links, err
}
