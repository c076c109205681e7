package tree

import (
	"slices"
	"strings"

	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// maxListed is how many names of one folder of build ids are read.
const maxListed = 100_000

// complete returns m with its build id if that is missing and a folder of build
// ids has a name that begins as the debug id says.
func (s *Source) complete(m ident.Module, in *folder) ident.Module {
	if s.lister == nil || !m.LacksBuildID() {
		return m
	}
	sites := slices.Concat([]site{{layout: s.cfg.Layout}}, in.sites)
	for _, at := range sites {
		if at.layout.Type != source.Native && at.layout.Type != source.Unified {
			continue
		}
		for _, big := range [...]bool{m.Arch.BigEndian(), !m.Arch.BigEndian()} {
			if id := s.find(at, m, big); !id.IsZero() {
				m.CodeID = id.CodeID()
				return m
			}
		}
	}
	return m
}

// find looks for a build id whose debug id, in this byte order, is that of m: in
// the folder of its first byte.
func (s *Source) find(at site, m ident.Module, bigEndian bool) (found ident.BuildID) {
	m.CodeID = m.DebugID.BuildIDStart(bigEndian).CodeID()
	paths := at.layout.Paths(m, source.ELFDebug)
	if len(paths) == 0 {
		return ""
	}
	top, _, _ := strings.Cut(paths[0], "/")
	names := 0
	_ = s.lister.List(at.below+top, func(name string, _ bool) bool {
		rest, _, _ := strings.Cut(name, ".")
		if id, err := ident.ParseBuildID(top + rest); err == nil && id.DebugID(bigEndian) == m.DebugID {
			found = id
		}
		names++
		return found.IsZero() && names < maxListed
	})
	return found
}
