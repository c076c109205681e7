package symbfile

import (
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"symbolon/internal/bin"
)

// maxShown limits the bytes of a string, or numbers of a column, in a dump.
const maxShown = 100

// Names of fields by their numbers.
var (
	rangeFields = [...]string{1: "VA", 2: "length", 3: "func", 4: "file", 5: "callLine", 6: "callFile", 7: "depth",
		8: "line table", 9: "func", 10: "file", 11: "callFile", 12: "VA"}
	padFields   = [...]string{1: "VA", 2: "func", 3: "file", 4: "line", 5: "VA"}
	lineFields  = [...]string{1: "offset", 2: "line"}
	tableFields = [...]string{1: "string"}
)

// Dump writes an annotated dump of the file read from r: every byte with its
// meaning. It returns the damage of the file as an error, after the parts
// before it.
func Dump(w io.Writer, r io.Reader) error {
	d := dumper{r: NewReader(r), d: bin.NewDump(w)}
	d.r.allTypes = true
	for d.d.Err() == nil {
		first := !d.r.started
		err := d.r.message()
		if err != nil && (first || d.r.heads == 0) {
			return d.end(err)
		}
		if first {
			d.d.Section("head")
			d.d.Line(0, []byte(magic), "magic")
		}
		if err == nil {
			err = d.message()
		}
		if err != nil {
			return d.end(err)
		}
	}
	return d.d.Err()
}

type dumper struct {
	r     *Reader
	d     *bin.Dump
	kind  uint64 // of the last message
	count int    // strings of the current table
}

// end returns the error of the dump, or else that of the file.
func (d *dumper) end(err error) error {
	if d.d.Err() != nil {
		return d.d.Err()
	}
	if err == io.EOF {
		return nil
	}
	d.d.Line(d.r.start, nil, err.Error())
	return err
}

// message writes the current message.
func (d *dumper) message() error {
	r := d.r
	rec, err := r.decode()
	if err != nil {
		err = r.malformed(err)
	}
	note := fmt.Sprintf("%s of %d bytes", kindName(r.kind), r.size)
	switch {
	case r.kind == typeHeader:
	case r.kind == typeTable:
		d.count = 0
		d.d.Section("strings")
	case d.kind == typeTable || d.kind == typeHeader:
		d.d.Section("records")
	}
	switch {
	case rec.Range != nil:
		note += fmt.Sprintf(": %#x, depth %d", rec.Range.VA, rec.Range.Depth)
	case rec.Pad != nil:
		note += fmt.Sprintf(": %#x", rec.Pad.VA)
	}
	d.kind = r.kind
	d.d.Line(r.start, r.head[:r.heads], note)
	at := r.start + int64(r.heads)
	switch r.kind {
	case typeRange:
		d.fields(at, r.body, "", rangeFields[:])
	case typePad:
		d.fields(at, r.body, "", padFields[:])
	case typeTable:
		d.fields(at, r.body, "", tableFields[:])
	case typeHeader:
		d.fields(at, r.body, "", nil)
	default:
		if r.size > 0 {
			d.d.Line(at, r.body, "unknown")
		}
	}
	return err
}

// fields writes the fields of a message, or of a nested one.
func (d *dumper) fields(at int64, b []byte, indent string, names []string) {
	f := fields{b: b}
	for f.next() {
		num := int(f.key >> 3)
		raw := f.b[f.from:f.at]
		note := fmt.Sprintf("field %d", num)
		if num < len(names) {
			note = names[num] + " " + d.value(&f, names[num])
		}
		if num == 8 && d.r.kind == typeRange && len(names) == len(rangeFields) && f.key&7 == wireBytes {
			raw = raw[:len(raw)-len(f.data)]
			d.d.Line(at+int64(f.from), raw, indent+names[num])
			d.fields(at+int64(f.at-len(f.data)), f.data, indent+"  ", lineFields[:])
			continue
		}
		d.d.Line(at+int64(f.from), raw, indent+note)
	}
	if f.err != nil && f.at < len(b) {
		d.d.Line(at+int64(f.at), b[f.at:], indent+"not readable")
	}
}

// value formats the value of the current field.
func (d *dumper) value(f *fields, name string) string {
	column := d.r.kind == typePad && name != "VA" || name == "offset" || name == "line"
	switch {
	case column && (f.key&7 == wireVarint || f.key&7 == wireBytes):
		return numbers(f)
	case f.key&7 == wireBytes && name == "string":
		d.count++
		return fmt.Sprintf("%d %s", d.count-1, quoted(f.data))
	case f.key&7 == wireBytes:
		return quoted(f.data)
	case f.key&7 != wireVarint:
		return "of unexpected type"
	case name == "VA" && f.key>>3 == 1:
		return fmt.Sprintf("%+d", protowire.DecodeZigZag(f.val))
	case name == "VA":
		return fmt.Sprintf("%#x", f.val)
	case name == "func" || name == "file" || name == "callFile":
		s, err := d.r.table.get(uint32(f.val))
		if err != nil {
			return fmt.Sprintf("string %d, missing", f.val)
		}
		return fmt.Sprintf("string %d %s", f.val, quoted(s))
	}
	return fmt.Sprint(f.val)
}

// numbers formats the current field as a column.
func numbers(f *fields) string {
	c := *f
	col := c.column(nil, maxShown)
	more := ""
	if c.err != nil {
		more = " ..."
	}
	return strings.Trim(fmt.Sprint(col), "[]") + more
}

// quoted returns the quoted start of a string.
func quoted(b []byte) string {
	if len(b) > maxShown {
		return fmt.Sprintf("%q...", b[:maxShown])
	}
	return fmt.Sprintf("%q", b)
}
