package redis

import (
	"strconv"
	"strings"
	"sync/atomic"
)

// commands counts the commands that are sent, which the client library writes as
// arrays of strings.
type commands struct {
	number atomic.Int64
	line   []byte // of the header that is being written
	rest   int    // remaining bytes of a string, with its line end
	words  int    // remaining strings of a command
}

// add counts the commands that end in b, the next bytes of the stream.
func (c *commands) add(b []byte) {
	for len(b) > 0 {
		used := max(1, min(c.rest, len(b)))
		if c.rest == 0 {
			c.header(b[0])
		} else if c.rest -= used; c.rest == 0 {
			if c.words--; c.words == 0 {
				c.number.Add(1)
			}
		}
		b = b[used:]
	}
}

// header parses one byte of a header.
func (c *commands) header(b byte) {
	if c.line = append(c.line, b); b != '\n' {
		return
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(string(c.line[1:]), "\r\n")) // ours is always a number
	if c.line[0] == '*' {
		c.words = n
	} else {
		c.rest = n + len("\r\n")
	}
	c.line = c.line[:0]
}
