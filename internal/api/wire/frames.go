package wire

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"symbolon/internal/api/json"
	"symbolon/internal/ident"
)

func (d *decoder) readStacks(name string) {
	if !d.enter(name, '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if limit := d.limits.Frames; limit >= 0 && n > limit {
			d.tooMany("stacks", limit)
			return
		}
		d.readStack()
	}
}

var stackMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "frames", Required: true, Read: (*decoder).readFrames},
	{Name: "registers", Read: func(d *decoder, name string) { d.stack.Registers = d.registers(name) }},
	{Name: "thread_id", Read: func(d *decoder, name string) { d.stack.ThreadID, d.stack.HasID = d.unsigned(name, 64) }},
	{Name: "thread_name", Read: func(d *decoder, name string) { d.stack.ThreadName = d.optional(name) }},
	{Name: "is_requesting", Read: func(d *decoder, name string) { d.stack.Requesting = d.triState(name) }},
})

func (d *decoder) readStack() {
	first := len(d.q.Frames)
	d.stack = Stack{}
	d.object("a stack trace", stackMembers)
	d.stack.Adjusts = slices.ContainsFunc(d.q.Frames[first:], func(f Frame) bool { return f.Adjust != Unset })
	d.stack.End = len(d.q.Frames)
	d.q.Stacks = append(d.q.Stacks, d.stack)
}

// registers reads an object of registers. Of several with the same name the last
// one counts.
func (d *decoder) registers(name string) []Register {
	if !d.enter(name, '{') {
		return nil
	}
	var out []Register
	for n := 0; d.Next(&n); {
		key := string(d.Key())
		out = append(out, Register{key, d.address(name)})
	}
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b Register) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Register) bool { return a.Name == b.Name })
}

func (d *decoder) readFrames(name string) {
	if !d.enter(name, '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if limit := d.limits.Frames; limit >= 0 && len(d.q.Frames) >= limit {
			d.tooMany("frames", limit)
			return
		}
		d.readFrame()
	}
}

// frameMembers begins with the members that most frames have.
var frameMembers = func() *json.Table[*decoder] {
	table := []json.Member[*decoder]{
		{Name: "instruction_addr", Required: true, Read: func(d *decoder, name string) { d.frame.Addr = d.address(name) }},
		{Name: "addr_mode", Read: func(d *decoder, name string) { d.frame.Rel, d.frame.Relative = d.addrMode(name) }},
		{Name: "adjust_instruction_addr", Read: func(d *decoder, name string) { d.frame.Adjust = d.triState(name) }},
		{Name: "trust", Read: func(d *decoder, name string) { d.frame.Trust = d.trust(name) }},
	}
	for f := fieldEnd + 1; f < FieldCount; f++ {
		table = append(table, json.Member[*decoder]{Name: FieldNames[f], Read: func(d *decoder, name string) { d.readExtra(f, name) }})
	}
	return json.NewTable(table)
}()

func (d *decoder) readFrame() {
	at := len(d.q.extras)
	d.frame = Frame{}
	d.object("a frame", frameMembers)
	if len(d.q.extras) > at {
		d.q.extras = append(d.q.extras, byte(fieldEnd))
		d.frame.extra = uint32(at) + 1
	}
	d.q.Frames = append(d.q.Frames, d.frame)
}

// addrMode reads the index of the module that an address is relative to, if it
// is relative. The module need not exist.
func (d *decoder) addrMode(name string) (index uint64, relative bool) {
	if !d.text(name) || string(d.Text) == "abs" {
		return 0, false
	}
	digits, relative := bytes.CutPrefix(d.Text, []byte("rel:"))
	v, err := strconv.ParseUint(string(trimPlus(digits)), 10, 64)
	if !relative || err != nil {
		d.invalid(name, `"abs" or "rel:" with the index of a module`)
		return 0, false
	}
	return v, true
}

func (d *decoder) trust(name string) Trust {
	if !d.text(name) {
		return TrustNone
	}
	for t, known := range Trusts {
		if known == string(d.Text) {
			return Trust(t)
		}
	}
	d.invalid(name, "none, scan, cfiscan, fp, cfi, prewalked or context")
	return TrustNone
}

// readExtra reads one of the rarer fields of a frame into its record.
func (d *decoder) readExtra(f Field, name string) {
	out := d.scratch[:0]
	switch f {
	case FieldFunctionID, FieldSymAddr:
		if d.null() {
			return
		}
		out = append(json.AppendHex(append(out, '"'), d.address(name)), '"')
	case fieldLineno:
		v, ok := d.unsigned(name, 32)
		if !ok {
			return
		}
		out = strconv.AppendUint(out, v, 10)
	case FieldInApp:
		v := d.triState(name)
		if v == Unset {
			return
		}
		out = strconv.AppendBool(out, v == Yes)
	case fieldPreContext, fieldPostContext:
		if out = d.appendLines(out, name); len(out) == 0 {
			return
		}
	case FieldVars:
		if d.null() {
			return
		}
		if d.Peek() != '{' {
			d.mismatch(name, "an object")
			return
		}
		out = d.appendValue(out, 0)
	default:
		if d.null() || !d.text(name) {
			return
		}
		out = append(out, d.Text...)
	}
	d.scratch = out
	d.q.addExtra(f, out)
}

// appendLines reads an array of strings and appends it as JSON, or nothing if it
// is empty.
func (d *decoder) appendLines(dst []byte, name string) []byte {
	if !d.enter(name, '[') {
		return dst
	}
	for n := 0; d.Next(&n); {
		if n == 1 {
			dst = append(dst, '[')
		} else {
			dst = append(dst, ',')
		}
		if d.text(name) {
			dst = json.AppendQuoted(dst, d.Text)
		}
	}
	if len(dst) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

func (d *decoder) readModules(name string) {
	if !d.enter(name, '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if limit := d.limits.Modules; limit >= 0 && n > limit {
			d.tooMany("modules", limit)
			return
		}
		d.module = Module{}
		d.object("a module", moduleMembers)
		d.q.Modules = append(d.q.Modules, d.module)
	}
}

var moduleMembers = json.NewTable([]json.Member[*decoder]{
	{Name: "type", Required: true, Read: func(d *decoder, name string) {
		if d.text(name) {
			d.module.Kind = ident.ParseType(string(d.Text))
		}
	}},
	{Name: "code_id", Read: func(d *decoder, name string) { d.module.CodeID = ident.ParseCodeID(d.optional(name).Text) }},
	{Name: "debug_id", Read: func(d *decoder, name string) {
		id, err := ident.ParseDebugID(d.optional(name).Text)
		d.module.DebugID, d.module.HasDebug = id, err == nil
	}},
	{Name: "code_file", Read: func(d *decoder, name string) { d.module.CodeFile = d.optional(name) }},
	{Name: "debug_file", Read: func(d *decoder, name string) { d.module.DebugFile = d.optional(name) }},
	{Name: "debug_checksum", Read: func(d *decoder, name string) { d.module.Checksum = d.optional(name) }},
	{Name: "image_addr", Read: func(d *decoder, name string) { d.module.Addr = d.address(name) }},
	{Name: "image_size", Read: func(d *decoder, name string) { d.module.Size, d.module.HasSize = d.unsigned(name, 64) }},
})
