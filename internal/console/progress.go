package console

import (
	"fmt"
	"io"
)

// Progress is a line on a terminal that is rewritten.
type Progress struct {
	W    io.Writer
	last int
}

// Show replaces the line.
func (p *Progress) Show(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	Printf(p.W, "\r%-*s", p.last, text)
	p.last = len(text)
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p.last > 0 {
		Printf(p.W, "\r%*s\r", p.last, "")
		p.last = 0
	}
}
