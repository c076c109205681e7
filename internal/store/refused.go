package store

import (
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	maxRefused = 200 // that are kept
	maxReason  = 500 // bytes
)

// Refused is a file or an upload that was refused.
type Refused struct {
	Project  string    `json:"project"`
	Uploader string    `json:"uploader,omitempty"`
	Time     time.Time `json:"time"`
	Name     string    `json:"name"` // as claimed
	Reason   string    `json:"reason"`
}

// refusals are the last ones of this process.
type refusals struct {
	mu   sync.Mutex
	list []Refused
}

// noteRefusal keeps the error of a file if it is a *Refusal.
func (d *Draft) noteRefusal(name string, err error) {
	var refused *Refusal
	if !errors.As(err, &refused) {
		return
	}
	reason := refused.Fault.Detail
	r := Refused{d.upload.Project, d.upload.Uploader, d.now().UTC().Truncate(time.Second), claimed(name), reason[:min(len(reason), maxReason)]}
	s := &d.store.refusals
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list[max(0, len(s.list)-maxRefused+1):], r)
}

// Refused returns the last files and uploads for these projects that this process has
// refused since its start, the last one first.
func (s *Store) Refused(projects []string) []Refused {
	s.refusals.mu.Lock()
	defer s.refusals.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(s.refusals.list), func(r Refused) bool { return !slices.Contains(projects, r.Project) })
	slices.Reverse(list)
	return list
}
