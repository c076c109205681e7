package ingest

import (
	"context"
	"io"
)

// Add stores the part k of the upload, and publishes the upload if it is complete
// then. A *Refusal is an error of the client. After another failure the part may
// be stored or not; the client should send it again.
func (u Upload) Add(ctx context.Context, k int, d *Draft) (isPublished bool, err error) {
	if u.Count == 1 {
		return u.publishAlone(ctx, d)
	}
	r, isHeld, err := u.hold(ctx, k, d)
	if err != nil || !isHeld {
		return false, err
	}
	parts, isMissing, err := r.scan(ctx, k, func(p *Part) bool { return p == nil })
	if err != nil || isMissing {
		return false, err
	}
	return r.publish(ctx, parts)
}

// publishAlone publishes an upload of one part from its spool.
func (u Upload) publishAlone(ctx context.Context, d *Draft) (bool, error) {
	d.Received = u.deps.Now().UnixMilli()
	line, err := d.line()
	if err != nil {
		return false, err
	}
	c := &Complete{Parts: []*Part{{d.Head, line}}, next: func(int) (io.ReadCloser, error) { return io.NopCloser(d.body()), nil }}
	if err := u.checkSize(c.Parts); err != nil {
		return false, err
	}
	return true, u.Publish(ctx, c)
}
