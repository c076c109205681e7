package source

import "symbolon/internal/fault"

// Text is a writer for a small file, of at most Max bytes.
type Text struct {
	Max   int
	Bytes []byte
}

func (t *Text) Write(p []byte) (int, error) {
	if len(t.Bytes)+len(p) > t.Max {
		return 0, fault.New(fault.Malformed, "", "more than %d bytes", t.Max)
	}
	t.Bytes = append(t.Bytes, p...)
	return len(p), nil
}
