package web

import (
	"context"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
)

// maxText is the size of the largest text.
const maxText = 8 << 20

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
	text := &source.Text{Max: maxText}
	if _, err := s.Fetch(ctx, source.Candidate{}, text); err != nil {
		return nil, err
	}
	return text.Bytes, nil
}
