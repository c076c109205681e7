package sentry

import (
	"bytes"
	"strconv"
	"strings"

	"symbolon/internal/api/json"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// status is what became of a frame.
type status uint8

const (
	symbolicated status = iota
	missingSymbol
	unknownImage
	missing
	malformed
)

var statusNames = [...]string{"symbolicated", "missing_symbol", "unknown_image", "missing", "malformed"}

// status looks a frame up.
func (e *encoder) status(i int) (status, []sym.Frame) {
	m := e.req.Frames[i].Module
	if m < 0 {
		return unknownImage, nil
	}
	var calls []sym.Frame
	if e.known[m].Found {
		if calls, e.Err = e.Frames(i); e.Err != nil {
			return missing, nil
		}
	}
	known := &e.known[m] // which may have been lost just now
	switch {
	case !known.Found && kindOf(known.Report.Fault) == fault.Malformed:
		return malformed, nil
	case !known.Found:
		return missing, nil
	case e.frames[i].void || len(calls) == 0:
		return missingSymbol, nil
	}
	if _, ok := e.Addr(i); !ok {
		return missingSymbol, nil
	}
	return symbolicated, calls
}

// frame writes frame i of a stack trace that begins at first. It is false if
// the frame is left out.
func (e *encoder) frame(s *stack, first, i int, comma bool) bool {
	st, calls := e.status(i)
	if e.Err != nil || e.dropped(s, first, i, st) {
		return false
	}
	if comma {
		e.Raw(`,`)
	}
	e.record(e.frames[i], &e.sent)
	if st != symbolicated {
		e.echo(first, s.end, i, st)
	} else if m := e.req.Frames[i].Module; e.modules[m].kind == ident.TypeDotnet {
		e.method(first, s.end, i, &calls[0])
	} else {
		e.calls(first, s.end, i, calls)
	}
	return true
}

// dropped says whether a frame is left out: one that was only guessed and
// leads nowhere, and what lies behind the function that a program begins in.
func (e *encoder) dropped(s *stack, first, i int, st status) bool {
	switch {
	case e.frames[i].trust == trustScan && (st == missingSymbol || st == unknownImage):
		return true
	case st != unknownImage || e.index(first, s.end, i) != s.end-first-1:
		return false
	}
	inward := -1
	if e.callerFirst {
		inward = 1
	}
	for k := i + inward; k >= first && k < s.end; k += inward {
		before, calls := e.status(k)
		if e.Err != nil {
			return false
		}
		if e.frames[k].trust != trustScan || before != missingSymbol && before != unknownImage {
			return e.isStart(k, before, calls)
		}
	}
	return false
}

// isStart says whether frame k is that of the function _start.
func (e *encoder) isStart(k int, st status, calls []sym.Frame) bool {
	if st == symbolicated {
		e.txt, _ = e.AppendRaw(e.txt[:0], e.req.Frames[k].Module, calls[len(calls)-1].Func)
		return string(e.txt) == "_start"
	}
	var sent extras
	e.record(e.frames[k], &sent)
	return string(sent[fieldFunction]) == "_start"
}

// index is the number of a frame, counted from the innermost one.
func (e *encoder) index(first, end, i int) int {
	if e.callerFirst {
		return end - 1 - i
	}
	return i - first
}

// head writes the beginning of a frame, up to the name of its module, with the
// address that is shown, which is relative to a module or absolute.
func (e *encoder) head(index, i int, st status, addr, rel uint64, relative bool) {
	f := &e.frames[i]
	e.Raw(`{"status":"`)
	e.Raw(statusNames[st])
	e.Raw(`","original_index":`)
	e.Buf = strconv.AppendInt(e.Buf, int64(index), 10)
	e.field(fieldPlatform)
	if relative {
		e.Raw(`,"addr_mode":"rel:`)
		e.Buf = strconv.AppendUint(e.Buf, rel, 10)
		e.Raw(`"`)
	}
	e.Raw(`,"instruction_addr":`)
	e.hex(addr)
	if f.adjust != unset {
		e.Raw(`,"adjust_instruction_addr":`)
		e.Buf = strconv.AppendBool(e.Buf, f.adjust == yes)
	}
	e.field(fieldFunctionID)
	if m := e.req.Frames[i].Module; m >= 0 {
		e.Raw(e.label(m))
	} else {
		e.field(fieldPackage)
	}
}

// label is the member with the name of a module, as it stands in its frames;
// empty if it has no name.
func (e *encoder) label(m int32) string {
	if !e.modules[m].codeFile.there {
		return ""
	}
	if e.packages == nil {
		e.packages = make([]string, len(e.modules))
	}
	if e.packages[m] == "" {
		e.packages[m] = string(json.AppendQuoted([]byte(`,"package":`), e.modules[m].codeFile.text))
	}
	return e.packages[m]
}

// tail writes the end of a frame.
func (e *encoder) tail(i int) {
	if t := e.frames[i].trust; t != trustNone {
		e.Raw(`,"trust":"`)
		e.Raw(trusts[t])
		e.Raw(`"`)
	}
	e.Raw(`}`)
}

// field writes what was sent for a field, if it was.
func (e *encoder) field(f field) {
	content := e.sent[f]
	if content == nil {
		return
	}
	e.name(fieldNames[f])
	if f.isText() {
		e.Buf = json.AppendQuoted(e.Buf, content)
		return
	}
	e.Buf = append(e.Buf, content...)
}

// echo writes a frame of which nothing more is known than was sent. A mangled
// name in it is made readable.
func (e *encoder) echo(first, end, i int, st status) {
	f := &e.frames[i]
	e.head(e.index(first, end, i), i, st, f.addr, f.rel, f.relative)
	symbol, function := e.sent[fieldSymbol], e.sent[fieldFunction]
	if (symbol == nil) != (function == nil) {
		name := string(symbol) + string(function)
		if text, mangled := e.readable(name); mangled {
			e.sent[fieldSymbol], e.sent[fieldFunction] = []byte(name), []byte(text)
		}
	}
	for f := fieldLang; f < fieldCount; f++ {
		e.field(f)
	}
	e.tail(i)
}

// readable is a mangled name in the form for people. Names of Objective-C are
// mangled ones that look like that already.
func (e *encoder) readable(name string) (text string, mangled bool) {
	if text, mangled := e.names.readable([]byte(name), &e.work); mangled {
		return text, true
	}
	method := strings.HasPrefix(name, "-[") || strings.HasPrefix(name, "+[")
	return name, method && strings.HasSuffix(name, "]")
}

// calls writes a frame for each of the calls at the address of frame i. They
// begin in the same way.
func (e *encoder) calls(first, end, i int, calls []sym.Frame) {
	m := e.req.Frames[i].Module
	base := e.req.Bases[m]
	addr, _ := e.Addr(i)
	from := len(e.Buf)
	e.head(e.index(first, end, i), i, symbolicated, addr, uint64(m), base == 0)
	to := len(e.Buf)
	for k := range calls {
		if k > 0 {
			e.Raw(`,`)
			e.Buf = append(e.Buf, e.Buf[from:to]...)
		}
		at := k
		if e.callerFirst {
			at = len(calls) - 1 - k
		}
		call := &calls[at]
		e.lang(call)
		e.Raw(`,"symbol":"`)
		var plain bool
		e.txt, plain = e.AppendRaw(e.txt[:0], m, call.Func)
		e.put(e.txt, plain)
		if at == len(calls)-1 {
			e.Raw(`","sym_addr":`)
			e.hex(base + call.Entry)
			e.Raw(`,"function":"`)
		} else {
			e.Raw(`","function":"`)
		}
		if text, mangled := e.names.readable(e.txt, &e.work); mangled {
			e.Buf = json.AppendEscaped(e.Buf, text)
		} else {
			e.put(e.txt, plain)
		}
		e.Raw(`"`)
		e.place(m, call)
		e.tail(i)
	}
}

// method writes a .NET frame: the place of the instruction is known, and the
// rest is what was sent.
func (e *encoder) method(first, end, i int, call *sym.Frame) {
	m := e.req.Frames[i].Module
	e.head(e.index(first, end, i), i, symbolicated, e.frames[i].addr, uint64(m), true)
	e.lang(call)
	e.field(fieldSymbol)
	e.field(fieldSymAddr)
	e.field(fieldFunction)
	e.place(m, call)
	e.field(fieldInApp)
	e.field(fieldVars)
	e.tail(i)
}

func (e *encoder) lang(call *sym.Frame) {
	if name := call.Lang.String(); name != "" {
		e.Raw(`,"lang":"`)
		e.Raw(name)
		e.Raw(`"`)
	}
}

// place writes the file and the line of a call. What the module does not know
// of the file is as it was sent.
func (e *encoder) place(m int32, call *sym.Frame) {
	if call.File == 0 {
		e.field(fieldFilename)
		e.field(fieldAbsPath)
		e.lineno(call.Line)
		return
	}
	var plain bool
	e.txt, plain = e.AppendRaw(e.txt[:0], m, call.File)
	name := e.txt[bytes.LastIndexAny(e.txt, `/\`)+1:]
	e.Raw(`,"filename":"`)
	e.put(name, plain)
	e.Raw(`","abs_path":"`)
	e.put(e.txt, plain)
	e.Raw(`"`)
	e.lineno(call.Line)
	if f := e.excerpts.of(m, call.File); f != nil {
		e.excerpt(f, call.Line)
	}
}

// put appends the inside of a string, with escapes if it may need any.
func (e *encoder) put(text []byte, plain bool) {
	if plain {
		e.Buf = append(e.Buf, text...)
	} else {
		e.escape(text)
	}
}

func (e *encoder) lineno(line uint32) {
	e.Raw(`,"lineno":`)
	e.Buf = strconv.AppendUint(e.Buf, uint64(line), 10)
}
