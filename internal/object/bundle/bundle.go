// Package bundle finds sources in source bundles. A bundle has no addresses.
package bundle

import (
	"symbolon/internal/bin"
	"symbolon/internal/format/bundle"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Open opens a bundle of sources. It knows nothing about addresses.
func Open(src bin.Source, in object.Input) (*object.Object, error) {
	b, err := bundle.Open(src)
	if err != nil {
		return nil, err
	}
	info := object.Info{Kind: "sourcebundle", Type: "src", Module: moduleOf(b)}
	if len(b.Files()) > 0 || len(b.Links) > 0 {
		info.Features |= object.HasSources
	}
	return object.New(info, &view{bundle: b}, in), nil
}

// Identify returns the identifiers in the manifest of a bundle.
func Identify(src bin.Source) ([]ident.Module, error) {
	return object.DescribeOne(src, bundle.Open, moduleOf)
}

func moduleOf(b *bundle.Bundle) ident.Module {
	attr := b.Manifest.Attributes
	m := ident.Module{
		Arch: ident.ParseArch(attr["arch"]), DebugFile: object.Valid(attr["object_name"]), CodeID: ident.ParseCodeID(attr["code_id"]),
	}
	if id, err := ident.ParseDebugID(attr["debug_id"]); err == nil {
		m.DebugID = id
	}
	return m
}

// A view is an open bundle, which has no addresses.
type view struct {
	bundle  *bundle.Bundle
	origins object.Origins
	found   object.Findings
}

func (s *view) Lookup(dst []sym.Frame, _ uint64) []sym.Frame             { return dst }
func (s *view) Nearest(uint64) (sym.Frame, bool)                         { return sym.Frame{}, false }
func (s *view) AppendText(dst []byte, _ sym.Text) []byte                 { return dst }
func (s *view) Blocks(object.BlockOptions, func(*sym.Block) error) error { return nil }

func (s *view) Describe(info *object.Info) int64 {
	s.found.Describe(info)
	info.Counts.Files = len(s.bundle.Files())
	return 0
}

// SourceByPath returns the content of a file.
func (s *view) SourceByPath(path string) []byte {
	f, ok := s.bundle.ByPath(path)
	if !ok {
		return nil
	}
	text, err := s.bundle.Text(f, object.MaxSource)
	if err != nil {
		s.found.Add("damaged sources", err.Error())
		return nil
	}
	return text
}

// Source returns nil: a bundle has no texts.
func (s *view) Source(sym.Text) []byte { return nil }

// Origin returns where a file is kept.
func (s *view) Origin(path string) object.Origin {
	return s.origins.Of(path, func(l *object.Origins) { l.Take(s.bundle.Links) })
}
