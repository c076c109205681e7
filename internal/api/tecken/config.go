package tecken

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Config configures the door.
type Config struct {
	AllowURLs []string `yaml:"allow_urls" help:"Addresses from which an upload may have the server fetch its zip: each allows all addresses that begin with it, such as https://queue.example/artifacts/. Redirects must stay within them. None: such uploads are refused."`
}

// Validate returns an error if a field of c is invalid.
func (c Config) Validate() error {
	var errs []error
	for i, text := range c.AllowURLs {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !isPlain(u) || !strings.HasSuffix(u.Path, "/") {
			errs = append(errs, fmt.Errorf("allow_urls[%d] is %.200q: must be http(s)://HOST/PATH/, with a slash at the end", i, text))
		}
	}
	return errors.Join(errs...)
}

// allows reports whether a zip may be fetched from an address.
func (c Config) allows(u *url.URL) bool {
	return isPlain(u) && slices.ContainsFunc(c.AllowURLs, func(text string) bool {
		p, err := url.Parse(text)
		return err == nil && p.Scheme == u.Scheme && strings.EqualFold(p.Host, u.Host) && strings.HasPrefix(u.Path, p.Path)
	})
}

// isPlain reports whether an address has a host and no user, and its path does not lead
// upwards.
func isPlain(u *url.URL) bool {
	clean := path.Clean(u.Path)
	return u.Host != "" && u.User == nil && !strings.Contains(u.Path, `\`) && (u.Path == clean || u.Path == clean+"/" || u.Path == "")
}
