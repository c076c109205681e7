package redis

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

const (
	maxAnswer   = 4 << 20 // bytes of one; the slots of a large Cluster are some hundred KB
	maxElements = 64 << 10
	maxDepth    = 8
	maxHeader   = 16 // bytes of type, number and line end
)

var errHeader = errors.New("not RESP, or larger than any answer to Symbolon")

// checked is a connection that fails at the first header beyond the limits, at
// an unexpected push, and at an answer without a command. The client library
// allocates as much as a header announces, and panics in a goroutine of its own
// when answers do not match commands. Both can end the process, so answers are
// checked before the library reads them.
type checked struct {
	net.Conn
	pushes   bool   // are allowed: Sentinels send them
	line     []byte // of the header that is being read; only the type if text follows
	rest     int    // remaining bytes of a string, with its line end
	open     []int  // remaining elements of the enclosing arrays
	size     int    // bytes of this answer
	elements int    // of this answer
	answers  int64  // so far
	sent     commands
	err      error
}

// Write counts commands before they are sent, so each answer follows its command.
func (c *checked) Write(p []byte) (int, error) {
	c.sent.add(p)
	return c.Conn.Write(p)
}

func (c *checked) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.Conn.Read(p)
	for b := p[:n]; len(b) > 0; {
		used := max(1, min(c.rest, len(b)))
		if c.size += used; c.rest == 0 {
			if err := c.header(b[0]); err != nil {
				c.err = err
			}
		} else if c.rest -= used; c.rest == 0 {
			c.end()
		}
		if c.err != nil || c.size > maxAnswer {
			c.err = fmt.Errorf("read answer at %q: %w", c.line, errHeader)
			return 0, c.err
		}
		b = b[used:]
	}
	return n, err
}

// header parses one byte of a header or of a line of text.
func (c *checked) header(b byte) error {
	if len(c.line) == 0 || strings.IndexByte("+-:,(", c.line[0]) < 0 {
		c.line = append(c.line, b)
	} else if b == '\n' {
		c.end()
		return nil
	}
	if b != '\n' && len(c.line) < maxHeader {
		return nil
	}
	kind, line := c.line[0], string(c.line)
	switch line {
	case "_\r\n", "#t\r\n", "#f\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "%0\r\n", "~0\r\n":
		c.end()
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(line[1:], "\r\n"), 10, 31)
	switch {
	case err != nil || n > maxAnswer:
		return errHeader
	case strings.IndexByte("$!=", kind) >= 0:
		c.line, c.rest = c.line[:0], int(n)+len("\r\n")
		return nil
	case kind == '%':
		n *= 2
	}
	c.elements += int(n)
	if kind == '>' && c.pushes && len(c.open) == 0 {
		c.answers-- // a push is not an answer
	} else if strings.IndexByte("*%~", kind) < 0 {
		return errHeader
	}
	if n == 0 || c.elements > maxElements || len(c.open) == maxDepth {
		return errHeader
	}
	c.line, c.open = c.line[:0], append(c.open, int(n))
	return nil
}

// end ends a value, and the arrays that it completes.
func (c *checked) end() {
	c.line = c.line[:0]
	for last := len(c.open) - 1; last >= 0; last-- {
		if c.open[last]--; c.open[last] > 0 {
			return
		}
		c.open = c.open[:last]
	}
	c.size, c.elements = 0, 0
	if c.answers++; c.answers > c.sent.number.Load() {
		c.err = errHeader
	}
}
