package text

import (
	"bytes"
	"math"
	"strconv"

	"symbolon/internal/filter"
)

// straceMark begins a line of strace --stack-trace.
var straceMark = []byte(" > ")

// parseBacktrace parses a line of glibc's backtrace_symbols or backtrace_symbols_fd:
// FILE(+0xOFFSET) [0xADDR], of Ruby FILE(0xOFFSET) [0xADDR], and FILE() [0xADDR] or
// FILE[0xADDR] for programs that are not relocated. FILE(NAME+0xOFFSET) has an offset from
// a symbol, and gets its line. Lines of strace begin with > and have an offset in the file
// as address; those of Python are Binary file "FILE", at NAME+0xOFFSET [0xADDR]. A line may
// be in quotes in a list.
func (r *record) parseBacktrace(body []byte) bool {
	if body = bytes.TrimRight(body, `",`); len(body) == 0 || body[len(body)-1] != ']' {
		return false
	}
	at := bytes.LastIndex(body, []byte("[0x"))
	if at <= 0 {
		return false
	}
	addr, n := hexadecimal(body[at+3:])
	if n == 0 || at+3+n != len(body)-1 {
		return false
	}
	file, isAbsolute := bytes.TrimSuffix(body[:at], []byte(" ")), false
	space := filter.Fixed // programs that are relocated have an offset
	if _, python, found := bytes.Cut(file, []byte(`Binary file "`)); found {
		file, python, found = bytes.Cut(python, []byte(`"`))
		if len(python) > 0 {
			plus := bytes.LastIndex(python, []byte("+0x"))
			if !bytes.HasPrefix(python, []byte(", at ")) || plus < 0 {
				return false
			}
			r.symbol = python[len(", at "):plus]
			addr, n = hexadecimal(python[plus+len("+0x"):])
			space = filter.Linked
			found = plus+len("+0x")+n == len(python)
		}
		if !found || n == 0 {
			return false
		}
	} else if short, found := bytes.CutSuffix(file, []byte("()")); found {
		file = short
	} else if offset, open, found := offsetAtEnd(file, "(0x"); found { // of Ruby, without a symbol
		if bytes.IndexAny(file[:open], " \t") >= 0 || len(file) != at-1 {
			return false
		}
		file, isAbsolute = file[:open], offset == addr && addr>>32 != 0
		if offset != addr {
			addr, space = offset, filter.Linked
		}
	} else if offset, plus, found := offsetAtEnd(file, "+0x"); found {
		open := bytes.LastIndexByte(file[:plus], '(')
		if open < 0 || bytes.IndexByte(file[open:plus], ')') >= 0 {
			return false
		}
		r.symbol, file = file[open+1:plus], file[:open]
		if bytes.HasPrefix(file, straceMark) {
			r.symbol = nil
		} else {
			addr, space = offset, filter.Linked
		}
	} else if bytes.IndexByte(file, '/') < 0 || file[len(file)-1] == ')' {
		return false
	}
	if path, found := bytes.CutPrefix(file, straceMark); found {
		file, space = path, filter.Offset
	}
	file = bytes.Trim(file, " \t\"")
	if last := file[bytes.LastIndexAny(file, " \t")+1:]; len(last) == 0 || last[len(last)-1] == ':' || bytes.Contains(last, []byte("::")) {
		return false // a name without a file
	}
	r.form, r.name, r.addr, r.space, r.isReturn, r.isAbsolute = backtrace, file, addr, space, true, isAbsolute
	r.text, r.rest, r.place = len(body), len(body), len(body)
	return true
}

// parseDarwin parses a line of backtrace_symbols of macOS or of callStackSymbols, which is
// in quotes in a list: N MODULE 0xADDR SYMBOL + OFFSET. Without a symbol, the name or the
// address of the image is there, which begins at a page.
func (r *record) parseDarwin(body []byte) bool {
	body = bytes.TrimRight(body, `",`)
	first := len(body) - len(bytes.TrimLeft(body, " \t\""))
	number, end := decimal(body, first)
	plus := bytes.LastIndex(body, []byte(" + "))
	if end == first || end-first > maxDigits || plus < end || body[end] != ' ' {
		return false
	}
	offset, err := strconv.ParseUint(string(body[plus+len(" + "):]), 10, 64)
	at := end + bytes.Index(body[end:plus], []byte(" 0x"))
	if err != nil || at < end {
		return false
	}
	addr, n := hexadecimal(body[at+len(" 0x") : plus])
	text := at + len(" 0x") + n + 1
	if n != 8 && n != 16 || text >= plus || body[text-1] != ' ' {
		return false
	}
	module, symbol := bytes.Trim(body[end:at], " "), body[text:plus]
	if len(module) == 0 || string(module) == "???" || bytes.Contains(symbol, []byte(" (")) {
		return false
	}
	if (addr-offset)&0xfff != 0 || !bytes.Equal(symbol, module) && !bytes.HasPrefix(symbol, []byte("0x")) {
		r.symbol = symbol
	}
	r.form, r.name, r.addr, r.space, r.isReturn = darwin, module, offset, filter.Relative, true
	r.number, r.digits, r.end = number, first, end
	r.text, r.rest, r.place = text, len(body), text
	return true
}

