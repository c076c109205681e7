package bin

import "io"

// An ErrReader reads from R and keeps its first error other than io.EOF, which a
// decoder around it may hide or replace. Later reads return that error again.
type ErrReader struct {
	R   io.Reader
	Err error
}

func (r *ErrReader) Read(p []byte) (n int, err error) {
	if r.Err != nil {
		return 0, r.Err
	}
	if n, err = r.R.Read(p); err != nil && err != io.EOF {
		r.Err = err
	}
	return n, err
}

// An ErrWriter writes to W and keeps its first error, which an encoder or a caller
// may hide. Later writes return that error again.
type ErrWriter struct {
	W   io.Writer
	Err error
}

func (w *ErrWriter) Write(p []byte) (n int, err error) {
	if w.Err != nil {
		return 0, w.Err
	}
	n, w.Err = w.W.Write(p)
	return n, w.Err
}
