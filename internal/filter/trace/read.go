package trace

import (
	"bytes"

	"symbolon/internal/filter"
	"symbolon/internal/filter/perf"
	"symbolon/internal/filter/rawjson"
	"symbolon/internal/ident"
)

// document is a document while it is read.
type document struct {
	run     *filter.Run
	reader  rawjson.Reader
	frames  []frame
	callers []bool         // by number: the frame is below another one
	numbers map[string]int // of the frames of a Chrome trace, by id
	modules map[string]int32
	query   filter.Query // with an address for each frame
}

// read reads the names of the frames, and which are below others.
func (d *document) read() error {
	r := &d.reader
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "shared":
			d.shared()
		case "profiles":
			for r.Enter('['); r.Next(); {
				d.profile()
			}
		case "stackFrames":
			d.stackFrames()
		default:
			r.Skip()
		}
	}
	r.End()
	return r.Err
}

// shared reads the frames of a speedscope file. Their numbers are their positions.
func (d *document) shared() {
	r := &d.reader
	for r.Enter('{'); r.Next(); {
		if string(r.Key()) != "frames" {
			r.Skip()
			continue
		}
		number := -1
		for r.Enter('['); r.Next(); {
			number++
			last, hasFile := len(d.frames), false
			for r.Enter('{'); r.Next(); {
				switch string(r.Key()) {
				case "name":
					d.name(number)
				case "file", "line", "col":
					hasFile = true
					r.Skip()
				default:
					r.Skip()
				}
			}
			if len(d.frames) > last {
				d.frames[last].needsFile = !hasFile
			}
		}
	}
}

// profile reads the stacks of a profile in a speedscope file.
func (d *document) profile() {
	r := &d.reader
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "samples":
			for r.Enter('['); r.Next(); {
				below := int64(-1)
				for r.Enter('['); r.Next(); {
					d.call(below)
					below = d.int()
				}
			}
		case "events":
			d.events()
		default:
			r.Skip()
		}
	}
}

// events reads events that open and close frames. A frame that is opened after the
// opening of another one is above it.
func (d *document) events() {
	r := &d.reader
	below := int64(-1)
	for r.Enter('['); r.Next(); {
		isOpen, frame := false, int64(-1)
		for r.Enter('{'); r.Next(); {
			switch string(r.Key()) {
			case "type":
				isOpen = string(r.Text()) == "O"
			case "frame":
				frame = d.int()
			default:
				r.Skip()
			}
		}
		if !isOpen {
			below = -1
			continue
		}
		d.call(below)
		below = frame
	}
}

// stackFrames reads the frames of a Chrome trace, each with the id of that below it.
func (d *document) stackFrames() {
	r := &d.reader
	for r.Enter('{'); r.Next(); {
		number := d.number(r.Key())
		for r.Enter('{'); r.Next(); {
			switch string(r.Key()) {
			case "name":
				d.name(number)
			case "parent": // a text or a number
				d.call(int64(d.number(bytes.Trim(r.Skip(), `"`))))
			default:
				r.Skip()
			}
		}
	}
}

func (d *document) number(id []byte) int {
	n, ok := d.numbers[string(id)]
	if !ok {
		n = len(d.numbers)
		d.numbers[string(id)] = n
	}
	return n
}

func (d *document) int() int64 {
	if n, ok := d.reader.Int(); ok {
		return n
	}
	return -1
}

// call records that a frame is below another one. No document has more frames than
// bytes.
func (d *document) call(number int64) {
	if number < 0 || number >= int64(len(d.reader.Data)) {
		return
	}
	if n := int(number) + 1 - len(d.callers); n > 0 {
		d.callers = append(d.callers, make([]bool, n)...)
	}
	d.callers[number] = true
}

// name reads the name of a frame, and adds the frame if that is a location.
func (d *document) name(number int) {
	r := &d.reader
	r.Peek()
	from := r.Pos
	text := r.Text()
	l, ok := perf.ParseLocation(text)
	if !ok {
		return
	}
	module, ok := d.module(l)
	if !ok {
		return
	}
	d.query.Addresses = append(d.query.Addresses, filter.Address{Module: module, Space: l.Space(), Addr: l.Addr})
	d.frames = append(d.frames, frame{from: from, to: r.Pos, number: number, suffix: text[l.Len:]})
}

// module returns the number of a module in the query.
func (d *document) module(l perf.Location) (number int32, ok bool) {
	number, ok = d.modules[string(l.Module)]
	if !ok {
		name := string(l.Module)
		var m ident.Module
		number = -1
		if _, ok = d.run.Known[name]; ok || l.IsModule {
			m, ok = d.run.Module(name, ident.Module{})
		}
		if ok {
			number = d.query.AddModule(m)
		}
		d.modules[name] = number
	}
	return number, number >= 0
}