// parseDotnet parses a frame of .NET with the offset of the call in the intermediate
// language (Switch.System.Diagnostics.StackTrace.ShowILOffsets): at NAME(…) in
// ASSEMBLY:token 0xTOKEN+0xOFFSET.
func (r *record) parseDotnet(body []byte) bool {
	at := bytes.Index(body, []byte(":token 0x"))
	in := bytes.LastIndex(body[:max(at, 0)], []byte(" in "))
	if in < 0 {
		return false
	}
	token, n := hexadecimal(body[at+len(":token 0x"):])
	rest, ok := bytes.CutPrefix(body[at+len(":token 0x")+n:], []byte("+0x"))
	offset, digits := hexadecimal(rest)
	if !ok || n == 0 || digits == 0 || digits < len(rest) || max(token, offset) > math.MaxUint32 {
		return false
	}
	r.form, r.name, r.addr = dotnet, body[in+len(" in "):at], token<<32|offset
	r.text, r.rest = in+len(" in "), len(body)
	return len(r.name) > 0
}

// parseJava parses a native frame of an error log of Java: C  [LIBRARY+0xOFFSET]  NAME.
// The frame that failed is on a line of its own after a number sign. Others are those
// after calls, but for the first of a stack.
func (r *record) parseJava(body []byte) bool {
	text := bytes.TrimPrefix(body, []byte("# "))
	if len(text) < 5 || text[1] != ' ' || bytes.IndexByte([]byte("CVv"), text[0]) < 0 {
		return false
	}
	text = bytes.TrimLeft(text[1:], " ")
	open := len(body) - len(text)
	end := bytes.IndexByte(text, ']')
	if text[0] != '[' || end < 0 {
		return false
	}
	plus := bytes.LastIndex(text[:end], []byte("+0x"))
	if plus <= 1 {
		return false
	}
	addr, n := hexadecimal(text[plus+3:])
	if n == 0 || plus+3+n != end {
		return false
	}
	r.form, r.name, r.addr, r.space, r.isNamed = java, text[1:plus], addr, filter.Relative, end+1 < len(text)
	r.text, r.rest, r.place = open+end+1, len(body), len(body)
	return true
}

// parseMozilla parses a frame of Firefox (MozFormatCodeAddress): #NN: NAME[FILE
// +0xOFFSET]. The name is ??? or that of an exported function before the address, so a
// better one replaces it. A line with two frames is copied.
func (r *record) parseMozilla(body []byte) bool {
	const separator = " +0x"
	plus := bytes.LastIndex(body, []byte(separator))
	open := bytes.LastIndexByte(body[:max(plus, 0)], '[')
	if open < 0 || open+1 == plus || bytes.Contains(body[:open], []byte(separator)) {
		return false
	}
	addr, n := hexadecimal(body[plus+len(separator):])
	end := plus + len(separator) + n
	if n == 0 || end == len(body) || body[end] != ']' {
		return false
	}
	for before := body[:open]; ; before = body[:r.digits-1] {
		mark := bytes.LastIndexByte(before, '#')
		if mark < 0 {
			*r = record{}
			return false
		}
		r.digits = mark + 1
		r.number, r.end = decimal(body, r.digits)
		if r.end > r.digits && r.end-r.digits <= maxDigits && bytes.HasPrefix(body[r.end:open], []byte(": ")) {
			break
		}
	}
	r.form, r.name, r.addr, r.space = mozilla, body[open+1:plus], addr, filter.Relative
	r.text, r.rest = r.end+len(": "), end+1
	r.place = r.rest
	return true
}

// parseRust parses a frame of a Rust program without names: N: 0xADDR - <unknown>.
func (r *record) parseRust(body []byte) bool {
	text, found := bytes.CutSuffix(body, []byte(" - <unknown>"))
	if !found {
		return false
	}
	at := bytes.LastIndex(text, []byte(" 0x"))
	if at < 0 {
		return false
	}
	addr, n := hexadecimal(text[at+3:])
	index := bytes.TrimRight(text[:at], " ")
	if n == 0 || at+3+n != len(text) || len(index) < 2 || index[len(index)-1] != ':' {
		return false
	}
	if c := index[len(index)-2]; c < '0' || c > '9' {
		return false
	}
	r.form, r.addr, r.isReturn, r.isAbsolute = rust, addr, true, true
	r.text, r.rest = len(body)-len("<unknown>"), len(body)
	r.place = max(0, len(index)-len("   0:")) // the column of the index
	return true
}
