package standin

import (
	"bufio"
	"bytes"
	"strconv"
)

// Colors of terminals, as LLVM uses them.
const (
	noColor = -1
	green   = 2
	blue    = 4
	cyan    = 6
)

// A colorWriter copies text and highlights parts of it. The control sequences for
// colors in the text are written as LLVM does, or left out.
type colorWriter struct {
	out    *bufio.Writer
	isOn   bool
	color  int // that the text has selected
	isBold bool
}

// copy writes text.
func (w *colorWriter) copy(text []byte) {
	for {
		at, n := 0, 0
		for n == 0 {
			i := bytes.Index(text[at:], []byte("\x1b["))
			if i < 0 {
				_, _ = w.out.Write(text)
				return
			}
			at += i + len("\x1b[")
			n = selectsColor(text[at:])
		}
		_, _ = w.out.Write(text[:at-len("\x1b[")])
		w.follow(text[at : at+n])
		text = text[at+n+len("m"):]
	}
}

// selectsColor returns the length of the number of a color at the start of text, before
// an m, and 0 without one.
func selectsColor(text []byte) int {
	i := bytes.IndexByte(text[:min(len(text), len("30m"))], 'm')
	switch {
	case i == 1 && (text[0] == '0' || text[0] == '1'), i == 2 && text[0] == '3' && text[1] >= '0' && text[1] <= '7':
		return i
	}
	return 0
}

// follow applies a control sequence with a number.
func (w *colorWriter) follow(number []byte) {
	switch {
	case len(number) > 1:
		w.color = int(number[1] - '0')
		w.choose(w.color, false)
	case number[0] == '0':
		w.reset()
	default:
		w.isBold = true
		w.control("1m")
	}
}

// highlight begins text in another color.
func (w *colorWriter) highlight() {
	color := blue
	if w.color == blue {
		color = cyan
	}
	w.choose(color, w.isBold)
}

// value writes a value in highlighted text.
func (w *colorWriter) value(s string) {
	w.choose(green, w.isBold)
	_, _ = w.out.WriteString(s)
	w.highlight()
}

// restore ends highlighted text.
func (w *colorWriter) restore() {
	if w.color != noColor {
		w.choose(w.color, w.isBold)
		return
	}
	w.control("0m")
	if w.isBold {
		w.control("1m")
	}
}

// reset resets the colors that the text has selected.
func (w *colorWriter) reset() {
	if w.color != noColor || w.isBold {
		w.color, w.isBold = noColor, false
		w.control("0m")
	}
}

func (w *colorWriter) choose(color int, isBold bool) {
	bold := ""
	if isBold {
		bold = "1;"
	}
	w.control("0;" + bold + "3" + strconv.Itoa(color) + "m")
}

// control writes a control sequence.
func (w *colorWriter) control(s string) {
	if w.isOn {
		_, _ = w.out.WriteString("\x1b[" + s)
	}
}
