package web

import (
	"context"
	"errors"
	"io"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// store is a bucket in an object store whose host is blocked when it fails, as those of
// symbol servers are.
type store struct {
	bucket.Bucket
	host   string
	client *Client
	deny   *denyList
}

// Store returns a bucket on a host for a source. share is that of the request that named
// the source, nil for the configuration.
func (c *Client) Store(b bucket.Bucket, host string, share *Share) bucket.Bucket {
	s := &store{b, strings.ToLower(host), c, c.deny}
	if share != nil {
		s.deny = share.deny
	}
	return s
}

// Host returns the host of the store, with a port if it has one.
func (s *store) Host() string { return s.host }

// Get returns a part of a file, unless the host is blocked.
func (s *store) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	if why := s.deny.blocked(s.host); why != "" {
		return nil, bucket.Attrs{}, fault.New(fault.Transport, key, "%s", why)
	}
	r, attrs, err := s.Bucket.Get(ctx, key, off, n)
	if f, ok := errors.AsType[*fault.Error](err); ok && ctx.Err() == nil {
		s.client.count(s.deny, s.host, &failure{Error: f, down: f.Kind == fault.Transport || f.Kind == fault.Timeout})
	} else if err == nil {
		s.client.count(s.deny, s.host, nil)
	}
	return r, attrs, err
}
