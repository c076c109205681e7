package object

import (
	"symbolon/internal/bin"
	"symbolon/internal/format/bundle"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// openBundle opens a bundle of sources. It knows nothing about addresses.
func openBundle(src bin.Source) (*Object, error) {
	b, err := bundle.Open(src)
	if err != nil {
		return nil, err
	}
	attr := b.Manifest.Attributes
	m := ident.Module{
		Arch: ident.ParseArch(attr["arch"]), DebugFile: valid(attr["object_name"]), CodeID: ident.ParseCodeID(attr["code_id"]),
	}
	if id, err := ident.ParseDebugID(attr["debug_id"]); err == nil {
		m.DebugID = id
	}
	info := Info{Kind: kindNames[kindBundle], Type: "src", Module: m}
	if len(b.Files()) > 0 || len(b.Links) > 0 {
		info.Features |= HasSources
	}
	return &Object{info: info, view: &sources{bundle: b}}, nil
}

// sources is a bundle as a view: it has no addresses.
type sources struct {
	bundle   *bundle.Bundle
	origins  origins
	problems problems
}

func (s *sources) lookup(dst []sym.Frame, _ uint64) []sym.Frame      { return dst }
func (s *sources) nearest(uint64) (sym.Frame, bool)                  { return sym.Frame{}, false }
func (s *sources) appendText(dst []byte, _ sym.Text) []byte          { return dst }
func (s *sources) blocks(BlockOptions, func(*sym.Block) error) error { return nil }
func (s *sources) footprint() int64                                  { return 0 }

func (s *sources) tell(info *Info) {
	info.Counts.Files = len(s.bundle.Files())
	s.problems.mu.Lock()
	defer s.problems.mu.Unlock()
	s.problems.tell(info)
}
