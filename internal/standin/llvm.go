package standin

import (
	"bufio"
	"context"
	"errors"
	"strconv"

	"symbolon/internal/console"
)

// run writes the answers like llvm-symbolizer.
func (o llvmOptions) run(ctx context.Context, e *Env) int {
	t := llvmTool{llvmOptions: o, env: e, lib: library{opt: o.open}, out: bufio.NewWriter(e.Stdout)}
	defer t.lib.close()
	for _, q := range o.queries {
		t.line(q)
	}
	var err error
	switch {
	case len(o.queries) == 0:
		err = console.EachLine(ctx, e.Stdin, func(line string) error {
			t.line(line)
			for _, a := range t.ready {
				t.putJSON(a)
			}
			t.ready = t.ready[:0]
			return t.out.Flush()
		})
	case o.style == "JSON":
		t.putJSON(t.ready) // one array
	}
	if errors.Join(err, t.out.Flush()) != nil {
		return exitFailed
	}
	return exitDone
}

// line answers a line.
func (t *llvmTool) line(line string) {
	q, ok := t.parse(line)
	switch {
	case !ok && t.style == "JSON":
		t.addJSON(llvmJSON{Error: &llvmError{"unable to parse arguments: " + line}, ModuleName: &q.file})
		return
	case !ok:
		t.put(console.Printable(line), "\n")
		return
	}
	p, message := t.openFile(q.file)
	if message != "" && t.style == "JSON" {
		t.addJSON(llvmJSON{Address: hex(q.addr), Error: &llvmError{message}, ModuleName: &q.file})
		return
	}
	if message != "" {
		console.Printf(t.env.Stderr, "LLVMSymbolizer: error reading file: %s\n", message)
	}
	var frames []llvmFrame
	switch {
	case q.kind == "CODE" && p.err == nil:
		frames = t.frames(p, q.addr-t.adjust)
	case q.kind == "CODE" && t.style != "JSON", q.kind == "CODE" && message != "":
		frames = []llvmFrame{{}}
	}
	if t.style == "JSON" {
		t.jsonAnswer(&q, p, frames)
		return
	}
	if t.addresses {
		t.put(hex(q.addr), t.either(": ", "\n"))
	}
	switch q.kind {
	case "DATA":
		name, start, size, ok := t.data(p, q.addr-t.adjust)
		if !ok {
			name = "??"
		}
		t.put(name, "\n", strconv.FormatUint(start, 10), " ", strconv.FormatUint(size, 10), "\n")
	case "FRAME":
		t.put("??\n")
	default:
		t.code(frames)
	}
	if t.style == "LLVM" {
		t.put("\n")
	}
}
