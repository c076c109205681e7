package store

import (
	"context"
	"slices"
)

// maxOthers bounds the result of Others.
const maxOthers = 3

// Other is an upload with a file that another upload has too.
type Other struct {
	Upload string `json:"upload"` // id
	IsSame bool   `json:"same"`   // it has the same bytes, else the same identifier
}

// Others returns uploads of these projects, apart from the one with the id, which have a
// file with the bytes or an identifier of f: the newest of them, those with the bytes first.
func (s *Store) Others(ctx context.Context, projects []string, id string, f *UploadedFile) (list []Other, err error) {
	ids := []string{idOf(f.SHA1)}
	for _, m := range f.modules() {
		ids = append(ids, idsOf(m)...)
	}
	for _, one := range ids {
		err := s.entries(ctx, one, projects, maxLooked, func(e entry) (bool, error) {
			o := Other{e.project + "." + e.name, e.SHA256 == f.SHA256}
			isKnown := slices.ContainsFunc(list, func(known Other) bool { return known.Upload == o.Upload })
			if len(list) >= maxOthers || o.Upload == id || isKnown {
				return true, nil
			}
			isGone, err := s.exists(ctx, goneKey(e.project, e.name))
			if err != nil || isGone {
				return true, err
			}
			isThere, err := s.exists(ctx, uploadKey(e.project, e.name))
			if isThere {
				list = append(list, o)
			}
			return true, err
		})
		if err != nil || len(list) >= maxOthers {
			return list, err
		}
	}
	return list, nil
}

// Rule returns the rule of retention of an upload and its number from 1, or 0 without one.
func (s *Store) Rule(u *Upload) (r Rule, number int) {
	i := slices.IndexFunc(s.cfg.Keep, func(r Rule) bool { return r.Matches(u) })
	if i < 0 {
		return r, 0
	}
	return s.cfg.Keep[i], i + 1
}
