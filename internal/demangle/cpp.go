package demangle

import (
	"bytes"
	"math/bits"
	"regexp"
	"sort"
	"strconv"
	"strings"

	lib "github.com/ianlancetaylor/demangle"
)

const (
	// maxUnresolved, maxRaised and maxCounted bound the work to make up for a
	// mistake of the library: for how many places, in names of which length, and
	// how many references before them.
	maxUnresolved = 4
	maxRaised     = 2 << 10
	maxCounted    = 64
	// maxDeep bounds how deep a name is nested, roughly counted. The time grows
	// with the square.
	maxDeep = 256
)

// appendCPP appends the readable form of a C++ name, or says that it is none. The
// library is asked for what is too rare to be read here.
// The prefix may have more underscores, which some systems put before, and
// blocks have.
func appendCPP(dst, name []byte, style Style, left *int) ([]byte, bool) {
	z := bytes.IndexByte(name, 'Z')
	if z < 1 || z > 4 || len(name) < z+2 || strings.Trim(string(name[:z]), "_") != "" {
		return dst, false
	}
	if z >= 3 {
		name = name[z-3:] // the library knows blocks by three underscores
	} else {
		name = name[z-1:]
	}
	if i := bytes.LastIndex(name, []byte(llvmMark)); i > 0 && len(name) > i+len(llvmMark) && isHash(name[i+len(llvmMark):]) {
		return appendCopy(dst, name[:i], name[i:], style, left)
	}
	if i := len(name) - 33; i > 0 && name[i] == '$' && isHash(name[i+1:]) {
		name = name[:i]
	}
	if out, taken, ok := appendItanium(dst, name, style, left); taken {
		return out, ok
	}
	plain := string(name)
	// The text may have two letters for each step, rounded up.
	room := min(bits.Len(uint(2*max(*left, 1))), maxOutputBits)
	if !affordable(plain, room, left) {
		return dst, false
	}
	before := ""
	if style == NoParams || style == Simple {
		// The library leaves the parameters of what a thunk leads to.
		if phrase, to := thunk(plain); to != "" {
			before, plain = phrase, "_Z"+to
		}
	}
	options := []lib.Option{lib.MaxLength(room), lib.NoRust}
	switch style {
	case LLVM:
		options = append(options, lib.LLVMStyle)
	case NoParams:
		options = append(options, lib.NoParams, lib.NoEnclosingParams)
	case Bare:
		options = append(options, lib.NoTemplateParams)
	case Simple:
		options = append(options, lib.NoParams, lib.NoEnclosingParams, lib.NoTemplateParams)
	}
	text, err := toString(renumbered(plain), style, options)
	*left -= len(text) / 8
	if err != nil || text == "" || len(text) >= 1<<room || strings.Contains(text, ", void)") {
		return dst, false // void is no type of a parameter
	}
	return appendPacked(append(dst, before...), text), true
}

// llvmMark is what LLVM puts before the hash of the module behind a name that
// others can see now.
const llvmMark = ".llvm."

// appendCopy appends the readable form of a name with such a mark behind it.
func appendCopy(dst, name, mark []byte, style Style, left *int) ([]byte, bool) {
	out, ok := appendCPP(dst, name, style, left)
	switch {
	case !ok, style == NoParams, style == Simple:
		return out, ok
	case style == LLVM:
		return append(append(append(out, " ("...), mark...), ')'), true
	}
	return append(append(append(out, " [clone "...), mark...), ']'), true
}

func toString(name string, style Style, options []lib.Option) (string, error) {
	tree, err := lib.ToAST(name, options...)
	if err != nil {
		return "", err
	}
	if style == Called {
		dropResult(tree)
	}
	correct(tree, style)
	return lib.ASTToString(tree, options...), nil
}

