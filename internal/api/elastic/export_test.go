package elastic

import "io"

// Decode decodes a query, and returns the number of its addresses and files.
func (d *Door) Decode(body io.Reader, lines bool) (addrs, files int, err error) {
	q, err := d.decode(body, lines)
	return len(q.frames), len(q.files), err
}

// NewReserver returns a reader that reserves the memory for a part.
func NewReserver(src io.Reader, isSeveral bool, reserve func(n int64) error) io.Reader {
	return newReserver(src, isSeveral, reserve)
}
