package tecken

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/receive"
	"symbolon/internal/bin"
)

const (
	fetchTime    = 15 * time.Minute
	maxRedirects = 5
)

// fetch fetches the zip of an upload from its address. It also returns the addresses of
// redirects.
func (d *Door) fetch(ctx context.Context, f *form) (redirects []string, err error) {
	u, err := url.Parse(f.url)
	if err != nil || u.Host == "" {
		return nil, api.Invalid("Enter a valid URL.")
	}
	if err := d.checkAddress(u); err != nil {
		return nil, err
	}
	if f.name, err = zipName(u.Path); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, api.Invalid("Enter a valid URL.")
	}
	client := http.Client{Transport: d.Transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return api.Invalid("Too many redirects trying to open %s", f.url)
		}
		redirects = append(redirects, next.URL.String())
		return d.checkAddress(next.URL)
	}}
	got, err := client.Do(r)
	var refused *api.Refusal
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case err != nil:
		return nil, api.Refuse(http.StatusInternalServerError, "ConnectionError trying to open %s", f.url)
	}
	defer func() { _ = got.Body.Close() }() // it was only read
	switch code := got.StatusCode; {
	case code >= 500:
		return nil, api.Refuse(http.StatusInternalServerError, "%s errored (%d)", f.url, code)
	case code >= 400:
		return nil, api.Invalid("%s can't be found (%d)", f.url, code)
	case code != http.StatusOK:
		return nil, api.Invalid("non-200 status code when retrieving %s", f.url)
	}
	in := &bin.ErrReader{R: bin.Meter(got.Body, nil, bin.Limit{Bytes: int64(d.limits.MaxRequest)})}
	f.zip, err = receive.Spool(d.Spool, in)
	switch {
	case errors.Is(in.Err, bin.ErrLimit):
		err = api.Refuse(http.StatusRequestEntityTooLarge, "%s is larger than %v, the limit uploads.max_request", f.url, d.limits.MaxRequest)
	case in.Err != nil:
		err = api.Refuse(http.StatusInternalServerError, "ConnectionError trying to open %s", f.url)
	}
	return redirects, err
}

// checkAddress returns an error unless a zip may be fetched from an address.
func (d *Door) checkAddress(u *url.URL) error {
	if !d.cfg.allows(u) {
		return api.Invalid("Not an allowed domain ('%s') to download from. The addresses that this server allows are in its setting tecken.allow_urls.", u.Hostname())
	}
	return nil
}
