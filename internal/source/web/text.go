package web

import (
	"bytes"
	"context"
	"unicode/utf8"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
)

// maxText is the size of the largest text.
const maxText = 16 << 20

// Text gets the text at an address that somebody else names, a debug file for
// example, so it reaches public addresses only. The headers go to that origin
// and to no other one. Unless verify is set any certificate will do.
func (c *Client) Text(ctx context.Context, address string, headers map[string]bin.Secret, verify bool) ([]byte, error) {
	cfg := source.Config{ID: "sourcelink", Type: source.HTTP, URL: source.NewURL(address), Headers: headers, AcceptInvalidCerts: !verify}
	s, err := NewGuarded(c, cfg, nil)
	if err != nil {
		return nil, fault.New(fault.Unsupported, source.CleanURL(address), "%w", err)
	}
	s.whole = s.base
	var text bytes.Buffer
	if _, err := s.Fetch(ctx, source.Candidate{}, &atMost{&text}); err != nil {
		return nil, err
	}
	if !utf8.Valid(text.Bytes()) {
		return nil, fault.New(fault.Malformed, source.CleanURL(address), "it is no text")
	}
	return text.Bytes(), nil
}

// atMost takes no more than a text may have.
type atMost struct{ *bytes.Buffer }

func (b *atMost) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxText {
		return 0, fault.New(fault.Malformed, "", "larger than %v", bin.Size(maxText))
	}
	return b.Buffer.Write(p)
}
