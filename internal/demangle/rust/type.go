package rust

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/demangle/core"
)

// rustBasic are the types of one letter.
var rustBasic = [...]string{
	'a': "i8", 'b': "bool", 'c': "char", 'd': "f64", 'e': "str", 'f': "f32", 'h': "u8", 'i': "isize", 'j': "usize", 'l': "i32", 'm': "u32",
	'n': "i128", 'o': "u128", 'p': "_", 's': "i16", 't': "u16", 'u': "()", 'v': "...", 'x': "i64", 'y': "u64", 'z': "!",
}

func (r *rust) typ() {
	if c := r.Peek(); core.IsLower(c) && rustBasic[c] != "" {
		word := rustBasic[c]
		r.Next()
		r.say(word)
		return
	}
	r.part(r.compound)
}

// compound reads a type that is made of others.
func (r *rust) compound() {
	switch c := r.Next(); c {
	case 'R', 'Q':
		r.say("&")
		if r.Accept('L') {
			if n := r.base62(); n > 0 {
				r.lifetime(n)
				r.say(" ")
			}
		}
		if c == 'Q' {
			r.say("mut ")
		}
		r.typ()
	case 'P', 'O':
		r.say(map[byte]string{'P': "*const ", 'O': "*mut "}[c])
		r.typ()
	case 'A', 'S':
		r.say("[")
		r.typ()
		if c == 'A' {
			r.say("; ")
			r.constant(true)
		}
		r.say("]")
	case 'T':
		r.say("(")
		if r.list(", ", r.typ) == 1 {
			r.say(",")
		}
		r.say(")")
	case 'F':
		r.binder(r.function)
	case 'D':
		r.say("dyn ")
		r.binder(func() { r.list(" + ", r.bounds) })
		if !r.Accept('L') {
			r.failed = true
		} else if n := r.base62(); n > 0 {
			r.say(" + ")
			r.lifetime(n)
		}
	case 'B':
		r.backref(r.typ)
	default:
		r.Pos--
		r.path(false)
	}
}

func (r *rust) function() {
	if r.Accept('U') {
		r.say("unsafe ")
	}
	if r.Accept('K') {
		abi := "C"
		if !r.Accept('C') {
			r.failed = r.failed || r.Peek() == 'u' // no name of one is encoded
			abi = strings.ReplaceAll(string(r.identifier()), "_", "-")
		}
		r.say(`extern "` + abi + `" `)
	}
	r.say("fn(")
	r.list(", ", r.typ)
	r.say(")")
	if !r.Accept('u') {
		r.say(" -> ")
		r.typ()
	}
}

// bounds reads a trait of a trait object, with what its associated types are.
func (r *rust) bounds() {
	open := r.openPath()
	for r.Accept('p') {
		if open {
			r.say(", ")
		} else {
			r.say("<")
		}
		open = true
		r.say(string(r.identifier()) + " = ")
		r.typ()
	}
	if open {
		r.say(">")
	}
}

// openPath reads a path and leaves its generic arguments open, if it has any.
func (r *rust) openPath() (open bool) {
	switch {
	case r.Accept('B'):
		r.backref(func() { open = r.openPath() })
	case r.Accept('I'):
		r.path(false)
		r.say("<")
		r.list(", ", r.argument)
		open = true
	default:
		r.path(false)
	}
	return open
}

// constant reads a constant. Inside of another value it needs no braces.
func (r *rust) constant(value bool) {
	r.part(func() {
		c := r.Peek()
		braces := !value && (strings.IndexByte("eQATV", c) >= 0 || c == 'R' && !bytes.HasPrefix(r.Text[r.Pos:], []byte("Re")))
		if braces {
			r.say("{")
		}
		r.value(value)
		if braces {
			r.say("}")
		}
	})
}

func (r *rust) inside() { r.constant(true) }

func (r *rust) value(inside bool) {
	switch c := r.Next(); c {
	case 'p':
		r.say("_")
	case 'h', 't', 'm', 'y', 'o', 'j', 'a', 's', 'l', 'x', 'n', 'i':
		if strings.IndexByte("aslxni", c) >= 0 && r.Accept('n') {
			r.say("-")
		}
		digits := r.number()
		if n, err := strconv.ParseUint("0"+digits, 16, 64); err == nil {
			digits = strconv.FormatUint(n, 10)
		} else {
			digits = "0x" + digits // more than 64 bits
		}
		r.say(digits)
	case 'b', 'c':
		n, err := strconv.ParseUint("0"+r.number(), 16, 31)
		r.failed = r.failed || err != nil || c == 'b' && n > 1 || !utf8.ValidRune(rune(n))
		if c == 'b' {
			r.say(strconv.FormatBool(n == 1))
		} else {
			r.say("'" + escaped(rune(n), '\'') + "'")
		}
	case 'e':
		r.say("*")
		r.literal()
	case 'R', 'Q':
		if c == 'R' && r.Accept('e') {
			r.literal()
			break
		}
		r.say("&")
		if c == 'Q' {
			r.say("mut ")
		}
		r.inside()
	case 'A':
		r.say("[")
		r.list(", ", r.inside)
		r.say("]")
	case 'T':
		r.say("(")
		if r.list(", ", r.inside) == 1 {
			r.say(",")
		}
		r.say(")")
	case 'V':
		r.path(true)
		r.fields()
	case 'B':
		r.backref(func() { r.constant(inside) })
	default:
		r.failed = true
	}
}

// fields reads the fields of a constant of a struct or an enum.
func (r *rust) fields() {
	switch r.Next() {
	case 'U':
	case 'T':
		r.say("(")
		r.list(", ", r.inside)
		r.say(")")
	case 'S':
		r.say(" { ")
		r.list(", ", func() {
			r.optional('s')
			r.say(string(r.identifier()) + ": ")
			r.inside()
		})
		r.say(" }")
	default:
		r.failed = true
	}
}

// nibbles reads hexadecimal digits up to an underscore, and leaves out zeros
// before them.
func (r *rust) nibbles() string {
	at := r.Pos
	for core.HexDigit(r.Peek()) >= 0 {
		r.Next()
	}
	digits := r.Since(at)
	if !r.Accept('_') {
		r.failed = true
	}
	return strings.TrimLeft(digits, "0")
}

// number reads the digits of a number, of which there is at least one.
func (r *rust) number() string {
	r.failed = r.failed || core.HexDigit(r.Peek()) < 0
	return r.nibbles()
}

// literal reads a string, which is there as the digits of its bytes.
func (r *rust) literal() {
	at := r.Pos
	r.nibbles()
	raw, err := hex.DecodeString(strings.TrimSuffix(r.Since(at), "_"))
	if err != nil || !utf8.Valid(raw) {
		r.failed = true
	}
	r.say(`"`)
	for _, c := range string(raw) {
		r.say(escaped(c, '"'))
	}
	r.say(`"`)
}

// escaped is a letter as a literal of the language has it.
func escaped(c, quote rune) string {
	switch i := strings.IndexRune("\t\r\n\x00", c); {
	case i >= 0:
		return `\` + "trn0"[i:i+1]
	case c == '\\' || c == quote:
		return `\` + string(c)
	case !unicode.IsPrint(c):
		return `\u{` + strconv.FormatInt(int64(c), 16) + "}"
	}
	return string(c)
}