// correct has functions whose address is an argument of a template written with
// their parameters, which the library leaves out, and blocks with the word behind
// their type, which it writes inside.
func correct(tree lib.AST, style Style) {
	seen := map[lib.AST]bool{}
	tree.Traverse(func(n lib.AST) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		switch n := n.(type) {
		case *lib.Unary:
			op, _ := n.Op.(*lib.Operator)
			if to, ok := n.Expr.(*lib.Typed); ok && style != LLVM && op != nil && op.Name == "&" {
				n.Op, n.Expr = &lib.Special{Prefix: "&", Val: to}, &lib.Name{}
			}
		case *lib.VendorQualifier:
			if of, ok := n.Type.(*lib.FunctionType); ok {
				n.Type = &lib.Typed{Name: &lib.Name{}, Type: of}
			}
		}
		return true
	})
}

// dropResult takes the type of the result out of the type of a function.
func dropResult(tree lib.AST) {
	for {
		switch n := tree.(type) {
		case *lib.Typed:
			tree = n.Type
		case *lib.MethodWithQualifiers:
			tree = n.Method
		case *lib.Clone:
			tree = n.Base
		case *lib.Special:
			tree = n.Val
		case *lib.FunctionType:
			n.Return = nil
			return
		default:
			return
		}
	}
}

// thunks are what a name begins with that stands for another function.
var thunks = regexp.MustCompile(`^_Z(?:(GTt)|(GTn)|(Th)n?[0-9]+_|(Tv)n?[0-9]+_n?[0-9]+_)`)

// thunk splits the name of a thunk into what it is and what it leads to.
func thunk(name string) (phrase, to string) {
	phrases := [...]string{"transaction clone for ", "non-transaction clone for ", "non-virtual thunk to ", "virtual thunk to "}
	found := thunks.FindStringSubmatch(name)
	for i := range phrases {
		if found != nil && found[i+1] != "" {
			return phrases[i], name[len(found[0]):]
		}
	}
	return "", ""
}

