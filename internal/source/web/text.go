package web

import (
	"context"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
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
	text := &source.Text{Max: maxText}
	if _, err := s.Fetch(ctx, source.Candidate{}, text); err != nil {
		return nil, err
	}
	return text.Bytes, nil
}
