package rows

import (
	"bytes"
	"context"
	"io"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// IsReport reports whether a file that begins with head is a crash report of Apple
// in JSON: a line with its header, which has the type of the report.
func IsReport(head []byte) bool {
	header, _, ok := bytes.Cut(head, []byte("\n"))
	var r reader
	r.json.Reset(header)
	hasType := false
	for r.json.Enter('{'); r.json.Next(); r.json.Skip() {
		hasType = string(r.json.Key()) == "bug_type" || hasType
	}
	r.json.End()
	return ok && hasType && r.json.Err == nil
}

// RewriteReport writes a crash report of Apple with names. Calls that were inlined
// become frames before the one that they were inlined into, as Apple's tools write
// them.
func RewriteReport(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	body := data[bytes.IndexByte(data, '\n')+1:]
	var r reader
	r.run = run
	r.reset()
	r.json.Reset(body)
	list := r.readReport()
	if err := r.look(ctx); err != nil {
		return err
	}
	defer r.release()
	_, err := out.Write(r.appendFrames(append([]byte(nil), data[:len(data)-len(body)]...), body, list))
	return err
}

// readReport reads a report. Its images may be after the threads. One that is not
// JSON has no frames.
func (r *reader) readReport() frames {
	for r.json.Enter('{'); r.json.Next(); {
		switch string(r.json.Key()) {
		case "usedImages":
			r.listImages()
		case "threads":
			for r.json.Enter('['); r.json.Next(); {
				for r.json.Enter('{'); r.json.Next(); {
					if string(r.json.Key()) == "frames" {
						r.readReportStack(1)
					} else {
						r.json.Skip()
					}
				}
			}
		case "lastExceptionBacktrace":
			r.readReportStack(0)
		default:
			r.json.Skip()
		}
	}
	if r.json.End(); r.json.Err != nil {
		return frames{}
	}
	for i := range r.images {
		r.readReportImage(&r.images[i])
	}
	for i := range r.frames {
		f := &r.frames[i]
		if int(f.image) < len(r.images) {
			f.addr.module = r.images[f.image].module
			f.lookup = r.add(f.addr)
		}
	}
	return frames{0, len(r.frames)}
}

// readReportStack reads the frames of a stack. All but the first exact ones have
// return addresses.
func (r *reader) readReportStack(exact int) {
	n, isExpanded := 0, false // the calls inlined into the next frame are there
	for r.json.Enter('['); r.json.Next(); {
		r.json.Peek()
		f := frame{addr: address{style: styleReport, isReturn: n >= exact}, lookup: -1, image: -1, at: value{from: r.json.Pos}}
		isNamed, isInline := false, false
		for r.json.Enter('{'); r.json.Next(); {
			switch string(r.json.Key()) {
			case "imageIndex":
				if i, ok := r.json.Int(); ok && i >= 0 && i < 1<<31 {
					f.image = int32(i)
				}
			case "imageOffset":
				f.addr.addr, f.hasAddr = r.number()
			case "symbol":
				name := r.json.Text()
				isNamed = len(name) > 0 && string(name) != "_mh_execute_header" // the symbol of stripped programs
			case "inline":
				isInline = string(r.json.Skip()) == "true"
			default:
				r.json.Skip()
			}
		}
		if f.at.to = r.json.Pos; f.hasAddr && f.image >= 0 && !isInline && (!isNamed || r.run.Force && !isExpanded) {
			r.frames = append(r.frames, f)
		}
		if isExpanded = isInline; !isInline {
			n++
		}
	}
}

func (r *reader) readReportImage(m *image) {
	s := stated{kind: ident.TypeMachO}
	for ok := r.enter(m.at, '{'); ok && r.json.Next(); {
		switch string(r.json.Key()) {
		case "uuid":
			s.debugID = r.json.Text()
			s.codeID = s.debugID
		case "name":
			s.debugFile = r.json.Text()
		case "path":
			s.file = r.json.Text()
		default:
			r.json.Skip()
		}
	}
	m.module = r.module(s)
}
