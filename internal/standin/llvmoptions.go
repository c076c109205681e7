package standin

import (
	"strings"

	"symbolon/internal/companion"
)

// llvmOptions are the options of llvm-symbolizer. bench/README.md lists where the
// output differs.
type llvmOptions struct {
	file string // of all addresses; empty: each line names its file
	open companion.Options

	functions string // none, short or linkage
	style     string // LLVM, GNU or JSON
	basenames bool   // paths without folders

	inlines, demangle, pretty, addresses, verbose, relative bool

	hex     bool   // addresses are hexadecimal without 0x, too
	adjust  uint64 // subtracted from addresses
	context uint64 // lines of source

	queries []string // empty: lines of standard input
}

// newLLVMOptions returns the options of an empty command line.
func newLLVMOptions() llvmOptions {
	return llvmOptions{functions: "linkage", style: "LLVM", inlines: true, demangle: true}
}

// An llvmQuery is a line of input.
type llvmQuery struct {
	kind string // CODE, DATA or FRAME
	file string
	addr uint64
}

// parse reads a line. If the line is invalid, the file of the query is as much of a
// name as the line has.
func (o *llvmOptions) parse(line string) (q llvmQuery, ok bool) {
	q.kind = "CODE"
	for _, kind := range [...]string{"CODE", "DATA", "FRAME"} {
		if rest, ok := strings.CutPrefix(line, kind+" "); ok {
			q.kind, line = kind, rest
			break
		}
	}
	if q.file = o.file; q.file == "" {
		if q.file, line, ok = cutFile(line); !ok {
			return q, false
		}
	}
	number, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	if o.hex {
		addr, err := parseHex(number)
		q.addr = addr
		return q, err == nil
	}
	q.addr, ok = llvmNumber(number)
	return q, ok
}

// cutFile splits a line after the name of a file, which may be in quotes.
func cutFile(line string) (name, rest string, ok bool) {
	line = strings.TrimLeft(line, " ")
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		name, rest, ok = strings.Cut(line[1:], line[:1])
		if !ok {
			return line, "", false
		}
		return name, rest, true
	}
	name, rest, _ = strings.Cut(line, " ")
	return name, rest, name != ""
}
