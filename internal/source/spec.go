package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"symbolon/internal/bin"
)

// ParseSpec parses a source of a command line: the name of a preset, an http(s)
// URL, or an existing folder, each followed by an optional ",layout=NAME". The
// errors do not have the secrets of a URL.
func ParseSpec(text string) (Config, error) {
	place, layout, named := cutLayout(text)
	if named && layout == "" {
		return Config{}, fmt.Errorf("%s at the end of a source needs a name: must be one of %s", layoutMark, strings.Join(Layouts(), ", "))
	}
	c, err := parsePlace(place)
	if err != nil {
		return Config{}, err
	}
	if named {
		c.Layout.Type = layout
	}
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c.Defaults(), nil
}

const layoutMark = ",layout="

// cutLayout cuts the layout off the end of a spec.
func cutLayout(text string) (place, layout string, named bool) {
	if i := strings.LastIndex(text, layoutMark); i >= 0 {
		return text[:i], text[i+len(layoutMark):], true
	}
	return text, "", false
}

func parsePlace(place string) (Config, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == place {
			return p.config(), nil
		}
		names = append(names, p.Name)
	}
	if scheme, _, found := strings.Cut(place, "://"); found {
		if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
			return Config{}, fmt.Errorf("invalid scheme %.20q of a source: must be http or https", guarded(scheme))
		}
		u, err := NewURL(place).Parse()
		if err != nil {
			return Config{}, fmt.Errorf("source %s: %w", CleanURL(place), err)
		}
		return Config{ID: bin.RedactTokens(u.Host + strings.TrimRight(u.EscapedPath(), "/")), Type: HTTP, URL: NewURL(place)}, nil
	}
	switch info, err := os.Stat(place); {
	case err == nil && !info.IsDir():
		return Config{}, fmt.Errorf("invalid source %q: must be a folder, not a file", guarded(place))
	case err != nil && strings.ContainsAny(place, `/\`):
		return Config{}, fmt.Errorf("invalid source %q: must be an existing folder, or a URL that begins with http:// or https://", guarded(place))
	case err != nil:
		return Config{}, fmt.Errorf("invalid source %q: must be a preset (%s), an http(s) URL or an existing folder",
			guarded(place), strings.Join(names, ", "))
	}
	return Config{ID: filepath.Clean(place), Type: Filesystem, Path: place}, nil
}

// guarded returns a text that may be meant as a URL without the parts that would
// be secrets in one.
func guarded(text string) string {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = bin.Redacted + text[i:]
	}
	if i := strings.IndexByte(text, '?'); i >= 0 {
		text = text[:i]
	}
	return text
}
