package rows

import (
	"context"

	"symbolon/internal/api/json"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// maxModules limits the modules that are remembered. A day of crash pings has
// about 40,000.
const maxModules = 1 << 16

// lookups are the addresses of a unit of rows, which are looked up together. An
// address that several rows have is looked up, and its answer made, once.
type lookups struct {
	run    *filter.Run
	query  filter.Query
	answer filter.Answer

	modules []module
	known   map[string]int32 // of modules, by all that a row states of them
	unit    uint32           // number of the unit
	key     []byte

	index   map[address]int32
	answers []answer // of query.Addresses
	ends    []int    // of the texts in text
	text    []byte   // of answers
}

// module is a module of some rows.
type module struct {
	ident.Module
	name  string // as in the row
	label []byte // the last component of its name, in JSON
	hasID bool
	// isCounted is set once an address in a module without an identifier was counted; the
	// first one is counted with the module.
	isCounted bool

	unit  uint32 // the last unit whose query has it
	index int32  // in that query
}

// style is the form of an answer.
type style uint8

const (
	styleCall   style = iota // of crash pings: the members of an entry for each call
	styleDump                // of stack walkers, see addDump
	styleReport              // of crash reports of Apple, see addReport
)

// address is an address of a query, with all that its answer depends on.
type address struct {
	module   int32 // in modules
	style    style
	isReturn bool
	addr     uint64
}

// answer has the range of the texts of an answer.
type answer struct {
	from, to int32
	isMade   bool
}

// stated has the texts of a row about a module. The parts are valid until the next row is
// read.
type stated struct {
	kind                             ident.Type
	file, debugFile, codeID, debugID []byte
}

// reset begins a unit.
func (l *lookups) reset() {
	if l.known == nil || len(l.modules) > maxModules {
		l.known, l.modules = map[string]int32{}, l.modules[:0]
	}
	if l.index == nil {
		l.index = map[address]int32{}
	}
	clear(l.index)
	clear(l.query.Modules)
	l.unit++
	l.query.Modules, l.query.Addresses, l.query.Times = l.query.Modules[:0], l.query.Addresses[:0], l.query.Times[:0]
	l.answers, l.ends, l.text = l.answers[:0], l.ends[:0], l.text[:0]
}

// module returns the index of a module in l.modules.
func (l *lookups) module(s stated) int32 {
	key := append(l.key[:0], byte(s.kind))
	for _, part := range [...][]byte{s.file, s.debugFile, s.codeID, s.debugID} {
		key = append(append(key, part...), 0)
	}
	l.key = key
	if i, ok := l.known[string(key)]; ok {
		return i
	}
	m := module{name: string(s.file), label: json.AppendQuoted(nil, ident.FileName(s.file))}
	if len(s.file) == 0 {
		m.name, m.label = string(s.debugFile), json.AppendQuoted(nil, ident.FileName(s.debugFile))
	}
	m.Type = s.kind
	m.CodeFile, m.DebugFile = string(s.file), string(ident.FileName(s.debugFile))
	m.CodeID = ident.ParseCodeID(string(s.codeID))
	m.DebugID, _ = ident.ParseDebugID(string(s.debugID))
	m.Module, m.hasID = l.run.Module(m.name, m.Module)
	i := int32(len(l.modules))
	l.modules = append(l.modules, m)
	l.known[string(key)] = i
	return i
}

// add adds an address to the query and returns its index there, -1 if its module
// has no identifier.
func (l *lookups) add(a address) int32 {
	m := &l.modules[a.module]
	if !m.hasID {
		if m.isCounted {
			l.run.Unidentified(m.name)
		}
		m.isCounted = true
		return -1
	}
	if i, ok := l.index[a]; ok {
		l.query.Times[i]++
		return i
	}
	if m.unit != l.unit {
		m.unit, m.index = l.unit, l.query.AddModule(m.Module)
	}
	i := int32(len(l.query.Addresses))
	l.query.Addresses = append(l.query.Addresses, filter.Address{Module: m.index, IsReturn: a.isReturn, Addr: a.addr})
	l.query.Times = append(l.query.Times, 1)
	l.answers = append(l.answers, answer{})
	l.index[a] = i
	return i
}

// look looks all addresses up. Call release.
func (l *lookups) look(ctx context.Context) (err error) {
	if len(l.query.Addresses) > 0 {
		l.answer, err = l.run.Look(ctx, &l.query)
	}
	return err
}

func (l *lookups) release() {
	if l.answer != nil {
		l.answer.Release()
		l.answer = nil
	}
}

// answerTo returns the range of the texts of the answer to an address of the query.
// It is empty if nothing is known.
func (l *lookups) answerTo(i int32, a address) (from, to int32) {
	k := &l.answers[i]
	if k.isMade {
		return k.from, k.to
	}
	k.isMade, k.from = true, int32(len(l.ends))
	if calls := l.answer.Frames(int(i)); len(calls) > 0 {
		switch a.style {
		case styleCall:
			for i := range calls {
				l.addText(appendCall(l.text, l.modules[a.module].label, a.addr, &calls[i]))
			}
		case styleDump:
			l.addDump(a.addr, calls)
		case styleReport:
			l.addReport(a.addr, calls)
		}
	}
	k.to = int32(len(l.ends))
	return k.from, k.to
}

// addText adds the bytes that were appended to l.text as a text.
func (l *lookups) addText(text []byte) {
	l.text = text
	l.ends = append(l.ends, len(text))
}

// textOf returns text i.
func (l *lookups) textOf(i int32) []byte {
	from := 0
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.text[from:l.ends[i]]
}
