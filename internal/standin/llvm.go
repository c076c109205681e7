package standin

import (
	"bufio"
	"context"
	"errors"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/object"
)

// run writes the answers like llvm-symbolizer.
func (o llvmOptions) run(ctx context.Context, e *Env) int {
	o.open.Once = !o.is14
	if err := o.useDebuginfod(ctx, e); err != nil {
		console.Printf(e.Stderr, "%s: error: %s\n", o.program, console.Printable(err.Error()))
		return exitFailed
	}
	t := llvmTool{llvmOptions: o, env: e, lib: library{opt: o.open}, full: library{opt: o.open}, out: bufio.NewWriter(e.Stdout)}
	t.full.opt.Short = false
	defer t.lib.close()
	defer t.full.close()
	if o.markup {
		return t.filterMarkup(ctx)
	}
	if o.file != "" && !o.is14 {
		q := llvmQuery{file: o.file}
		if _, message := t.open(&q); message != "" {
			t.fail(&q, message)
			t.putJSONLines()
			_ = t.out.Flush() // the status is that of a failure already
			return exitFailed
		}
	}
	for _, q := range o.queries {
		t.line(q)
	}
	var err error
	switch {
	case len(o.queries) == 0:
		err = console.EachLine(ctx, e.Stdin, func(line string) error {
			t.line(strings.ReplaceAll(line, "\r", ""))
			t.putJSONLines()
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
	q, err := t.parse(line)
	switch {
	case err != nil && !t.is14:
		if line == "" { // which tests whether the tool is running
			q.file = ""
		} else {
			console.Printf(t.env.Stderr, "%s: error: '%s': %s\n", t.program, console.Printable(line), err)
		}
		t.frames(&llvmQuery{kind: "CODE", symbol: q.symbol, noAddress: true, file: q.file}, []llvmFrame{{}})
		return
	case err != nil && t.style == "JSON":
		t.addJSON(llvmJSON{Error: &llvmError{"unable to parse arguments: " + line}, ModuleName: &q.file})
		return
	case err != nil:
		t.put(console.Printable(line), "\n")
		return
	}
	p, message := t.open(&q)
	if message != "" {
		if t.fail(&q, message); t.style == "JSON" {
			return
		}
	}
	switch {
	case q.kind == "DATA":
		t.printData(&q, t.data(p, q.addr-t.adjust))
	case q.kind == "FRAME":
		t.printLocals(&q, p, t.locals(p, q.addr-t.adjust))
	case p.err != nil && t.style == "JSON":
		t.frames(&q, nil)
	case p.err != nil:
		t.frames(&q, []llvmFrame{{}})
	case q.symbol != "":
		t.symbol(&q, p)
	default:
		t.frames(&q, t.code(p, q.addr-t.adjust))
	}
}

// fail reports that the file of a query cannot be read.
func (t *llvmTool) fail(q *llvmQuery, message string) {
	switch {
	case t.style == "JSON":
		t.addJSON(llvmJSON{Address: q.address(), Error: &llvmError{message}, ModuleName: &q.file, SymName: q.symbol})
	case t.is14:
		console.Printf(t.env.Stderr, "LLVMSymbolizer: error reading file: %s\n", message)
	default:
		console.Printf(t.env.Stderr, "%s: error: '%s': %s\n", t.program, console.Printable(q.file), message)
	}
}

// symbol answers a query with a symbol: its places, of which there may be several.
func (t *llvmTool) symbol(q *llvmQuery, p *program) {
	var all []llvmFrame
	for _, x := range p.named(q.symbol, !t.tagged) {
		if q.addr < x.Size {
			x.Addr += q.addr
		}
		if f := t.outer(p, x.Addr); f.file != "" {
			all = append(all, f)
		}
	}
	switch {
	case t.style == "JSON":
		t.frames(q, all)
	case len(all) == 0:
		t.frames(q, []llvmFrame{{}})
	default:
		for i := range all {
			t.frames(q, all[i:i+1])
		}
	}
}

// locals returns the variables of the function at an address.
func (t *llvmTool) locals(p *program, addr uint64) []object.Local {
	if p.err != nil {
		return nil
	}
	if at, ok := p.relative(t.linked(p, addr)); ok {
		return p.obj.Locals(at)
	}
	return nil
}
