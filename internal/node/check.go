package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"symbolon/internal/api"
	"symbolon/internal/config"
)

// Check checks the files and folders that a server opens when it starts. It returns
// all errors, each of which begins with its key, and logs the warnings of a server.
// The configuration may have other errors.
func Check(cfg *config.Config, log *slog.Logger) error {
	note, err := Settle(cfg)
	errs := []error{err}
	if note != "" {
		log.Warn(note)
	}
	folders := []struct{ key, dir string }{{"data", cfg.Data}}
	if cfg.StateSource() < 0 && !Inside(cfg.State, cfg.Data) {
		folders = append(folders, struct{ key, dir string }{"state", cfg.State})
	}
	for _, f := range folders {
		if err != nil {
			break // the folders are not known
		}
		at, err := probe(f.dir)
		switch {
		case errors.Is(err, fs.ErrPermission):
			log.Warn("this user cannot write a folder of the configuration", "key", f.key, "folder", f.dir)
		case err != nil:
			errs = append(errs, fmt.Errorf("%s is %q: create a folder in %s: %w", f.key, f.dir, at, err))
		}
	}
	if _, err := api.ReadVersion(cfg.HTTP.VersionFile); err != nil {
		errs = append(errs, fmt.Errorf("http.%w", err))
	}
	errs = append(errs, checkTLS(cfg.HTTP.TLS, log)...)
	return errors.Join(append(errs, CheckSources(cfg, log)...)...)
}

// probe creates and removes a folder in dir, or in the closest parent of dir that
// exists, which it returns.
func probe(dir string) (at string, err error) {
	for at = dir; ; at = filepath.Dir(at) {
		made, err := os.MkdirTemp(at, ".symbolon-check-*")
		if err == nil {
			return at, os.Remove(made)
		}
		if _, missing := os.Lstat(at); !errors.Is(missing, fs.ErrNotExist) {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err // the path has a random name
			}
			return at, err
		}
	}
}

// checkTLS reads the certificate and its key.
func checkTLS(cfg api.TLSConfig, log *slog.Logger) (errs []error) {
	for _, f := range []struct{ key, path string }{{"certificate", cfg.Certificate}, {"key", cfg.Key}} {
		if f.path == "" {
			continue
		}
		if _, err := os.ReadFile(f.path); err != nil {
			errs = append(errs, fmt.Errorf("http.tls.%s: %w", f.key, err))
		}
	}
	if len(errs) > 0 || cfg.Certificate == "" || cfg.Key == "" {
		return errs
	}
	if _, err := api.OpenTLS(cfg, log); err != nil {
		errs = append(errs, fmt.Errorf("http.tls.certificate: %w", err))
	}
	return errs
}
