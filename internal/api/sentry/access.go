package sentry

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/source"
)

// admit returns an error if a source of the request must not be used. It follows
// the links in paths of folders.
func (d *Door) admit(q *request, c client) error {
	if !q.HasSources {
		return nil
	}
	if !d.cfg.AllowRequestSources {
		return api.Refuse(http.StatusForbidden,
			"sources in requests are not allowed: omit them, or set sentry.allow_request_sources in the configuration of the server")
	}
	if !c.RequestSources {
		return api.Refuse(http.StatusForbidden, "requests with this token must not name sources")
	}
	for i := range q.Sources {
		s := &q.Sources[i]
		if s.Type != source.Filesystem {
			continue
		}
		path, ok := below(d.cfg.RequestFilesystemRoot, s.Path)
		if !ok {
			return api.Refuse(http.StatusForbidden,
				"invalid folder: must be below sentry.request_filesystem_root in the configuration of the server")
		}
		s.Path = path
	}
	return nil
}

// below returns a path with its links followed, if it is in a folder.
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

// follow follows the links of a path, whose last elements need not exist. A link
// to a missing file is an error.
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
