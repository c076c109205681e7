package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// reconcile loads the index, compares it with the folder, and removes unfinished
// files.
func (s *Store) reconcile() error {
	if err := wipe(s.temps()); err != nil {
		return fault.New(fault.Internal, place, "wipe unfinished files: %w", err)
	}
	now := s.clock()
	recorded := map[id]*entry{}
	var found []*entry
	var stale []id
	err := s.ledger.load(func(of id, e *entry) {
		if e == nil {
			delete(recorded, of)
			return
		}
		e.used = min(e.used, now) // a wrong clock must not keep it forever
		recorded[of] = e
	})
	if err != nil {
		s.log.Warn("the index of the disk cache is damaged and is rebuilt from the files; remembered faults are lost",
			"index", s.index(), "error", err)
	}
	adopted, err := s.walk(func(of id, info func() (fs.FileInfo, error)) (bool, error) {
		if e := recorded[of]; e != nil && e.fault == nil {
			found = append(found, e)
			delete(recorded, of)
			return false, nil
		}
		i, err := info()
		if err != nil {
			return false, err
		}
		delete(recorded, of) // a fault that was remembered before the file came
		at := min(i.ModTime().UnixNano(), now)
		found = append(found, &entry{id: of, size: i.Size(), created: at, used: at})
		return true, nil
	})
	if err != nil {
		return fault.New(fault.Internal, place, "read the folder: %w", err)
	}
	for of, e := range recorded {
		if e.fault != nil && e.holds(now) {
			found = append(found, e)
		} else {
			stale = append(stale, of)
		}
	}
	s.book.load(found)
	for _, of := range append(stale, adopted...) {
		s.book.dirty[of] = struct{}{}
	}
	return nil
}

// walk visits the files with names of entries, and returns the ones that visit
// adopted.
func (s *Store) walk(visit func(id, func() (fs.FileInfo, error)) (bool, error)) (adopted []id, err error) {
	for kind := range kinds {
		shards, err := list(s.folder(uint8(kind)))
		if err != nil {
			return nil, err
		}
		for _, shard := range shards {
			if !shard.IsDir() {
				continue
			}
			files, err := list(filepath.Join(s.folder(uint8(kind)), shard.Name()))
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				key, ok := cache.ParseKey(f.Name())
				if !ok || f.Name()[:2] != shard.Name() || !f.Type().IsRegular() {
					continue
				}
				of := id{uint8(kind), key}
				taken, err := visit(of, f.Info)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
				if taken {
					adopted = append(adopted, of)
				}
			}
		}
	}
	return adopted, nil
}

// list reads a folder. A missing folder is empty.
func list(folder string) ([]fs.DirEntry, error) {
	d, err := os.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

// wipe empties a folder.
func wipe(folder string) error {
	entries, err := list(folder)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
	}
	return err
}
