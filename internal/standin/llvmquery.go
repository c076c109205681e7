package standin

import (
	encoding "encoding/hex"
	"errors"
	"strings"
)

// An llvmQuery is a line of input.
type llvmQuery struct {
	kind    string // CODE, DATA or FRAME
	file    string
	buildID []byte // of the file, instead of its name
	symbol  string // instead of an address, which is then an offset
	addr    uint64

	noAddress bool
}

// address returns the printed form of the address, empty for a symbol or an invalid line.
func (q *llvmQuery) address() string {
	if q.symbol != "" || q.noAddress {
		return ""
	}
	return hex(q.addr)
}

// parse reads a line. After an error the file of the query is as much of a name as
// the line has.
func (o *llvmOptions) parse(line string) (q llvmQuery, err error) {
	q.kind = "CODE"
	for _, kind := range [...]string{"CODE", "DATA", "FRAME"} {
		if rest, ok := strings.CutPrefix(line, kind+" "); ok {
			q.kind, line = kind, rest
			break
		}
	}
	if line, err = o.parseFile(&q, line); err != nil {
		return q, err
	}
	if !o.is14 {
		line = strings.Trim(line, llvmSpace)
	}
	word, _ := cutWord(line)
	if word == "" {
		return q, errors.New("no module offset has been specified")
	}
	if addr, ok := o.number(word); ok {
		q.addr = addr
		return q, nil
	}
	if o.is14 {
		return q, errors.New("not an address")
	}
	if word[0] >= '0' && word[0] <= '9' {
		return q, errors.New("expected a number as module offset")
	}
	q.symbol = word
	if i := strings.LastIndexByte(word, '+'); i > 0 {
		if off, ok := llvmNumber(word[i+1:]); ok {
			q.symbol, q.addr = word[:i], off
		}
	}
	return q, nil
}

// number reads an address.
func (o *llvmOptions) number(word string) (uint64, bool) {
	if !o.hex {
		return llvmNumber(word)
	}
	addr, err := parseHex(word)
	return addr, err == nil
}

// parseFile reads the file of a line, if it names one, and returns the rest.
func (o *llvmOptions) parseFile(q *llvmQuery, line string) (rest string, err error) {
	q.file, q.buildID = o.file, o.buildID
	prefix := ""
	for !o.is14 {
		line = strings.TrimLeft(line, llvmSpace)
		word := "FILE:"
		after, ok := strings.CutPrefix(line, word)
		if !ok {
			word = "BUILDID:"
			after, ok = strings.CutPrefix(line, word)
		}
		if !ok {
			break
		}
		if prefix != "" {
			return "", errors.New("duplicate input file specification prefix")
		}
		prefix, line = word, after
	}
	if !o.is14 {
		line = strings.TrimLeft(line, llvmSpace)
	}
	isGiven := o.file != "" || len(o.buildID) > 0
	switch {
	case prefix == "" && isGiven:
		return line, nil
	case prefix == "FILE:" && line == "":
		return "", errors.New("must be followed by an input file")
	case prefix == "BUILDID:" && line == "":
		return "", errors.New("must be followed by a hash")
	case prefix != "" && isGiven:
		return "", errors.New("input file has already been specified")
	}
	name, rest, ok := cutFile(line)
	if !ok {
		if prefix == "" {
			return "", errors.New("no input filename has been specified")
		}
		return "", errors.New("unbalanced quotes in input file name")
	}
	if prefix == "BUILDID:" {
		q.buildID, err = parseBuildID(name)
		return rest, err
	}
	q.file = name
	return rest, nil
}

// parseBuildID reads a build id. Before an odd number of digits LLVM assumes a zero.
func parseBuildID(s string) ([]byte, error) {
	if len(s)%2 > 0 {
		s = "0" + s
	}
	id, err := encoding.DecodeString(s)
	if err != nil || len(id) == 0 {
		return nil, errors.New("wrong format of build-id")
	}
	return id, nil
}

// cutFile splits a line after the name of a file, which may be in quotes.
func cutFile(line string) (name, rest string, ok bool) {
	line = strings.TrimLeft(line, llvmDelimiters)
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		name, rest, ok = strings.Cut(line[1:], line[:1])
		if !ok {
			return "", "", false
		}
		return name, rest, true
	}
	name, rest = cutWord(line)
	return name, rest, name != ""
}

// LLVM ends a word at a delimiter. Version 19 removes all space around those of a line.
const (
	llvmDelimiters = " \n\r"
	llvmSpace      = " \t\n\v\f\r"
)

// cutWord splits a line after its first word.
func cutWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, llvmDelimiters)
	if i := strings.IndexAny(line, llvmDelimiters); i >= 0 {
		return line[:i], line[i:]
	}
	return line, ""
}
