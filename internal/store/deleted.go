package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// Bounds of Deleted.
const (
	maxLooked  = 100 // entries for each identifier and project
	maxDeleted = 5   // deletions that are returned
)

// A Deletion is the deletion of an upload with a file.
type Deletion struct {
	Upload  string // id
	Project string
	File    string // name, as claimed
	By      string
	Why     string
	Time    time.Time
}

// Deleted returns the last deletions of files with an identifier of the module from
// these projects, the last one first. They are known until a collection removes the
// identifiers of the upload, a day after the deletion or later. Of each project only
// the newest uploads with the identifier are looked at.
func (s *Store) Deleted(ctx context.Context, projects []string, m ident.Module) (list []Deletion, err error) {
	m = m.Derive()
	ids := append(idsOf(m), idsOf(ident.Module{DebugID: m.DebugID.Swapped()})...)
	slices.Sort(ids)
	isLooked := map[string]bool{} // uploads
	for _, id := range slices.Compact(ids) {
		err := s.entries(ctx, id, projects, maxLooked, func(e entry) (bool, error) {
			if isLooked[e.project+e.name] {
				return true, nil
			}
			isLooked[e.project+e.name] = true
			d, err := s.deletion(ctx, e)
			if d != nil {
				list = append(list, *d)
			}
			return true, err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b Deletion) int { return b.Time.Compare(a.Time) })
	return list[:min(len(list), maxDeleted)], nil
}

// deletion returns the deletion of the upload of an entry, nil if it is not deleted.
func (s *Store) deletion(ctx context.Context, e entry) (*Deletion, error) {
	text, err := s.read(ctx, goneKey(e.project, e.name))
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := s.line(ctx, e)
	if f == nil || err != nil {
		return nil, err
	}
	var mark Gone
	_ = json.Unmarshal(text, &mark) // one that cannot be read has no content
	return &Deletion{Upload: e.project + "." + e.name, Project: e.project, File: f.Name, By: mark.By, Why: mark.Why, Time: mark.Time}, nil
}
