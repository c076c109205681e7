package sentry

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"symbolon/internal/source"
)

// admit says whether the sources that a request names may be used. The folders
// among them are replaced by those that they lead to.
func (d *Door) admit(q *question, who client) error {
	if !q.hasSources {
		return nil
	}
	if !d.cfg.AllowRequestSources {
		return &refusal{http.StatusForbidden,
			"this server takes no sources from requests: leave them out, or have sentry.allow_request_sources set in its configuration"}
	}
	if !who.mayName() {
		return &refusal{http.StatusForbidden, "the requests of this token may name no sources"}
	}
	for i := range q.sources {
		s := &q.sources[i]
		if s.Type != source.Filesystem {
			continue
		}
		path, ok := below(d.cfg.RequestFilesystemRoot, s.Path)
		if !ok {
			return &refusal{http.StatusForbidden,
				"a request may only name folders below sentry.request_filesystem_root of the configuration of this server"}
		}
		s.Path = path
	}
	return nil
}

// below is a path with its links followed, if that is in a folder.
func below(root, path string) (resolved string, ok bool) {
	if root == "" || !filepath.IsAbs(path) {
		return "", false
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", false
	}
	if resolved, err = follow(filepath.Clean(path)); err != nil {
		return "", false
	}
	rest, err := filepath.Rel(root, resolved)
	return resolved, err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// follow follows the links of a path, the end of which need not be there. A link
// that leads nowhere is an error.
func follow(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if _, there := os.Lstat(path); there == nil || !errors.Is(err, fs.ErrNotExist) {
		return resolved, err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return "", err
	}
	if parent, err = follow(parent); err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(path)), nil
}
