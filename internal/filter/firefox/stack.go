package firefox

import (
	"math"
	"slices"

	"symbolon/internal/fault"
	"symbolon/internal/filter/rawjson"
)

// A stackMap has the new number of each stack in the document.
type stackMap struct {
	scope         *scope
	frame, prefix *column
	isOffset      bool // prefix counts back from the stack, zero for roots, since version 66
	last          []int32
	rows          int64 // in the new table
}

// replaceStacks returns the changes of the tables that refer to stacks, if frames
// of inlined calls were added or omitted.
func (s *scope) replaceStacks() ([]edit, error) {
	if len(s.chains) <= 1 && !slices.Contains(s.answerOf, omitted) {
		return nil, nil
	}
	r := reading{}
	m := &stackMap{scope: s, frame: r.require(s.stacks, "frame")}
	if m.prefix = r.column(s.stacks, "prefixOffset"); m.prefix != nil {
		m.isOffset = true
	} else {
		m.prefix = r.require(s.stacks, "prefix")
	}
	if r.err != nil {
		return nil, r.err
	}
	m.last = make([]int32, s.stacks.rows)
	for i := range m.last {
		parent := m.parent(int32(i))
		if parent >= int32(i) {
			return nil, fault.New(fault.Malformed, "Firefox profile", "stack %d precedes its prefix %d", i, parent)
		}
		n := m.count(int32(i))
		if m.rows += int64(n); n > 0 {
			m.last[i] = int32(m.rows - 1)
		} else {
			m.last[i] = m.newParent(parent)
		}
		if m.rows > math.MaxInt32 {
			return nil, fault.New(fault.Unsupported, "Firefox profile", "more than %d stacks with the inlined calls", math.MaxInt32)
		}
	}
	return m.edits(), nil
}

// parent returns the prefix of a stack, or -1.
func (m *stackMap) parent(i int32) int32 {
	v := m.prefix.get(i)
	if !m.isOffset {
		return int32(min(v, int64(len(m.last))))
	}
	if v <= 0 || v > int64(i) {
		return -1
	}
	return i - int32(v)
}

func (m *stackMap) newParent(parent int32) int32 {
	if parent < 0 {
		return -1
	}
	return m.last[parent]
}

// chain returns the frames that replace a frame from the outermost on, nil if it
// stays.
func (m *stackMap) chain(frame int64) []int32 {
	if frame < 0 || frame >= int64(len(m.scope.chainAt)) || m.scope.chainAt[frame] == 0 {
		return nil
	}
	at := m.scope.chainAt[frame]
	n := m.scope.chains[at]
	return m.scope.chains[at+1 : at+1+n]
}

// count returns the number of new stacks of a stack.
func (m *stackMap) count(i int32) int {
	frame := m.frame.get(i)
	if frame >= 0 && frame < int64(len(m.scope.answerOf)) && m.scope.answerOf[frame] == omitted {
		return 0
	}
	return max(1, len(m.chain(frame)))
}

func (m *stackMap) edits() []edit {
	t := m.scope.stacks
	list := []edit{t.setLength(m.rows)}
	for _, c := range t.columns {
		list = append(list, edit{c.from, func(e *rawjson.Editor) error { return m.write(e, c) }})
	}
	for _, at := range m.scope.stackLists {
		list = append(list, edit{at.from, func(e *rawjson.Editor) error { return m.writeList(e, at) }})
	}
	for _, at := range m.scope.markers {
		list = append(list, edit{at.from, func(e *rawjson.Editor) error { return m.writeMarkers(e, at) }})
	}
	return list
}

// write writes a column of the stack table. The columns of frame and prefix have
// values for each new stack, the others repeat that of the old one.
func (m *stackMap) write(e *rawjson.Editor, c *column) error {
	if err := m.scope.stacks.load(c); err != nil {
		return err
	}
	w := newList(e, c.span)
	row := int32(0)
	for i, v := range c.cells {
		prefix := m.newParent(m.parent(int32(i)))
		n := m.count(int32(i))
		frames := m.chain(m.frame.get(int32(i)))
		for j := range n {
			switch {
			case c == m.frame && len(frames) > 0:
				v = frames[j]
			case c == m.prefix && m.isOffset:
				if v = 0; prefix >= 0 {
					v = row - prefix
				}
			case c == m.prefix:
				if v = null; prefix >= 0 {
					v = prefix
				}
			}
			w.cell(c, v)
			prefix = row
			row++
		}
	}
	w.end()
	if c != m.frame && c != m.prefix {
		c.cells, c.others = nil, nil
	}
	return nil
}

// writeList writes an array of stacks.
func (m *stackMap) writeList(e *rawjson.Editor, at span) error {
	w := newList(e, at)
	r := rawjson.Reader{Data: m.scope.stacks.data, Pos: at.from}
	for r.Enter('['); r.Next(); {
		w.next()
		m.writeStack(e, &r)
	}
	w.end()
	return r.Err
}

// writeStack reads a stack and writes its new number. Other values are copied.
func (m *stackMap) writeStack(e *rawjson.Editor, r *rawjson.Reader) {
	r.Peek()
	from := r.Pos
	v, ok := r.Int()
	switch {
	case !ok || v < 0 || v >= int64(len(m.last)):
		e.Out.Write(r.Data[from:r.Pos])
	case m.last[v] < 0:
		e.Out.WriteString("null")
	default:
		writeInt(e.Out, int64(m.last[v]))
	}
}

// writeMarkers writes the data of markers with the new stacks of their causes.
func (m *stackMap) writeMarkers(e *rawjson.Editor, at span) error {
	r := rawjson.Reader{Data: m.scope.stacks.data, Pos: at.from}
	for r.Enter('['); r.Next(); {
		for r.Enter('{'); r.Next(); {
			if string(r.Key()) != "cause" {
				r.Skip()
				continue
			}
			for r.Enter('{'); r.Next(); {
				if string(r.Key()) != "stack" {
					r.Skip()
					continue
				}
				value := r
				stack := skip(&value)
				e.Replace(stack.from, stack.to)
				m.writeStack(e, &r)
			}
		}
	}
	return r.Err
}
