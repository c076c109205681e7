package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"symbolon/internal/config"
)

// settle fills in what of a configuration depends on this machine: folders and
// memory. note, if there is one, tells the operator of uploads in an old place.
// To settle a configuration twice changes nothing.
func settle(cfg *config.Config) (note string, err error) {
	data, err := dataDir(cfg.Data)
	if err != nil {
		return "", err
	}
	if cfg.StateSource() < 0 {
		if note, err = settleState(cfg, data); err != nil {
			return "", err
		}
	}
	cfg.Data = data
	settleMemory(cfg)
	return note, nil
}

// settleState decides which folder has the state. Uploads that an earlier release
// left in the data directory stay in use there until they are moved, since
// nobody could make them again.
func settleState(cfg *config.Config, data string) (note string, err error) {
	old := filepath.Join(data, "store")
	dir, err := stateDir(cfg, old)
	if err != nil {
		return "", err
	}
	for _, sub := range []string{"cache", "tmp"} {
		if inside(dir, filepath.Join(data, sub)) {
			return "", fmt.Errorf("state is %q: must not be in the cache", dir)
		}
	}
	cfg.State = dir
	switch {
	case dir == old || !hasFiles(old):
		return "", nil
	case hasFiles(dir):
		return fmt.Sprintf("uploads in %s are not in use, because there are others in %s; move or remove them", old, dir), nil
	}
	cfg.State = old
	return fmt.Sprintf("uploads are in %s and stay in use there; to move them, stop the server and move all files of that folder to %s", old, dir), nil
}

// stateDir is the folder for the state. A data directory that is named holds it;
// the default one is in the user's cache, which may be deleted at any time.
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

// userStateDir is the folder in which programs of the user keep their state.
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

func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// hasFiles reports whether a folder has files, not counting those that a crash
// left unfinished.
func hasFiles(folder string) bool {
	found := false
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err // a folder that cannot be read has nothing to offer
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type().IsRegular():
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
