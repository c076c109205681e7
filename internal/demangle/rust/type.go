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
var basicTypes = [...]string{
	'a': "i8", 'b': "bool", 'c': "char", 'd': "f64", 'e': "str", 'f': "f32", 'h': "u8", 'i': "isize", 'j': "usize", 'l': "i32", 'm': "u32",
	'n': "i128", 'o': "u128", 'p': "_", 's': "i16", 't': "u16", 'u': "()", 'v': "...", 'x': "i64", 'y': "u64", 'z': "!",
}

func (r *demangler) readType() {
	if c := r.Peek(); core.IsLower(c) && basicTypes[c] != "" {
		word := basicTypes[c]
		r.Next()
		r.print(word)
		return
	}
	r.nest(r.readCompound)
}

// readCompound reads a type that consists of others.
func (r *demangler) readCompound() {
	switch c := r.Next(); c {
	case 'R', 'Q':
		r.print("&")
		if r.Accept('L') {
			if n := r.readBase62(); n > 0 {
				r.printLifetime(n)
				r.print(" ")
			}
		}
		if c == 'Q' {
			r.print("mut ")
		}
		r.readType()
	case 'P', 'O':
		r.print(map[byte]string{'P': "*const ", 'O': "*mut "}[c])
		r.readType()
	case 'A', 'S':
		r.print("[")
		r.readType()
		if c == 'A' {
			r.print("; ")
			r.readConstant(true)
		}
		r.print("]")
	case 'T':
		r.print("(")
		if r.readList(", ", r.readType) == 1 {
			r.print(",")
		}
		r.print(")")
	case 'F':
		r.readBinder(r.readFunction)
	case 'D':
		r.print("dyn ")
		r.readBinder(func() { r.readList(" + ", r.readBounds) })
		if !r.Accept('L') {
			r.Failed = true
		} else if n := r.readBase62(); n > 0 {
			r.print(" + ")
			r.printLifetime(n)
		}
	case 'B':
		r.followBackref(r.readType)
	case 'W':
		r.readType()
		r.print(" is ")
		r.readPattern()
	default:
		r.Pos--
		r.readPath(false)
	}
}

// readPattern reads the values that a type is restricted to.
func (r *demangler) readPattern() {
	switch r.Next() {
	case 'R':
		r.readConstant(false)
		r.print("..=")
		r.readConstant(false)
	case 'O':
		r.nest(func() { r.Failed = r.readList(" | ", r.readPattern) == 0 || r.Failed })
	case 'N':
		r.print("!null")
	default:
		r.Failed = true
	}
}

func (r *demangler) readFunction() {
	if r.Accept('U') {
		r.print("unsafe ")
	}
	if r.Accept('K') {
		abi := "C"
		if !r.Accept('C') {
			r.Failed = r.Failed || r.Peek() == 'u' // no name of one is encoded
			abi = strings.ReplaceAll(string(r.readIdentifier()), "_", "-")
		}
		r.print(`extern "` + abi + `" `)
	}
	r.print("fn(")
	r.readList(", ", r.readType)
	r.print(")")
	if !r.Accept('u') {
		r.print(" -> ")
		r.readType()
	}
}

// readBounds reads a trait of a trait object and its associated types and
// constants.
func (r *demangler) readBounds() {
	open := r.readOpenPath()
	for r.Accept('p') {
		if open {
			r.print(", ")
		} else {
			r.print("<")
		}
		open = true
		r.print(string(r.readIdentifier()) + " = ")
		if r.Accept('K') {
			r.readConstant(false)
		} else {
			r.readType()
		}
	}
	if open {
		r.print(">")
	}
}

// readOpenPath reads a path and leaves its generic arguments open, if it has any.
func (r *demangler) readOpenPath() (open bool) {
	switch {
	case r.Accept('B'):
		r.followBackref(func() { open = r.readOpenPath() })
	case r.Accept('I'):
		r.readPath(false)
		r.print("<")
		r.readList(", ", r.readArgument)
		open = true
	default:
		r.readPath(false)
	}
	return open
}

