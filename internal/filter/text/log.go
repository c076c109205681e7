package text

import (
	"bufio"
	"bytes"
	"context"
	"slices"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// log is the state of a log that is rewritten in chunks.
type log struct {
	run *filter.Run
	out *bufio.Writer

	query   filter.Query
	modules map[string]int32 // by name and build id, in the query
	line    record
	records []record
	ids     identities
	fixed   fixed
	memory  memory
	release []byte // of the kernel
	kernel  []byte // the build id of the kernel
	key     []byte
	buf     []byte

	// The frames of the current trace: the number of the last one in the input, and
	// how many inlined calls were added before it.
	last, added int
	isNative    bool   // the line before is a native frame of Java
	above       []byte // the file in the line before, if that is a frame of eu-stack

	// The caller of a signal handler has the address of an instruction.
	mayTrap       bool // the frame before may be the return from a signal handler
	isAfterSignal bool // the frame before is that
	isTrap        bool // the line before has its name
}

// rewrite writes a chunk of whole lines with names.
func (l *log) rewrite(ctx context.Context, chunk []byte) error {
	l.records = l.records[:0]
	l.query = filter.Query{Modules: l.query.Modules[:0], Addresses: l.query.Addresses[:0], Times: l.query.Times[:0], Symbols: l.query.Symbols[:0]}
	clear(l.modules)
	for from := 0; from < len(chunk); {
		to := len(chunk)
		if end := bytes.IndexByte(chunk[from:], '\n'); end >= 0 {
			to = from + end + 1
		}
		l.add(chunk[from:to], from)
		from = to
	}
	var answer filter.Answer
	if len(l.query.Addresses) > 0 {
		var err error
		if answer, err = l.run.Look(ctx, &l.query); err != nil {
			return err
		}
		defer answer.Release()
	}
	done := 0
	for i := range l.records {
		r := &l.records[i]
		var frames []filter.Frame
		if r.index >= 0 {
			frames = l.frames(answer, r)
		} else {
			l.isAfterSignal = false
		}
		if n := len(frames); n > 0 && (len(r.symbol) > 0 || r.form == dotnet) &&
			(len(frames[0].File) == 0 || r.form == darwin && len(frames[n-1].File) == 0) {
			frames = nil // the line has the name
		}
		line := chunk[r.from:r.to]
		number := l.number(r)
		if len(frames) == 0 && number == r.number {
			continue
		}
		l.buf = appendLines(append(l.buf[:0], chunk[done:r.from]...), line, r, number, frames)
		if _, err := l.out.Write(l.buf); err != nil {
			return err
		}
		if r.hasNumber() && len(frames) > 1 {
			l.added += len(frames) - 1
		}
		done = r.to
	}
	if _, err := l.out.Write(chunk[done:]); err != nil {
		return err
	}
	return ctx.Err()
}

// add adds a line at a position of the chunk to those with names or numbers, or
// remembers the modules in it.
func (l *log) add(line []byte, at int) {
	r := &l.line
	isAfterTrap := l.isTrap
	l.isTrap = bytes.Contains(line, rtName) && (bytes.Contains(line, restoreName) || bytes.Contains(line, sigreturnName))
	if l.memory.add(line) || !r.parse(line) {
		l.isNative, l.mayTrap, l.above = false, false, l.above[:0]
		l.addKernel(line)
		l.fixed.access(line)
		return
	}
	switch r.form {
	case identity:
		l.ids.add(r.name, r.id)
	case process:
		clear(l.ids)
	default:
		l.fixed.note(r)
		r.isReturn = (r.isReturn || r.form == java && l.isNative) && !isAfterTrap
		r.from, r.to = at, at+len(line)
		r.exact = -1
		r.index = l.ask(r)
		l.records = append(l.records, *r)
		if l.above = l.above[:0]; r.form == numbered {
			l.above = append(l.above, r.name...)
		}
	}
	l.isNative = r.form == java
}

// ask adds the address of a record to the query. It returns -1 if the record has
// none that can be looked up.
func (l *log) ask(r *record) int {
	wasTrap := l.mayTrap
	l.mayTrap = false
	if r.isAbsolute {
		var ok bool
		if r.name, r.addr, ok = l.memory.find(r.addr); !ok {
			return -1
		}
		r.space = filter.Offset
	}
	if !r.isAddress() || r.isNamed && !l.run.Force {
		return -1
	}
	m, ok := l.module(r)
	if !ok {
		return -1
	}
	if len(r.symbol) > 0 {
		r.space = filter.Named
	}
	if r.space == filter.Named || r.space == filter.Mapped {
		l.query.Symbols = append(l.query.Symbols, filter.Symbol{Name: string(r.symbol), Offset: r.addr, Size: r.size})
		r.addr = uint64(len(l.query.Symbols) - 1)
	}
	a := filter.Address{Module: m, Space: r.space, IsReturn: r.isReturn, Addr: r.addr}
	l.query.Addresses, l.query.Times = append(l.query.Addresses, a), append(l.query.Times, 1)
	index := len(l.query.Addresses) - 1
	l.mayTrap = r.isReturn && r.addr%trapAlign == 0 &&
		(r.space == filter.Linked || r.space == filter.Fixed || r.space == filter.Offset)
	if r.isReturn && (wasTrap || l.mayTrap) {
		r.exact, a.IsReturn = index+1, false
		l.query.Addresses, l.query.Times = append(l.query.Addresses, a), append(l.query.Times, 0)
	}
	return index
}

// The names of the function that returns from a signal handler, and what they share.
var (
	restoreName   = []byte("__restore_rt")
	sigreturnName = []byte("__kernel_rt_sigreturn")
	rtName        = []byte("_rt")
)

// trapAlign is the alignment of the function that returns from a signal handler, in
// glibc for x86-64. On others it is in the vDSO, with its name in the stack.
const trapAlign = 16

// frames returns the frames of a record: those before its address, or if the frame before
// it returns from a signal handler, those at the address. That frame itself has the
// address of its first instruction.
func (l *log) frames(answer filter.Answer, r *record) []filter.Frame {
	wasAfterSignal := l.isAfterSignal
	l.isAfterSignal = false
	if r.exact >= 0 {
		frames := answer.Frames(r.exact)
		if n := len(frames); n > 0 {
			name := frames[n-1].Function
			l.isAfterSignal = bytes.Equal(name, restoreName) || bytes.Equal(name, sigreturnName)
		}
		if wasAfterSignal || l.isAfterSignal {
			return frames
		}
	}
	return answer.Frames(r.index)
}

func (l *log) module(r *record) (int32, bool) {
	switch r.form {
	case coredump, dart:
		r.id = l.ids[string(r.name)]
	case elfutils:
		if r.name = l.above; len(r.name) == 0 {
			r.name = r.id
		}
	case backtrace:
		r.name = l.program(r.name)
	case kernel:
		if len(r.name) == 0 {
			r.name, r.id = []byte("vmlinux"), l.kernel
		}
		if len(l.release) > 0 {
			r.name = slices.Concat([]byte("/lib/modules/"), l.release, []byte("/"), r.name)
		}
	}
	l.key = append(append(append(l.key[:0], r.name...), 0), r.id...)
	if m, ok := l.modules[string(l.key)]; ok {
		return m, true
	}
	m, ok := l.run.Module(string(r.name), ident.Module{CodeID: ident.ParseCodeID(string(r.id))})
	if !ok {
		return 0, false
	}
	i := l.query.AddModule(m)
	l.modules[string(l.key)] = i
	return i, true
}

// program returns the path or name of a program in the text before an address. Other
// words may follow, as glibc prints the title of the process, such as /bin/redis *:6379, and
// the texts of another log may precede it. A path may have blanks.
func (l *log) program(text []byte) []byte {
	last := text[bytes.LastIndexAny(text, " \t\"")+1:]
	isPath := text[0] == '/' || text[0] == '.'
	if bytes.IndexByte(last, '/') < 0 {
		for word := range bytes.FieldsSeq(text) {
			word = bytes.TrimSuffix(word, []byte(":"))
			if _, ok := l.run.Known[ident.FileName(string(word))]; ok {
				return word
			}
		}
		if isPath && bytes.IndexByte(text, ':') > 0 { // a title
			return bytes.TrimSuffix(bytes.Fields(text)[0], []byte(":"))
		}
	}
	if isPath {
		return text
	}
	return last
}

// number returns the number of a frame after the inlined calls before it. Only
// consecutive numbers belong to one trace.
func (l *log) number(r *record) int {
	if !r.hasNumber() {
		return r.number
	}
	if r.number != l.last+1 {
		l.added = 0
	}
	l.last = r.number
	return r.number + l.added
}
