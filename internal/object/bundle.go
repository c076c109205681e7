package object

import (
	"symbolon/internal/bin"
	"symbolon/internal/format/bundle"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// OpenBundle opens a bundle of sources. It knows nothing about addresses.
func OpenBundle(src bin.Source, in Input) (*Object, error) {
	b, err := bundle.Open(src)
	if err != nil {
		return nil, err
	}
	attr := b.Manifest.Attributes
	m := ident.Module{
		Arch: ident.ParseArch(attr["arch"]), DebugFile: Valid(attr["object_name"]), CodeID: ident.ParseCodeID(attr["code_id"]),
	}
	if id, err := ident.ParseDebugID(attr["debug_id"]); err == nil {
		m.DebugID = id
	}
	info := Info{Kind: "sourcebundle", Type: "src", Module: m}
	if len(b.Files()) > 0 || len(b.Links) > 0 {
		info.Features |= HasSources
	}
	return New(info, &sources{bundle: b}, in), nil
}

// sources is a bundle as a view: it has no addresses.
type sources struct {
	bundle  *bundle.Bundle
	origins Origins
	found   Findings
}

func (s *sources) Lookup(dst []sym.Frame, _ uint64) []sym.Frame      { return dst }
func (s *sources) Nearest(uint64) (sym.Frame, bool)                  { return sym.Frame{}, false }
func (s *sources) AppendText(dst []byte, _ sym.Text) []byte          { return dst }
func (s *sources) Blocks(BlockOptions, func(*sym.Block) error) error { return nil }

func (s *sources) Describe(info *Info) int64 {
	s.found.Describe(info)
	info.Counts.Files = len(s.bundle.Files())
	return 0
}

// SourceByPath returns the content of a file.
func (s *sources) SourceByPath(path string) []byte {
	f, ok := s.bundle.ByPath(path)
	if !ok {
		return nil
	}
	text, err := s.bundle.Text(f, MaxSource)
	if err != nil {
		s.found.Add("damaged sources", err.Error())
		return nil
	}
	return text
}

// Source returns nil: a bundle has no texts.
func (s *sources) Source(sym.Text) []byte { return nil }

// Origin returns where a file is kept.
func (s *sources) Origin(path string) Origin {
	return s.origins.Of(path, func(l *Origins) { l.Take(s.bundle.Links) })
}
