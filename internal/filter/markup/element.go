package markup

import "bytes"

// maxFields is the greatest number of fields that an element has a use for.
const maxFields = 6

// An Element is {{{tag:field:…}}} in a line.
type Element struct {
	Text []byte // with the braces
	Tag  []byte
	N    int // number of fields
	ends [maxFields]int
}

const (
	opening = "{{{"
	closing = "}}}"
)

// Next finds the first element of a line. It returns the text before and after it.
func (e *Element) Next(line []byte) (before, after []byte, ok bool) {
	for from := 0; ; {
		begin := bytes.Index(line[from:], []byte(opening))
		if begin < 0 {
			return nil, nil, false
		}
		begin += from
		end := bytes.Index(line[begin+len(opening):], []byte(closing))
		if end < 0 {
			return nil, nil, false
		}
		from = begin + len(opening) + end + len(closing)
		if e.parse(line[begin:from]); len(e.Tag) > 0 {
			return line[:begin], line[from:], true
		}
	}
}

func (e *Element) parse(text []byte) {
	e.Text, e.N = text, 0
	tag, fields, ok := bytes.Cut(text[len(opening):len(text)-len(closing)], []byte(":"))
	e.Tag = tag
	for at := e.TagEnd() + 1; ok; e.N++ {
		var field []byte
		field, fields, ok = bytes.Cut(fields, []byte(":"))
		if at += len(field); e.N < maxFields {
			e.ends[e.N] = at
		}
		at++
	}
}

// TagEnd returns where the tag ends in Text.
func (e *Element) TagEnd() int { return len(opening) + len(e.Tag) }

// Field returns one of the first fields.
func (e *Element) Field(i int) []byte { return e.Text[e.FieldStart(i):e.ends[i]] }

// FieldStart returns where a field starts in Text.
func (e *Element) FieldStart(i int) int {
	if i == 0 {
		return e.TagEnd() + 1
	}
	return e.ends[i-1] + 1
}
