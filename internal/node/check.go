package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket"
	"symbolon/internal/config"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// Check checks the files and folders that a server opens when it starts. It returns all
// errors, each of which begins with its key, and logs the warnings of a server. The
// configuration may have other mistakes.
func Check(cfg *config.Config, log *slog.Logger) error {
	note, err := Complete(cfg)
	errs := []error{err}
	if note != "" {
		log.Warn(note)
	}
	if err == nil { // else the folders are not known
		err = probe("data", cfg.Data)
		errs = append(errs, err)
	}
	if err == nil {
		switch err := CheckState(cfg); {
		case isKept(cfg.State, err):
			log.Warn(err.Error()) // the server starts
		case err != nil:
			errs = append(errs, err)
		}
	}
	if _, err := api.ReadVersion(cfg.HTTP.VersionFile); err != nil {
		errs = append(errs, fmt.Errorf("http.%w", err))
	}
	errs = append(errs, checkTLS(cfg.HTTP.TLS, log)...)
	return errors.Join(append(errs, CheckSources(cfg, log)...)...)
}

// CheckState returns an error if this user cannot write the folder of the state, in a
// configuration that Complete has completed. A server starts if the folder exists, and
// refuses uploads.
func CheckState(cfg *config.Config) error {
	if cfg.StateSource() >= 0 {
		return nil
	}
	err := probe("state", cfg.State)
	if isKept(cfg.State, err) {
		return fmt.Errorf("uploads and new tokens will fail: %w; give this user write permission, or name another folder with --set state=DIR", err)
	}
	return err
}

// isKept reports whether an error means that a folder exists and cannot be written by
// this user, or by any user.
func isKept(dir string, err error) bool {
	_, missing := os.Stat(dir)
	return missing == nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS))
}

// probe creates and removes a folder in the folder of a key, or in its closest parent
// that exists.
func probe(key, dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		made, err := os.MkdirTemp(at, ".symbolon-check-*")
		if err == nil {
			return os.Remove(made)
		}
		if _, missing := os.Lstat(at); errors.Is(missing, fs.ErrNotExist) {
			continue
		}
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // the path has a random name
		}
		return fmt.Errorf("%s is %q: create a folder in %s: %w", key, dir, at, err)
	}
}

// bucketTimeout is how long CheckBuckets waits for a bucket.
const bucketTimeout = 10 * time.Second

// CheckBuckets reads the buckets of the state and of the shared cache, and returns the
// errors. A server starts without them, and uses them once they are available.
func CheckBuckets(ctx context.Context, cfg *config.Config, log *slog.Logger) (errs []error) {
	client := web.NewClient(cfg.Network, time.Now, log)
	defer client.Close()
	read := func(effect string, place source.Config, do func(context.Context, bucket.Bucket) error) {
		b, err := openBucket(place, client.Transport(false), bucketTimeout, true)
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
			defer cancel()
			err = do(ctx, b)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", effect, err))
		}
	}
	if i := cfg.StateSource(); i >= 0 && cfg.Sources[i].Type != source.Filesystem {
		read("state: uploads and new tokens will fail", cfg.Sources[i], func(ctx context.Context, b bucket.Bucket) error {
			_, _, err := b.List(ctx, "keys/", "", 1)
			return err
		})
	}
	if place := cfg.Cache.Bucket(); cfg.Cache.Shared.On() && place.Type != source.Filesystem {
		read("cache.shared: nodes will share nothing", place, func(ctx context.Context, b bucket.Bucket) error {
			_, err := bucket.Read(ctx, b, "probe", 0, 1)
			if fault.KindOf(err) == fault.NotFound && !errors.Is(err, bucket.ErrNoBucket) { // the key or the bucket
				if _, _, err = b.List(ctx, "probe", "", 1); fault.KindOf(err) == fault.Denied {
					err = nil // nodes do not list it
				}
			}
			return err
		})
	}
	return errs
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
