package breakpad

import (
	"strconv"

	"symbolon/internal/sym"
)

// AppendModule appends a MODULE record, the first of a file.
func AppendModule(dst []byte, m Module) []byte {
	dst = appendWord(append(dst, "MODULE "...), m.OS)
	dst = appendWord(append(dst, ' '), m.Arch)
	dst = appendWord(append(dst, ' '), m.ID)
	return appendName(append(dst, ' '), []byte(m.Name), unknownName)
}

// AppendInfo appends an INFO record.
func AppendInfo(dst []byte, scope, text string) []byte {
	dst = appendWord(append(dst, "INFO "...), scope)
	return appendName(append(dst, ' '), []byte(text), "")
}

// AppendFile appends a FILE record.
func AppendFile(dst []byte, id uint64, path []byte) []byte {
	dst = strconv.AppendUint(append(dst, "FILE "...), id, 10)
	return appendName(append(dst, ' '), path, unknownName)
}

// AppendOrigin appends an INLINE_ORIGIN record.
func AppendOrigin(dst []byte, id uint64, name []byte) []byte {
	dst = strconv.AppendUint(append(dst, "INLINE_ORIGIN "...), id, 10)
	return appendName(append(dst, ' '), name, nameless)
}

// AppendFunc appends a FUNC record with its INLINE and line records, in their
// order.
func AppendFunc(dst []byte, f *Func, name []byte) []byte {
	dst = append(dst, "FUNC "...)
	if f.Multiple {
		dst = append(dst, "m "...)
	}
	dst = appendHex(append(appendHex(append(appendHex(dst, f.Addr), ' '), f.Size), ' '), f.Params)
	dst = appendName(append(dst, ' '), name, unknownName)
	for i := range f.Inlines {
		in := &f.Inlines[i]
		dst = append(dst, "INLINE"...)
		for _, v := range [...]uint64{uint64(in.Depth), uint64(in.CallLine), in.CallFile, in.Origin} {
			dst = strconv.AppendUint(append(dst, ' '), v, 10)
		}
		for _, r := range f.Ranges[in.First : in.First+in.N] {
			dst = appendHex(append(appendHex(append(dst, ' '), r.Addr), ' '), r.Size)
		}
		dst = append(dst, '\n')
	}
	for _, l := range f.Lines {
		dst = appendHex(append(appendHex(dst, l.Addr), ' '), l.Size)
		dst = strconv.AppendUint(append(dst, ' '), uint64(l.Line), 10)
		dst = strconv.AppendUint(append(dst, ' '), l.File, 10)
		dst = append(dst, '\n')
	}
	return dst
}

// AppendPublic appends a PUBLIC record.
func AppendPublic(dst []byte, p Public, name []byte) []byte {
	dst = append(dst, "PUBLIC "...)
	if p.Multiple {
		dst = append(dst, "m "...)
	}
	dst = appendHex(append(appendHex(dst, p.Addr), ' '), p.Params)
	return appendName(append(dst, ' '), name, unknownName)
}

// AppendStack appends a STACK record.
func AppendStack(dst []byte, u *sym.Unwind) []byte {
	if u.Kind == sym.UnwindWindows {
		return appendWin(dst, u)
	}
	dst = append(dst, "STACK CFI "...)
	if u.Kind == sym.UnwindBegin {
		dst = append(dst, "INIT "...)
	}
	dst = appendHex(dst, u.Addr)
	if u.Kind == sym.UnwindBegin {
		dst = appendHex(append(dst, ' '), u.Size)
	}
	if len(u.Rules) > 0 {
		dst = append(append(dst, ' '), u.Rules...)
	}
	return append(dst, '\n')
}

// appendWin appends a STACK WIN record.
func appendWin(dst []byte, u *sym.Unwind) []byte {
	dst = append(dst, "STACK WIN "...)
	w := &u.Windows
	for _, v := range [...]uint64{
		uint64(w.Type), u.Addr, u.Size, uint64(w.Prolog), uint64(w.Epilog), uint64(w.Params), uint64(w.Saved), uint64(w.Locals), uint64(w.Stack),
	} {
		dst = append(appendHex(dst, v), ' ')
	}
	switch {
	case w.HasProgram:
		dst = append(append(dst, "1 "...), u.Rules...)
	case w.UsesBase:
		dst = append(dst, "0 1"...)
	default:
		dst = append(dst, "0 0"...)
	}
	return append(dst, '\n')
}

func appendHex(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 16) }

// appendWord appends a field without blanks, "unknown" if word is empty.
func appendWord(dst []byte, word string) []byte {
	if word == "" {
		word = "unknown"
	}
	for i := range len(word) {
		c := word[i]
		if c <= ' ' {
			c = '_'
		}
		dst = append(dst, c)
	}
	return dst
}

// appendName appends the last field and ends the line. Control characters,
// which could end the line early, become blanks; a long name is truncated to a
// length that readers accept.
func appendName(dst, name []byte, def string) []byte {
	name = trimEnd(skipBlanks(name))
	if len(name) == 0 {
		name = []byte(def)
	}
	for _, c := range name[:min(len(name), MaxName/2)] {
		if c < ' ' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return append(dst, '\n')
}
