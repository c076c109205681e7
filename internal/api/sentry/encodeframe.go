package sentry

import (
	"strconv"
	"strings"

	"symbolon/internal/api/json"
	"symbolon/internal/api/wire"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// stack writes a stack trace whose frames begin at first.
func (e *encoder) stack(s *wire.Stack, first int) {
	e.first, e.end = first, s.End
	e.Open('{')
	if s.HasID {
		e.Key("thread_id").Uint(s.ThreadID)
	}
	if s.ThreadName.OK {
		e.Key("thread_name").String(s.ThreadName.Text)
	}
	if s.Requesting != wire.Unset {
		e.Key("is_requesting").Bool(s.Requesting == wire.Yes)
	}
	if len(s.Registers) > 0 {
		e.Key("registers").Open('{')
		for _, r := range s.Registers {
			e.OpenString()
			e.Buf = json.AppendEscaped(e.Buf, r.Name)
			e.CloseKey()
			e.Hex(r.Value)
		}
		e.Close('}')
	}
	e.Key("frames").Open('[')
	for i := first; i < s.End && e.Spill(); i++ {
		e.frame(i)
	}
	e.Close(']')
	e.Close('}')
}

// status is the status of a frame.
type status uint8

const (
	symbolicated status = iota
	missingSymbol
	unknownImage
	missing
	malformed
)

var statusNames = [...]string{"symbolicated", "missing_symbol", "unknown_image", "missing", "malformed"}

// status looks up a frame.
func (e *encoder) status(i int) (status, []sym.Frame) {
	m := e.req.Frames[i].Module
	if m < 0 {
		return unknownImage, nil
	}
	var calls []sym.Frame
	if e.known[m].Found {
		if calls, e.Err = e.res.Frames(i); e.Err != nil {
			return missing, nil
		}
	}
	known := &e.known[m] // Frames may have dropped the module
	switch {
	case !known.Found && kindOf(known.Report.Fault) == fault.Malformed:
		return malformed, nil
	case !known.Found:
		return missing, nil
	case e.Frames[i].Void || len(calls) == 0:
		return missingSymbol, nil
	}
	if _, ok := e.res.Addr(i); !ok {
		return missingSymbol, nil
	}
	return symbolicated, calls
}

// frame writes frame i, unless it is omitted.
func (e *encoder) frame(i int) {
	st, calls := e.status(i)
	if e.Err != nil || e.isOmitted(i, st) {
		return
	}
	e.Record(e.Frames[i], &e.sent)
	if st != symbolicated {
		e.echo(i, st)
	} else if m := e.req.Frames[i].Module; e.Modules[m].Kind == ident.TypeDotnet {
		e.method(i, &calls[0])
	} else {
		e.calls(i, calls)
	}
}

// isOmitted reports whether the answer omits a frame: a scanned one without a
// symbol, or one without a module below _start, the outermost function.
func (e *encoder) isOmitted(i int, st status) bool {
	switch {
	case e.Frames[i].Trust == wire.TrustScan && (st == missingSymbol || st == unknownImage):
		return true
	case st != unknownImage || e.index(i) != e.end-e.first-1:
		return false
	}
	inward := -1
	if e.CallerFirst {
		inward = 1
	}
	for k := i + inward; k >= e.first && k < e.end; k += inward {
		inner, calls := e.status(k)
		if e.Err != nil {
			return false
		}
		if e.Frames[k].Trust != wire.TrustScan || inner != missingSymbol && inner != unknownImage {
			return e.isStart(k, inner, calls)
		}
	}
	return false
}

// isStart reports whether the function of frame k is _start.
func (e *encoder) isStart(k int, st status, calls []sym.Frame) bool {
	if st == symbolicated {
		e.txt, _ = e.res.AppendRaw(e.txt[:0], e.req.Frames[k].Module, calls[len(calls)-1].Func)
		return string(e.txt) == "_start"
	}
	var sent wire.Extras
	e.Record(e.Frames[k], &sent)
	return string(sent[wire.FieldFunction]) == "_start"
}

// index returns the number of a frame of the stack trace, counted from the
// innermost one.
func (e *encoder) index(i int) int {
	if e.CallerFirst {
		return e.end - 1 - i
	}
	return i - e.first
}

// address is the address of a frame in the answer: absolute, or relative to the
// module with an index.
type address struct {
	addr, rel uint64
	relative  bool
}

// begin writes the members of a frame up to the name of its module.
func (e *encoder) begin(i int, st status, at address) {
	f := &e.Frames[i]
	e.Open('{')
	e.Key("status").String(statusNames[st])
	e.Key("original_index").Int(e.index(i))
	e.field(wire.FieldPlatform)
	if at.relative {
		e.Key("addr_mode")
		e.OpenString()
		e.Buf = strconv.AppendUint(append(e.Buf, "rel:"...), at.rel, 10)
		e.CloseString()
	}
	e.Key("instruction_addr").Hex(at.addr)
	if f.Adjust != wire.Unset {
		e.Key("adjust_instruction_addr").Bool(f.Adjust == wire.Yes)
	}
	e.field(wire.FieldFunctionID)
	m := e.req.Frames[i].Module
	if m < 0 {
		e.field(wire.FieldPackage)
	} else if e.Modules[m].CodeFile.OK {
		e.Key("package").Raw(e.label(m))
	}
}

// label returns the name of a module as a JSON string.
func (e *encoder) label(m int32) string {
	if e.packages == nil {
		e.packages = make([]string, len(e.Modules))
	}
	if e.packages[m] == "" {
		e.packages[m] = string(json.AppendQuoted(nil, e.Modules[m].CodeFile.Text))
	}
	return e.packages[m]
}

// finish writes the last members of a frame.
func (e *encoder) finish(i int) {
	if t := e.Frames[i].Trust; t != wire.TrustNone {
		e.Key("trust").String(wire.Trusts[t])
	}
	e.Close('}')
}

// field repeats a field of the request, if the frame has it.
func (e *encoder) field(f wire.Field) {
	content := e.sent[f]
	if content == nil {
		return
	}
	e.Key(wire.FieldNames[f])
	if f.IsText() {
		e.Bytes(content)
	} else {
		e.RawBytes(content)
	}
}

// echo writes a frame without a symbol: the fields of the request, with a mangled
// name demangled.
func (e *encoder) echo(i int, st status) {
	f := &e.Frames[i]
	e.begin(i, st, address{f.Addr, f.Rel, f.Relative})
	symbol, function := e.sent[wire.FieldSymbol], e.sent[wire.FieldFunction]
	if (symbol == nil) != (function == nil) {
		name := string(symbol) + string(function)
		if text, mangled := e.readable(name); mangled {
			e.sent[wire.FieldSymbol], e.sent[wire.FieldFunction] = []byte(name), []byte(text)
		}
	}
	for f := wire.FieldLang; f < wire.FieldCount; f++ {
		e.field(f)
	}
	e.finish(i)
}

// readable demangles a name. Names of Objective-C count as mangled, though they
// are readable.
func (e *encoder) readable(name string) (text string, mangled bool) {
	if text, mangled := e.names.readable([]byte(name), &e.work); mangled {
		return text, true
	}
	method := strings.HasPrefix(name, "-[") || strings.HasPrefix(name, "+[")
	return name, method && strings.HasSuffix(name, "]")
}

// calls writes a frame for each call at the address of frame i. Their first
// members are the same.
func (e *encoder) calls(i int, calls []sym.Frame) {
	m := e.req.Frames[i].Module
	base := e.req.Bases[m]
	addr, _ := e.res.Addr(i)
	from := len(e.Buf)
	e.begin(i, symbolicated, address{addr, uint64(m), base == 0})
	head := from
	if e.Buf[from] == ',' {
		head++
	}
	to := len(e.Buf)
	for k := range calls {
		if k > 0 {
			e.Buf = append(e.Buf, ',')
			e.Buf = append(e.Buf, e.Buf[head:to]...)
		}
		at := k
		if e.CallerFirst {
			at = len(calls) - 1 - k
		}
		call := &calls[at]
		e.lang(call)
		var plain bool
		e.txt, plain = e.res.AppendRaw(e.txt[:0], m, call.Func)
		e.Key("symbol")
		e.text(e.txt, plain)
		if at == len(calls)-1 {
			e.Key("sym_addr").Hex(base + call.Entry)
		}
		e.Key("function")
		if text, mangled := e.names.readable(e.txt, &e.work); mangled {
			e.String(text)
		} else {
			e.text(e.txt, plain)
		}
		e.place(m, call)
		e.finish(i)
	}
}

// method writes a .NET frame: the line of the instruction is known, and the other
// members are those of the request.
func (e *encoder) method(i int, call *sym.Frame) {
	m := e.req.Frames[i].Module
	e.begin(i, symbolicated, address{e.Frames[i].Addr, uint64(m), true})
	e.lang(call)
	e.field(wire.FieldSymbol)
	e.field(wire.FieldSymAddr)
	e.field(wire.FieldFunction)
	e.place(m, call)
	e.field(wire.FieldInApp)
	e.field(wire.FieldVars)
	e.finish(i)
}

func (e *encoder) lang(call *sym.Frame) {
	if name := call.Lang.String(); name != "" {
		e.Key("lang").String(name)
	}
}

// place writes the file and the line of a call. If the module does not have the
// file, those of the request are repeated.
func (e *encoder) place(m int32, call *sym.Frame) {
	if call.File == 0 {
		e.field(wire.FieldFilename)
		e.field(wire.FieldAbsPath)
		e.lineno(call.Line)
		return
	}
	var plain bool
	e.txt, plain = e.res.AppendFile(e.txt[:0], m, call.File)
	e.Key("filename")
	e.text(ident.FileName(e.txt), plain)
	e.Key("abs_path")
	e.text(e.txt, plain)
	e.lineno(call.Line)
	if f := e.excerpts.find(m, call.File); f != nil {
		e.excerpt(f, call.Line)
	}
}

// text writes a string, which is plain if it needs no escapes.
func (e *encoder) text(text []byte, plain bool) {
	if !plain {
		e.Bytes(text)
		return
	}
	e.OpenString()
	e.Buf = append(e.Buf, text...)
	e.CloseString()
}

func (e *encoder) lineno(line uint32) {
	e.Key("lineno").Uint(uint64(line))
}