// appendPacked appends a text without the commas that empty packs leave.
func appendPacked(dst []byte, text string) []byte {
	for {
		i := strings.Index(text, ", >")
		if i < 0 || strings.HasSuffix(text[:i], "operator") {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		if dst[len(dst)-1] == '>' {
			dst = append(dst, ' ')
		}
		text = text[i+2:]
	}
}

// affordable says whether the library may be asked about a name. It counts no
// steps, so they are estimated, and taken from those that are left.
func affordable(name string, room int, left *int) bool {
	x := measured(name)
	// The library goes through what a reference stands for, half of the name at a
	// guess, and through a whole pack for each of its arguments.
	if *left -= x.parts + x.parts*x.references/2 + x.expansions*x.pack*x.pack; *left < 0 || x.depth > maxDeep {
		return false
	}
	// With template parameters what is referred to is copied: two references
	// can double the work.
	if x.parameters == 0 || x.references < 24 && x.parts<<(x.references/2) <= *left {
		return true
	}
	// A reference costs as much as the text that it stands for, so the text of
	// the name without parameters, where nothing is copied, tells the work.
	text, err := lib.ToString(x.flat, lib.MaxLength(room))
	*left -= len(text) / 2
	return err == nil && len(text) < 1<<room && *left >= 0
}

// measures of a name.
type measures struct {
	flat       string // the name with a type or number for each template parameter
	parts      int
	parameters int
	references int
	expansions int // of packs
	pack       int // parts of the longest pack
	depth      int // of what is open, and of what stands before a type without an end of its own
}

func measured(name string) (x measures) {
	var out strings.Builder
	var open []int // where packs begin; -1: something else
	before, run := byte(0), 0
	eachPart(name, func(part string, sort byte) {
		c := part[0]
		x.parts++
		switch {
		case sort == 'S':
			x.references++
			run = 0
		case sort == 'T':
			x.parameters++
			if part, run = "u1T", 0; before == 'X' {
				part = "Li0E"
			}
		case len(part) > 1:
			run = 0
		case strings.IndexByte("FIJLNXZ", c) >= 0:
			at := -1
			if c == 'J' || c == 'I' && (before == 'I' || before == 'J' || before == 'E') {
				at = x.parts
			}
			open = append(open, at)
		case c == 'E':
			if last := len(open) - 1; last >= 0 {
				if open[last] >= 0 {
					x.pack = max(x.pack, x.parts-open[last])
				}
				open = open[:last]
			}
			run = 0
		case c == 'p' && (before == 'D' || before == 's'):
			x.expansions++
		default:
			run++ // of one letter: a qualifier, a unary operator, a plain type
		}
		before = c
		x.depth = max(x.depth, len(open)+run)
		out.WriteString(part)
	})
	x.flat = out.String()
	return x
}

// eachPart goes through a name: names with their lengths (sort 0), references
// ('S'), template parameters ('T'), and the letters between, one by one.
func eachPart(name string, do func(part string, sort byte)) {
	for i := 0; i < len(name); {
		end, sort := i+1, byte(0)
		switch c := name[i]; {
		case isDigit(c):
			length, start := sourceName(name, i)
			end = max(start, end)
			if before := strings.TrimSuffix(name[max(i-3, 0):i], "n"); len(before) < 2 || before[len(before)-2] != 'L' {
				end += length // not the value of a literal
			}
		case c == 'S' || c == 'T':
			for end < len(name) && (isDigit(name[end]) || isUpper(name[end])) {
				end++
			}
			if end < len(name) && name[end] == '_' {
				end, sort = end+1, c
			} else {
				end = i + 1
			}
		}
		do(name[i:end], sort)
		i = end
	}
}

// renumbered makes up for a mistake of the library: a name with template
// arguments inside of an unresolved one ("sr") is nothing that can be referred
// to, but the library counts it. So the references behind it, to what comes
// after it, are raised by one.
func renumbered(name string) string {
	at := 0
	for range maxUnresolved {
		i := strings.Index(name[at:], "sr")
		if i < 0 || len(name) > maxRaised {
			return name
		}
		at += i + 2
		for end := at; end < len(name) && isDigit(name[end]); {
			length, start := sourceName(name, end)
			if length == 0 || start+length >= len(name) {
				break
			}
			if end = start + length; name[end] == 'I' {
				if first := counted(name[:at]); first >= 0 {
					name = name[:end] + raised(name[end:], first)
				}
				break
			}
		}
	}
	return name
}

// sourceName is the length of the name that begins with its length at a place,
// and where its letters start.
func sourceName(name string, at int) (length, start int) {
	start = at
	for start < len(name) && isDigit(name[start]) && start < at+5 {
		start++
	}
	length, _ = strconv.Atoi(name[at:start])
	if length > len(name)-start {
		length = 0
	}
	return length, start
}

// counted is how many parts can be referred to behind the start of a name:
// the library says which reference is the first one that leads nowhere.
func counted(start string) int {
	n := sort.Search(maxCounted, func(n int) bool {
		_, err := lib.ToString(start + reference(n) + "!")
		return err == nil || strings.Contains(err.Error(), "substitution")
	})
	if n == maxCounted {
		return -1
	}
	return n
}

// reference is the reference to part n.
func reference(n int) string {
	if n == 0 {
		return "S_"
	}
	return "S" + strings.ToUpper(strconv.FormatInt(int64(n-1), 36)) + "_"
}

// raised is a text with each reference from first on raised by one.
func raised(text string, first int) string {
	var out strings.Builder
	eachPart(text, func(part string, sort byte) {
		if sort == 'S' {
			n := 0
			if len(part) > 2 {
				i, _ := strconv.ParseInt(strings.ToLower(part[1:len(part)-1]), 36, 32)
				n = int(i) + 1
			}
			if n >= first {
				part = reference(n + 1)
			}
		}
		out.WriteString(part)
	})
	return out.String()
}
