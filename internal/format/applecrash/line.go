package applecrash

import (
	"strconv"
	"strings"

	"symbolon/internal/ident"
)

// number parses a hexadecimal number with the prefix 0x.
func number(text string) (Address, bool) {
	digits, ok := strings.CutPrefix(text, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	return Address(n), ok && err == nil
}

// word returns the first word of a text, and the rest without the white space
// between them.
func word(text string) (first, rest string) {
	i := strings.IndexAny(text, " \t")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimLeft(text[i:], " \t")
}

// ParseFrame parses "0   Module Name   0x100001a2b symbol + 43", and returns the
// position of the symbol.
func ParseFrame(line string) (f Frame, symbolAt int, ok bool) {
	index, rest := word(strings.TrimLeft(line, " \t"))
	if _, err := strconv.ParseUint(index, 10, 32); err != nil {
		return f, 0, false
	}
	for i := 0; ; i++ { // the module ends at the first address
		next := strings.Index(rest[i:], "0x")
		if next < 0 {
			return f, 0, false
		}
		i += next
		if i > 0 && rest[i-1] != ' ' && rest[i-1] != '\t' {
			continue
		}
		text, symbol := word(rest[i:])
		if f.Addr, ok = number(text); ok {
			f.Module = strings.TrimRight(rest[:i], " \t")
			if f.Module == "???" {
				f.Module = ""
			}
			f.setSymbol(symbol)
			return f, len(line) - len(symbol), true
		}
	}
}

// setSymbol sets the symbol of a frame from "name (in Module) + 12 (file.c:7)", where
// everything but the name is optional. Without a symbol, the name is the base of the
// image.
func (f *Frame) setSymbol(text string) {
	text, f.Inline = strings.CutSuffix(text, " [inlined]")
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		place := text[i+2 : len(text)-1]
		colon := max(strings.LastIndexByte(place, ':'), 0)
		if line, err := strconv.ParseUint(place[min(colon+1, len(place)):], 10, 32); err == nil && colon > 0 {
			f.File, f.Line, text = place[:colon], uint32(line), text[:i]
		}
	}
	if i := strings.LastIndex(text, " + "); i >= 0 {
		if _, err := strconv.ParseUint(text[i+3:], 10, 64); err == nil {
			text = text[:i]
		}
	}
	text = strings.TrimSuffix(text, " (in "+f.Module+")")
	if _, ok := number(text); !ok {
		f.Symbol = text
	}
}

// addresses parses "(0x18bd0 0x18be4 …)", an exception without symbols.
func addresses(line string) (frames []Frame) {
	list, ok := strings.CutPrefix(line, "(")
	if !ok {
		return nil
	}
	for text := range strings.FieldsSeq(strings.TrimSuffix(list, ")")) {
		if addr, ok := number(text); ok {
			frames = append(frames, Frame{Addr: addr})
		}
	}
	return frames
}

// longestUUID is the number of characters of a UUID between brackets, with hyphens.
const longestUUID = 36

// identifier returns the position of "<UUID>" in a line, or else that of the first "<",
// whose text ends early or is not a UUID; -1: there is none. Names and versions may have
// brackets too.
func identifier(line string) int {
	for at := range len(line) {
		if line[at] != '<' {
			continue
		}
		text, _, closed := strings.Cut(line[at+1:min(at+2+longestUUID, len(line))], ">")
		if !closed {
			continue
		}
		if _, ok := ident.ParseUUID(text); ok {
			return at
		}
	}
	return strings.IndexByte(line, '<')
}

// ParseImage parses "0x1000 - 0x1fff +Name arch (version) <UUID> /path".
func ParseImage(line string) (i Image, ok bool) {
	start, rest := word(strings.TrimLeft(line, " \t"))
	dash, rest := word(rest)
	last, rest := word(rest)
	end, hasEnd := number(last)
	if i.Addr, ok = number(start); !ok || dash != "-" || !hasEnd || end < i.Addr {
		return i, false
	}
	i.Size = uint64(end - i.Addr)
	if at := identifier(rest); at >= 0 {
		i.UUID, i.Path, _ = strings.Cut(rest[at+1:], ">")
		rest = rest[:at]
	} else if slash := strings.Index(rest, " /"); slash >= 0 {
		rest, i.Path = rest[:slash], rest[slash:]
	}
	i.Path = strings.Trim(i.Path, " \t")
	i.Name = strings.TrimPrefix(strings.TrimRight(rest, " \t"), "+")
	if open := strings.LastIndex(i.Name, " ("); open >= 0 && strings.HasSuffix(i.Name, ")") {
		i.Version = i.Name[open+2 : len(i.Name)-1]
		i.Name = strings.TrimRight(i.Name[:open], " \t")
	}
	if space := strings.LastIndexByte(i.Name, ' '); space >= 0 && ident.ParseArch(i.Name[space+1:]) != ident.ArchUnknown {
		i.Arch = i.Name[space+1:]
		i.Name = strings.TrimRight(i.Name[:space], " \t")
	}
	return i, true
}
