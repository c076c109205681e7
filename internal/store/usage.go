package store

import (
	"context"
	"sync"

	"symbolon/internal/bin"
)

// A Usage is the size of the files of uploads that are not deleted, decoded. A file
// counts once in each project.
type Usage struct {
	Total    int64            `json:"total"`
	Projects map[string]int64 `json:"projects"`
	Uploads  map[string]int   `json:"uploads,omitempty"` // by project, when they were counted
}

// Add adds the size of files of a project.
func (u *Usage) Add(project string, size int64) {
	u.Total += size
	u.Projects[project] += size
}

// Over returns the key of a limit that a project exceeds, "" without one.
func (c Config) Over(u *Usage, project string) (key string, limit bin.Size) {
	switch {
	case c.MaxProject > 0 && u.Projects[project] > int64(c.MaxProject):
		return "uploads.max_project", c.MaxProject
	case c.MaxTotal > 0 && u.Total > int64(c.MaxTotal):
		return "uploads.max_total", c.MaxTotal
	}
	return "", 0
}

// usage is the last count, and the uploads and deletions of this process since.
type usage struct {
	mu   sync.Mutex
	last *Usage // nil: not counted
}

// SetUsage sets the count with which Commit checks the limits.
func (s *Store) SetUsage(u *Usage) {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	s.usage.last = u
}

// UsageOf returns the size of the files of a project, and the number of its uploads when
// they were last counted. It returns false before the first count.
func (s *Store) UsageOf(project string) (size int64, uploads int, isCounted bool) {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	if s.usage.last == nil {
		return 0, 0, false
	}
	return s.usage.last.Projects[project], s.usage.last.Uploads[project], true
}

// sizeWithout returns the size of those files that a project does not have.
func (s *Store) sizeWithout(ctx context.Context, project string, files []UploadedFile) (size int64, err error) {
	if s.cfg.MaxProject == 0 && s.cfg.MaxTotal == 0 {
		return 0, nil
	}
	for i := range files {
		found, err := s.Find(ctx, []string{project}, Question{SHA1: files[i].SHA1})
		if err != nil {
			return 0, err
		}
		if len(found) == 0 {
			size += files[i].Size
		}
	}
	return size, nil
}

// count adds the size of files of a project.
func (s *Store) count(project string, size int64) {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	if s.usage.last != nil {
		s.usage.last.Add(project, size)
	}
}

// admit counts the files of a draft that its project does not have, or refuses them if
// they would exceed a limit.
func (s *Store) admit(ctx context.Context, project string, files []UploadedFile) (size int64, err error) {
	if size, err = s.sizeWithout(ctx, project, files); err != nil {
		return 0, err
	}
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	u := s.usage.last
	if u == nil {
		return 0, nil
	}
	u.Add(project, size)
	key, limit := s.cfg.Over(u, project)
	if key == "" {
		return size, nil
	}
	u.Add(project, -size)
	return 0, refuseSize("upload", "with its new files of %d bytes the uploads would exceed %s, %v: "+
		"delete uploads, or ask for a higher limit", size, key, limit)
}
