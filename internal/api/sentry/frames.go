package sentry

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"symbolon/internal/ident"
)

// stacks reads the value of "stacktraces".
func (d *decoder) stacks() {
	if !d.begin("stacktraces", '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if most := d.cfg.MaxFrames; most >= 0 && n > most {
			d.tooMany("stacks", most)
			return
		}
		d.stack()
	}
}

func (d *decoder) stack() {
	if !d.begin("a stack trace", '{') {
		return
	}
	var s stack
	var seen uint32
	first := len(d.q.frames)
	for n := 0; d.Next(&n); {
		switch string(d.Key()) {
		case "frames":
			d.once(&seen, 0, "frames")
			d.readFrames()
		case "registers":
			d.once(&seen, 1, "registers")
			s.registers = d.registers()
		case "thread_id":
			d.once(&seen, 2, "thread_id")
			s.threadID, s.hasID = d.unsigned("thread_id", 64)
		case "thread_name":
			d.once(&seen, 3, "thread_name")
			s.threadName = d.optional("thread_name")
		case "is_requesting":
			d.once(&seen, 4, "is_requesting")
			s.requesting = d.answer("is_requesting")
		default:
			d.Skip()
		}
	}
	if seen&1 == 0 {
		d.wrong("a stack trace", "an object with frames")
	}
	s.adjusts = slices.ContainsFunc(d.q.frames[first:], func(f frame) bool { return f.adjust != unsaid })
	s.end = len(d.q.frames)
	d.q.stacks = append(d.q.stacks, s)
}

// registers reads an object of registers. The last of several with one name
// counts.
func (d *decoder) registers() []register {
	if !d.begin("registers", '{') {
		return nil
	}
	var out []register
	for n := 0; d.Next(&n); {
		name := string(d.Key())
		out = append(out, register{name, d.address("registers")})
	}
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b register) int { return cmp.Compare(a.name, b.name) })
	return slices.CompactFunc(out, func(a, b register) bool { return a.name == b.name })
}

func (d *decoder) readFrames() {
	if !d.begin("frames", '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if most := d.cfg.MaxFrames; most >= 0 && len(d.q.frames) >= most {
			d.tooMany("frames", most)
			return
		}
		d.frame()
	}
}

func (d *decoder) frame() {
	if !d.begin("a frame", '{') {
		return
	}
	var f frame
	var seen uint32
	at := len(d.q.extras)
	for n := 0; d.Next(&n); {
		member := fieldOf(d.Key())
		if member == fieldEnd {
			d.Skip()
			continue
		}
		name := fieldNames[member]
		d.once(&seen, int(member), name)
		switch member {
		case fieldAddr:
			f.addr = d.address(name)
		case fieldAddrMode:
			f.rel, f.relative = d.addrMode(name)
		case fieldAdjust:
			f.adjust = d.answer(name)
		case fieldTrust:
			f.trust = d.trust(name)
		default:
			d.readExtra(member, name)
		}
	}
	if seen&(1<<fieldAddr) == 0 {
		d.wrong("a frame", "an object with instruction_addr")
	}
	if len(d.q.extras) > at {
		d.q.extras = append(d.q.extras, byte(fieldEnd))
		f.extra = uint32(at) + 1
	}
	d.q.frames = append(d.q.frames, f)
}

// addrMode reads the index of the module that an address is relative to, if it
// is relative. There need not be such a module.
func (d *decoder) addrMode(name string) (index uint64, relative bool) {
	if !d.text(name) || string(d.Text) == "abs" {
		return 0, false
	}
	digits, relative := bytes.CutPrefix(d.Text, []byte("rel:"))
	v, err := strconv.ParseUint(string(afterPlus(digits)), 10, 64)
	if !relative || err != nil {
		d.wrong(name, `"abs" or "rel:" with the index of a module`)
		return 0, false
	}
	return v, true
}

func (d *decoder) trust(name string) trust {
	if !d.text(name) {
		return trustNone
	}
	for t, known := range trusts {
		if known == string(d.Text) {
			return trust(t)
		}
	}
	d.wrong(name, "none, scan, cfiscan, fp, cfi, prewalked or context")
	return trustNone
}

// readExtra reads one of the rarer fields of a frame into its record.
func (d *decoder) readExtra(f field, name string) {
	out := d.scratch[:0]
	switch f {
	case fieldFunctionID, fieldSymAddr:
		if d.null() {
			return
		}
		out = strconv.AppendUint(append(out, `"0x`...), d.address(name), 16)
		out = append(out, '"')
	case fieldLineno:
		v, there := d.unsigned(name, 32)
		if !there {
			return
		}
		out = strconv.AppendUint(out, v, 10)
	case fieldInApp:
		v := d.answer(name)
		if v == unsaid {
			return
		}
		out = strconv.AppendBool(out, v == yes)
	case fieldPreContext, fieldPostContext:
		if out = d.lines(out, name); len(out) == 0 {
			return
		}
	case fieldVars:
		if d.null() {
			return
		}
		out = d.vars(out)
	default:
		if d.null() || !d.text(name) {
			return
		}
		out = append(out, d.Text...)
	}
	d.scratch = out
	d.q.extra(f, out)
}

// lines reads an array of strings and appends it as JSON; nothing if it is
// empty.
func (d *decoder) lines(dst []byte, name string) []byte {
	if !d.begin(name, '[') {
		return dst
	}
	for n := 0; d.Next(&n); {
		if n == 1 {
			dst = append(dst, '[')
		} else {
			dst = append(dst, ',')
		}
		if d.text(name) {
			dst = appendQuoted(dst, d.Text)
		}
	}
	if len(dst) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// vars reads an object of variables and appends it as JSON.
func (d *decoder) vars(dst []byte) []byte {
	if d.Peek() != '{' {
		d.mismatch("vars", "an object")
		return dst
	}
	return d.value(dst, 0)
}

// modules reads the value of "modules".
func (d *decoder) modules() {
	if !d.begin("modules", '[') {
		return
	}
	for n := 0; d.Next(&n); {
		if most := d.cfg.MaxModules; most >= 0 && n > most {
			d.tooMany("modules", most)
			return
		}
		d.module()
	}
}

func (d *decoder) module() {
	if !d.begin("a module", '{') {
		return
	}
	var m module
	var seen uint32
	for n := 0; d.Next(&n); {
		switch string(d.Key()) {
		case "type":
			d.once(&seen, 0, "type")
			if d.text("type") {
				m.kind = ident.ParseType(string(d.Text))
			}
		case "code_id":
			d.once(&seen, 1, "code_id")
			m.codeID = ident.ParseCodeID(d.optional("code_id").text)
		case "debug_id":
			d.once(&seen, 2, "debug_id")
			id, err := ident.ParseDebugID(d.optional("debug_id").text)
			m.debugID, m.hasDebug = id, err == nil
		case "code_file":
			d.once(&seen, 3, "code_file")
			m.codeFile = d.optional("code_file")
		case "debug_file":
			d.once(&seen, 4, "debug_file")
			m.debugFile = d.optional("debug_file")
		case "debug_checksum":
			d.once(&seen, 5, "debug_checksum")
			m.checksum = d.optional("debug_checksum")
		case "image_addr":
			d.once(&seen, 6, "image_addr")
			m.addr = d.address("image_addr")
		case "image_size":
			d.once(&seen, 7, "image_size")
			m.size, m.hasSize = d.unsigned("image_size", 64)
		default:
			d.Skip()
		}
	}
	if seen&1 == 0 {
		d.wrong("a module", "an object with a type")
	}
	d.q.modules = append(d.q.modules, m)
}
