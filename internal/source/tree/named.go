package tree

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// Named returns the places of a file of m to which another file refers by these names. A
// relative name is relative to the folder of the file from, which is empty if that is in
// another source. An absolute name is a path of this machine, or one below the folder.
// All places are below the folder: ".." at its top stays there. Places without a file are
// omitted, except the first one if there are no others.
//
// Folders in object stores, and those in requests, have no such places.
func (s *Source) Named(ctx context.Context, m ident.Module, kind, from string, names []string) (list []source.Candidate) {
	if s.far != nil || s.label == source.RequestLabel || !s.cfg.Wants(m, kind) {
		return nil
	}
	var paths []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(s.root, "/")+"/"); ok {
			name = "/" + rest
		} else if !path.IsAbs(name) {
			if from == "" {
				continue
			}
			name = "/" + path.Dir(from) + "/" + name
		}
		at := path.Clean(name)[1:]
		if at != from && !slices.Contains(paths, at) && bucket.Check(at) == nil {
			paths = append(paths, at)
		}
	}
	found := slices.DeleteFunc(slices.Clone(paths), func(at string) bool { return !s.exists(ctx, at) })
	if len(found) == 0 {
		found = paths[:min(len(paths), 1)]
	}
	for _, at := range found {
		list = append(list, s.candidate(kind, at))
	}
	return list
}

// exists reports whether there is a file at a path, or a link that is not followed.
func (s *Source) exists(ctx context.Context, at string) bool {
	return slices.ContainsFunc(siblings[:], func(suffix string) bool {
		_, err := s.bucket.Stat(ctx, at+suffix)
		return err == nil || errors.Is(err, bucket.ErrLink)
	})
}
