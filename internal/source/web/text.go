package web

import (
	"context"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// maxText is the size of the largest text.
const maxText = 8 << 20

// Text returns the text at an address that is not trusted, such as one of a debug
// file, so it reaches public addresses only. The headers are sent to that origin
// only. Unless verify is set any certificate is accepted.
func (c *Client) Text(ctx context.Context, address string, headers map[string]bin.Secret, verify bool) ([]byte, error) {
	cfg := source.Config{ID: "sourcelink", Type: source.HTTP, URL: source.NewURL(address), Headers: headers, AcceptInvalidCerts: !verify}
	s, err := NewGuarded(c, cfg, nil)
	if err != nil {
		return nil, fault.New(fault.Unsupported, source.CleanURL(address), "%w", err)
	}
	s.whole = s.base
	return s.text(ctx, "")
}

// SourceFile returns a source file of a program, by its path in the debug information.
// Only servers with the layout of debuginfod have source files.
func (s *Source) SourceFile(ctx context.Context, program ident.CodeID, path string) ([]byte, error) {
	if s.cfg.Layout.Type != source.Debuginfod || !strings.HasPrefix(path, "/") {
		return nil, fault.New(fault.NotFound, "", "the source has no source files")
	}
	return s.text(ctx, program.String()+"/source"+path)
}

// text fetches a small file.
func (s *Source) text(ctx context.Context, path string) ([]byte, error) {
	text := &source.Text{Max: maxText}
	if _, err := s.Fetch(ctx, source.Candidate{Path: path}, text); err != nil {
		return nil, err
	}
	return text.Bytes, nil
}
