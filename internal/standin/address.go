package standin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An address is a number, or the token of a method and an offset in its IL, which
// are the halves of the number.
type address struct {
	value    uint64
	isMethod bool
}

func (a address) String() string {
	if a.isMethod {
		return fmt.Sprintf("0x%08x+0x%x", a.value>>32, uint32(a.value))
	}
	return hex(a.value)
}

// parseAddress reads an address, or a token and an offset: 0x06000001+0x1a.
func parseAddress(s string) (address, error) {
	token, il, isMethod := strings.Cut(s, "+")
	value, err := parseHex(token)
	if err != nil || !isMethod {
		return address{value: value}, err
	}
	off, err := parseHex(il)
	if err != nil || max(value, off) > math.MaxUint32 {
		return address{}, fmt.Errorf("invalid address %.80q: token and offset must be at most 8 hex digits each", s)
	}
	return address{value<<32 | off, true}, nil
}

// parseHex reads a hexadecimal number with or without 0x.
func parseHex(s string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid address %.80q: must be at most 16 hex digits, with or without 0x", s)
	}
	return n, nil
}

// gnuAddress reads an address like addr2line: the hexadecimal digits at the start
// of s. Without digits it is zero, and beyond 64 bits the largest address.
func gnuAddress(s string) uint64 {
	s = strings.TrimLeft(s, blanks)
	if len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	n := 0
	for n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
		n++
	}
	addr, _ := strconv.ParseUint(s[:n], 16, 64) // the largest if it is out of range
	return addr
}

const blanks = " \t\n\v\f\r"

// gnuSymbol reads a symbol and an offset (main+0x10) like addr2line. It returns
// false for an address: text that begins with a digit, or with a letter that is one
// unless an offset follows.
func gnuSymbol(s string) (name string, offset uint64, ok bool) {
	s = strings.TrimLeft(s, blanks)
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '+' {
		return "", 0, false
	}
	if letter := s[0] | 0x20; letter >= 'a' && letter <= 'f' && !strings.Contains(s, "+") {
		return "", 0, false
	}
	end := strings.IndexAny(s, blanks+"+")
	if end < 0 {
		return s, 0, true
	}
	if rest, found := strings.CutPrefix(strings.TrimLeft(s[end:], blanks), "+"); found {
		number, _, _ := strings.Cut(strings.TrimLeft(rest, blanks)+" ", " ")
		offset, _ = strconv.ParseUint(strings.TrimRight(number, blanks), 0, 64) // without a number it is zero
	}
	return s[:end], offset, true
}

// llvmNumber reads a number like LLVM: its prefix states the base.
func llvmNumber(s string) (n uint64, ok bool) {
	if strings.ContainsAny(s, "_+-") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

// hex returns the printed form of an address.
func hex(addr uint64) string { return "0x" + strconv.FormatUint(addr, 16) }