// readConstant reads a constant. Inside of another value it needs no braces.
func (r *demangler) readConstant(value bool) {
	r.nest(func() {
		c := r.Peek()
		braces := !value && (strings.IndexByte("eQATV", c) >= 0 || c == 'R' && !bytes.HasPrefix(r.Text[r.Pos:], []byte("Re")))
		if braces {
			r.print("{")
		}
		r.readValue(value)
		if braces {
			r.print("}")
		}
	})
}

func (r *demangler) readInnerConstant() { r.readConstant(true) }

func (r *demangler) readValue(inside bool) {
	switch c := r.Next(); c {
	case 'p':
		r.print("_")
	case 'h', 't', 'm', 'y', 'o', 'j', 'a', 's', 'l', 'x', 'n', 'i':
		if strings.IndexByte("aslxni", c) >= 0 && r.Accept('n') {
			r.print("-")
		}
		digits := r.readNumber()
		if n, err := strconv.ParseUint("0"+digits, 16, 64); err == nil {
			digits = strconv.FormatUint(n, 10)
		} else {
			digits = "0x" + digits // more than 64 bits
		}
		r.print(digits)
	case 'b', 'c':
		n, err := strconv.ParseUint("0"+r.readNumber(), 16, 31)
		r.Failed = r.Failed || err != nil || c == 'b' && n > 1 || !utf8.ValidRune(rune(n))
		if c == 'b' {
			r.print(strconv.FormatBool(n == 1))
		} else {
			r.print("'" + escape(rune(n), '\'') + "'")
		}
	case 'e':
		r.print("*")
		r.readLiteral()
	case 'R', 'Q':
		if c == 'R' && r.Accept('e') {
			r.readLiteral()
			break
		}
		r.print("&")
		if c == 'Q' {
			r.print("mut ")
		}
		r.readInnerConstant()
	case 'A':
		r.print("[")
		r.readList(", ", r.readInnerConstant)
		r.print("]")
	case 'T':
		r.print("(")
		if r.readList(", ", r.readInnerConstant) == 1 {
			r.print(",")
		}
		r.print(")")
	case 'V':
		r.readPath(true)
		r.readFields()
	case 'B':
		r.followBackref(func() { r.readConstant(inside) })
	default:
		r.Failed = true
	}
}

// readFields reads the fields of a constant of a struct or an enum.
func (r *demangler) readFields() {
	switch r.Next() {
	case 'U':
	case 'T':
		r.print("(")
		r.readList(", ", r.readInnerConstant)
		r.print(")")
	case 'S':
		r.print(" { ")
		r.readList(", ", func() {
			r.readOptional('s')
			r.print(string(r.readIdentifier()) + ": ")
			r.readInnerConstant()
		})
		r.print(" }")
	default:
		r.Failed = true
	}
}

// readNibbles reads hexadecimal digits up to an underscore, and leaves out zeros
// before them.
func (r *demangler) readNibbles() string {
	at := r.Pos
	for core.HexDigit(r.Peek()) >= 0 {
		r.Next()
	}
	digits := r.Since(at)
	if !r.Accept('_') {
		r.Failed = true
	}
	return strings.TrimLeft(digits, "0")
}

// readNumber reads the digits of a number, at least one.
func (r *demangler) readNumber() string {
	r.Failed = r.Failed || core.HexDigit(r.Peek()) < 0
	return r.readNibbles()
}

// readLiteral reads a string, which is there as the digits of its bytes.
func (r *demangler) readLiteral() {
	at := r.Pos
	r.readNibbles()
	raw, err := hex.DecodeString(strings.TrimSuffix(r.Since(at), "_"))
	if err != nil || !utf8.Valid(raw) {
		r.Failed = true
	}
	r.print(`"`)
	for _, c := range string(raw) {
		r.print(escape(c, '"'))
	}
	r.print(`"`)
}

// escape returns a letter as a literal of the language has it.
func escape(c, quote rune) string {
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
