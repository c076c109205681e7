package tree

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// maxListed is the largest number of names that are read of a folder of build ids.
const maxListed = 100_000

// complete returns m with its build id if that is missing and a folder of build ids has a
// name that matches the debug id. If no folder has one, the error is nil, or states that
// a folder is a link that is not followed.
func (s *Source) complete(m ident.Module, in *folder) (_ ident.Module, refused error) {
	if s.lister == nil || !m.LacksBuildID() {
		return m, nil
	}
	sites := slices.Concat([]site{{layout: s.cfg.Layout}}, in.sites)
	for _, at := range sites {
		if at.layout.Type != source.Native && at.layout.Type != source.Unified {
			continue
		}
		for _, big := range [...]bool{m.Arch.BigEndian(), !m.Arch.BigEndian()} {
			id, err := s.find(at, m, big)
			if !id.IsZero() {
				m.CodeID = id.CodeID()
				return m, nil
			}
			refused = cmp.Or(refused, err)
		}
	}
	return m, refused
}

// find looks for a build id whose debug id, in this byte order, is that of m: in
// the folder of its first byte.
func (s *Source) find(at site, m ident.Module, bigEndian bool) (found ident.BuildID, refused error) {
	m.CodeID = m.DebugID.BuildIDStart(bigEndian).CodeID()
	paths := at.layout.Paths(m, source.ELFDebug)
	if len(paths) == 0 {
		return "", nil
	}
	top, _, _ := strings.Cut(paths[0], "/")
	names := 0
	err := s.lister.ReadFolder(at.below+top, func(name string, _ bool) bool {
		rest, _, _ := strings.Cut(name, ".")
		if id, err := ident.ParseBuildID(top + rest); err == nil && id.DebugID(bigEndian) == m.DebugID {
			found = id
		}
		names++
		return found.IsZero() && names < maxListed
	})
	if errors.Is(err, bucket.ErrLink) {
		refused = linkError(s.location(at.below + top))
	}
	return found, refused
}
