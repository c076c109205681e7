package store

import "sync"

// uses are the uploads whose files were found.
type uses struct {
	mu  sync.Mutex
	ids map[string]struct{}
}

// note notes found files.
func (u *uses) note(list []Found) {
	if len(list) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = map[string]struct{}{}
	}
	for i := range list {
		u.ids[list[i].Upload] = struct{}{}
	}
}

// Used returns the ids of the uploads whose files were found since the last call.
func (s *Store) Used() map[string]struct{} {
	s.uses.mu.Lock()
	defer s.uses.mu.Unlock()
	ids := s.uses.ids
	s.uses.ids = nil
	return ids
}
