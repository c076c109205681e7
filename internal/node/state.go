package node

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"symbolon/internal/config"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// DataDir returns the configured data directory, or its default in the user's cache
// directory.
func DataDir(configured string) (string, error) {
	if configured != "" {
		return filepath.Abs(configured)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the data: %w; name one with --data", err)
	}
	return filepath.Join(base, "symbolon"), nil
}

// Complete completes a configuration with the folders and the memory of this machine.
// note is a warning about uploads in an old place, or empty. Complete changes nothing
// in a configuration that it has completed.
func Complete(cfg *config.Config) (note string, err error) {
	data, err := DataDir(cfg.Data)
	if err != nil {
		return "", err
	}
	if cfg.StateSource() < 0 {
		if note, err = completeState(cfg, data); err != nil {
			return "", err
		}
	}
	cfg.Data = data
	divideMemory(cfg)
	return note, nil
}

// completeState chooses the folder of the state. Uploads that an earlier release left
// in the data directory stay in use there until they are moved: they cannot be
// created again.
func completeState(cfg *config.Config, data string) (note string, err error) {
	old := filepath.Join(data, "store")
	dir, err := stateDir(cfg, old)
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"cache", "tmp"} {
		if Inside(dir, filepath.Join(data, sub)) {
			return "", fmt.Errorf("state is %q: must not be in the cache", dir)
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fmt.Errorf("state is %q: must be a folder", dir)
	}
	cfg.State = dir
	switch {
	case dir == old || !HasUploads(old):
		return "", nil
	case HasUploads(dir):
		return fmt.Sprintf("uploads in %s are not in use, because there are others in %s; move or remove them", old, dir), nil
	}
	cfg.State = old
	return fmt.Sprintf("uploads are in %s and stay in use there; "+
		"to move them, stop the server and move all files of that folder to %s", old, dir), nil
}

// stateDir returns the folder of the state. It is in the data directory only if that
// is configured: the user's cache, its default, may be deleted at any time.
func stateDir(cfg *config.Config, old string) (string, error) {
	switch {
	case cfg.State != "":
		return filepath.Abs(cfg.State)
	case cfg.Data != "":
		return old, nil
	}
	base, err := userStateDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for uploads: %w; name one with --set state=DIR", err)
	}
	return filepath.Join(base, "symbolon", "store"), nil
}

// userStateDir returns the folder for the state of the user's programs.
func userStateDir() (string, error) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return os.UserConfigDir()
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

// Inside reports whether a path is in a folder.
func Inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// storeFolders are folders of a store that have files if it has uploads or tokens. The
// first file in one of them ends the search: id may have millions.
var storeFolders = []string{"id", "keys", "known", "upload"}

// HasUploads reports whether a folder is a store with uploads, with keys for
// uploads, or with files that such a store publishes. Other files do not count.
func HasUploads(folder string) bool {
	found := false
	_ = fs.WalkDir(os.DirFS(folder), ".", func(at string, d fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(at, "/")
		kept := slices.Contains(storeFolders, top) && (top != at || d.IsDir())
		hidden := strings.HasPrefix(path.Base(at), ".")
		switch {
		case err != nil || at == ".":
			return err // a folder that cannot be read has no uploads
		case d.IsDir() && (hidden || !kept && len(top) != 2):
			return fs.SkipDir
		case d.Type().IsRegular() && !hidden && (kept || published(at)):
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// published reports whether a place in a store has a published file.
func published(at string) bool {
	dir, name := path.Split(at)
	id, err := ident.ParseFileID(path.Base(dir))
	return err == nil && at == source.ElasticPath(id, name)
}
