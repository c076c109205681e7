package elastic

import "io"

// Decode reads a question, and tells how many addresses and files it has.
func (d *Door) Decode(body io.Reader, lines bool) (addrs, files int, err error) {
	q, err := d.decode(body, lines)
	return len(q.frames), len(q.files), err
}

// NewScale weighs a part.
func NewScale(src io.Reader, several bool, claim func(n int64) error) io.Reader {
	return newScale(src, several, claim)
}
