package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"symbolon/internal/bin"
)

// ParseSpec reads a source from a command line: the name of a preset, an
// http(s) URL, or an existing folder, any of them followed by ",layout=NAME".
// The errors name no secret of a URL.
func ParseSpec(text string) (Config, error) {
	place, layout, named := cutLayout(text)
	if named && layout == "" {
		return Config{}, fmt.Errorf("%s at the end of a source needs a name: there are %s", layoutMark, layoutNames())
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

// cutLayout takes the layout off the end of a spec.
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
			return Config{}, fmt.Errorf("a source cannot have a URL of scheme %.20q: there are http and https", guarded(scheme))
		}
		u, err := NewURL(place).Parse()
		if err != nil {
			return Config{}, fmt.Errorf("source %s: %w", CleanURL(place), err)
		}
		return Config{ID: u.Host + strings.TrimRight(u.EscapedPath(), "/"), Type: HTTP, URL: NewURL(place)}, nil
	}
	if info, err := os.Stat(place); err != nil || !info.IsDir() {
		return Config{}, fmt.Errorf("%q is no source: it is neither a preset (%s) nor an http(s) URL nor a folder that exists",
			guarded(place), strings.Join(names, ", "))
	}
	return Config{ID: filepath.Clean(place), Type: Filesystem, Path: place}, nil
}

// guarded is a text that might have been meant as a URL, without what would
// be a secret in one.
func guarded(text string) string {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = bin.Redacted + text[i:]
	}
	if i := strings.IndexByte(text, '?'); i >= 0 {
		text = text[:i]
	}
	return text
}
