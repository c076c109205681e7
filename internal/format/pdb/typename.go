package pdb

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strconv"

	"symbolon/internal/bin"
)

// Kinds of type and item records that are needed for names. Names of those with
// ST have a length before them.
const (
	leafModifier    = 0x1001
	leafPointer     = 0x1002
	leafArrayST     = 0x1003
	leafClassST     = 0x1004
	leafStructST    = 0x1005
	leafUnionST     = 0x1006
	leafEnumST      = 0x1007
	leafProcedure   = 0x1008
	leafMemberProc  = 0x1009
	leafArgs        = 0x1201
	leafArray       = 0x1503
	leafClass       = 0x1504
	leafStruct      = 0x1505
	leafUnion       = 0x1506
	leafEnum        = 0x1507
	leafAlias       = 0x150a
	leafInterface   = 0x1519
	leafFuncID      = 0x1601
	leafMemberID    = 0x1602
	leafStringID    = 0x1605
	leafClass19     = 0x1608
	leafStruct19    = 0x1609
	leafInterface19 = 0x160b
)

const (
	// maxTypeDepth limits the nesting of types.
	maxTypeDepth = 32
	// maxTypeWork limits the records that a name may need.
	maxTypeWork = 4096
	// maxTypeName limits the length of a name.
	maxTypeName = 16 << 10
)

// speller writes the name of a function with its arguments.
type speller struct {
	f     *File
	out   []byte
	from  int // start in out
	work  int
	depth int
	bufs  [maxTypeDepth][]byte // buffers of records, by depth
	bad   bool                 // a limit was exceeded, or a record is invalid
}

// open reads the record of a number, unless a limit is exceeded.
func (s *speller) open(t *table, number uint32) (record, bool) {
	s.work++
	if s.depth >= maxTypeDepth || s.work > maxTypeWork || len(s.out)-s.from > maxTypeName {
		s.bad = true
		return record{}, false
	}
	return t.record(number, &s.bufs[s.depth])
}

func (s *speller) add(text string) { s.out = append(s.out, text...) }

// kindUnknown is the text of symbolic for a record that is not a type.
const kindUnknown = "unimplemented type kind"

// unknown writes the replacement of a type without a name.
func (s *speller) unknown(what string, number uint32) {
	s.add("<" + what + " 0x")
	s.out = append(strconv.AppendUint(s.out, uint64(number), 16), '>')
}

// AppendProc appends the name of a procedure, given the offset of its record in
// those of all modules, with its arguments if they are known.
func (f *File) AppendProc(dst []byte, rec int64) []byte {
	var head [4]byte
	module := sort.Search(len(f.Modules), func(i int) bool { return f.Modules[i].base > rec }) - 1
	if module < 0 {
		return dst
	}
	m := &f.Modules[module]
	rec -= m.base
	stream := f.msf.stream(int(m.stream))
	b, err := stream.Bytes(rec, len(head), head[:])
	if err != nil {
		return dst
	}
	var room [512]byte
	data, err := stream.Bytes(rec, int(binary.LittleEndian.Uint16(b))+2, room[:])
	if err != nil {
		return dst
	}
	for r := range records(data, 0) {
		if p, ok := r.procedure(); ok {
			return f.appendSigned(dst, module, p)
		}
	}
	return dst
}

// appendSigned appends the name of a procedure and its arguments.
func (f *File) appendSigned(dst []byte, module int, p procedure) []byte {
	from := len(dst)
	if dst = append(dst, p.name...); len(p.name) == 0 {
		dst = append(dst, "<name omitted>"...)
	}
	if p.typ == 0 {
		return dst
	}
	if p.typ&crossModule != 0 {
		p.typ = f.resolve(f.importsOf(module), p.typ)
	}
	s := speller{f: f, out: dst, from: from}
	typ := p.typ
	if p.item {
		r, ok := s.open(f.items, typ)
		if !ok || r.kind != leafFuncID && r.kind != leafMemberID || len(r.data) < 8 {
			return dst
		}
		typ = binary.LittleEndian.Uint32(r.data[4:])
	}
	if s.signature(typ); s.bad {
		return dst
	}
	return s.out
}

// AppendItem appends the name of an inlined function.
func (f *File) AppendItem(dst []byte, item uint32) []byte {
	s := speller{f: f, out: dst, from: len(dst)}
	typ := s.function(item)
	plain := len(s.out)
	if typ != 0 {
		if s.signature(typ); s.bad {
			s.out = s.out[:plain]
		}
	}
	return s.out
}

// function writes the name of an item, and returns its type.
func (s *speller) function(item uint32) (typ uint32) {
	r, ok := s.open(s.f.items, item)
	if !ok || len(r.data) < 4 {
		s.unknown("missing type", item)
		return 0
	}
	s.depth++
	defer func() { s.depth-- }()
	first := binary.LittleEndian.Uint32(r.data)
	switch {
	case r.kind == leafStringID:
		s.stringID(r.data[4:])
	case r.kind == leafFuncID && len(r.data) > 8:
		if first != 0 {
			s.function(first)
			s.add("::")
		}
		s.name(r.data[8:])
		return binary.LittleEndian.Uint32(r.data[4:])
	case r.kind == leafMemberID && len(r.data) > 8:
		s.typ(first)
		s.add("::")
		s.name(r.data[8:])
		return binary.LittleEndian.Uint32(r.data[4:])
	default:
		s.unknown(kindUnknown, uint32(r.kind))
	}
	return 0
}

// stringID writes the name of a namespace.
func (s *speller) stringID(data []byte) {
	name := nameOf(data, false)
	if hash, ok := bytes.CutPrefix(name, []byte("?A0x")); ok {
		if _, err := strconv.ParseUint(string(hash), 16, 32); err == nil {
			s.add("`anonymous namespace'")
			return
		}
	}
	s.out = append(s.out, name...)
}

func (s *speller) name(data []byte) {
	name := nameOf(data, false)
	if len(name) == 0 {
		s.add("<name omitted>")
	}
	s.out = append(s.out, name...)
}

// routine is the type of a function.
type routine struct {
	result, class, this, args uint32
	attributes                uint8
}

// readRoutine reads the type of a function.
func readRoutine(r record) (t routine, ok bool) {
	c := bin.NewCursor(r.data, binary.LittleEndian)
	switch r.kind {
	case leafProcedure:
		t.result = c.U32()
	case leafMemberProc:
		t.result, t.class, t.this = c.U32(), c.U32(), c.U32()
	default:
		return t, false
	}
	c.U8() // calling convention
	t.attributes = c.U8()
	c.U16()
	t.args = c.U32()
	return t, c.Err() == nil
}

// signature writes the arguments of a function, and const if its receiver is
// const.
func (s *speller) signature(typ uint32) {
	r, ok := s.open(s.f.types, typ)
	if !ok {
		return
	}
	t, ok := readRoutine(r)
	if !ok {
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	constant := s.arguments(t)
	if constant {
		s.add(" const")
	}
}

// arguments writes the arguments of a function in parentheses, and reports
// whether its receiver is const.
func (s *speller) arguments(t routine) (constant bool) {
	s.add("(")
	own := false
	if t.this != 0 {
		constant, own = s.object(t)
		if !own { // Rust: the first argument replaces the receiver
			s.typ(t.this)
		}
	}
	s.list(t.args, t.this != 0 && !own)
	s.add(")")
	return constant
}

// object reports whether the receiver of a method is const, and whether it is
// of the method's class.
func (s *speller) object(t routine) (constant, own bool) {
	r, ok := s.open(s.f.types, t.this)
	if !ok || r.kind != leafPointer || len(r.data) < 8 {
		return false, false
	}
	to := binary.LittleEndian.Uint32(r.data)
	if to == t.class {
		return false, true
	}
	r, ok = s.open(s.f.types, to)
	if !ok || r.kind != leafModifier || len(r.data) < 6 || binary.LittleEndian.Uint32(r.data) != t.class {
		return false, false
	}
	return r.data[4]&modifierConst != 0, true
}

// list writes a list of arguments.
func (s *speller) list(args uint32, comma bool) {
	r, ok := s.open(s.f.types, args)
	if !ok || r.kind != leafArgs || len(r.data) < 4 {
		s.bad = true
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	data := r.data[4:]
	for n := binary.LittleEndian.Uint32(r.data); n > 0 && len(data) >= 4 && !s.bad; n, data = n-1, data[4:] {
		if comma {
			s.add(", ")
		}
		comma = true
		if typ := binary.LittleEndian.Uint32(data); typ != 0 {
			s.typ(typ)
			continue
		}
		s.add("...")
	}
}

const modifierConst = 1

// typ writes the name of a type.
func (s *speller) typ(number uint32) {
	if number < s.f.types.begin {
		s.primitive(number)
		return
	}
	r, ok := s.open(s.f.types, number)
	if !ok {
		if !s.bad {
			s.unknown("missing type", number)
		}
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	if name, ok := className(r); ok {
		s.out = append(s.out, name...)
		return
	}
	switch t, isRoutine := readRoutine(r); {
	case isRoutine:
		s.result(t)
		s.add("()")
		s.arguments(t)
	case r.kind == leafModifier && len(r.data) >= 6:
		s.modifier(r)
	case r.kind == leafPointer && len(r.data) >= 8:
		s.pointer(r, "")
	case (r.kind == leafArray || r.kind == leafArrayST) && len(r.data) >= 10:
		s.array(r)
	default:
		s.unknown(kindUnknown, uint32(r.kind))
	}
}

// className returns the name in a record of a class, union or enumeration.
func className(r record) ([]byte, bool) {
	at := 0
	switch r.kind {
	case leafEnum, leafEnumST:
		at = 12
	case leafClass, leafStruct, leafInterface, leafClassST, leafStructST:
		at = 16
	case leafUnion, leafUnionST:
		at = 8
	case leafAlias:
		at = 4
	case leafClass19, leafStruct19, leafInterface19:
		at = 18
	default:
		return nil, false
	}
	if at > len(r.data) {
		return nil, false
	}
	data := r.data[at:]
	if r.kind != leafEnum && r.kind != leafEnumST && r.kind != leafAlias {
		_, n := numeric(data)
		data = data[n:]
	}
	return nameOf(data, r.kind >= leafClassST && r.kind <= leafEnumST), true
}

// numeric returns the number at the start of data, and its length.
func numeric(data []byte) (v uint64, n int) {
	const coded = 0x8000
	if len(data) < 2 {
		return 0, len(data)
	}
	kind := binary.LittleEndian.Uint16(data)
	if kind < coded {
		return uint64(kind), 2
	}
	width := 0
	switch kind {
	case 0x8000:
		width = 1
	case 0x8001, 0x8002:
		width = 2
	case 0x8003, 0x8004:
		width = 4
	case 0x8009, 0x800a:
		width = 8
	}
	if len(data) < 2+width {
		return 0, len(data)
	}
	for i := range width {
		v |= uint64(data[2+i]) << (8 * i)
	}
	return v, 2 + width
}

// result writes the result type of a function, unless it is a constructor.
func (s *speller) result(t routine) {
	const constructor = 2
	if t.attributes&constructor == 0 {
		s.typ(t.result)
		s.add(" ")
	}
}

// modifier writes a const type: const follows a pointer, and precedes other
// types.
func (s *speller) modifier(r record) {
	number := binary.LittleEndian.Uint32(r.data)
	if r.data[4]&modifierConst == 0 {
		s.typ(number)
		return
	}
	if number < s.f.types.begin {
		if number&primitivePointer != 0 && number != nullptrType {
			s.primitive(number)
			s.add(" const")
			return
		}
	} else if to, ok := s.open(s.f.types, number); ok && to.kind == leafPointer && len(to.data) >= 8 {
		s.pointer(to, " const")
		return
	}
	s.add("const ")
	s.typ(number)
}

// array writes an array. The record has its size in bytes; the number of
// elements is known only if the size of an element is.
func (s *speller) array(r record) {
	var sizes []uint64
	for {
		size, _ := numeric(r.data[8:])
		sizes = append(sizes, size)
		of := binary.LittleEndian.Uint32(r.data)
		next, ok := s.open(s.f.types, of)
		if of >= s.f.types.begin && ok && (next.kind == leafArray || next.kind == leafArrayST) && len(next.data) >= 10 {
			r = next
			continue
		}
		if s.bad {
			return
		}
		s.typ(of)
		sizes = append(sizes, s.size(of))
		break
	}
	for i, size := range sizes[:len(sizes)-1] {
		s.add("[")
		if sizes[i+1] != 0 {
			s.out = strconv.AppendUint(s.out, size/sizes[i+1], 10)
		}
		s.add("]")
	}
}

// size returns the size of a type in bytes, 0 if it is unknown.
func (s *speller) size(number uint32) uint64 {
	for !s.bad {
		if number < s.f.types.begin {
			return s.primitiveSize(number)
		}
		r, ok := s.open(s.f.types, number)
		if !ok || len(r.data) < 4 {
			return 0
		}
		switch r.kind {
		case leafModifier:
			number = binary.LittleEndian.Uint32(r.data)
		case leafEnum, leafEnumST:
			if len(r.data) < 8 {
				return 0
			}
			number = binary.LittleEndian.Uint32(r.data[4:])
		case leafPointer:
			if len(r.data) < 8 {
				return 0
			}
			return uint64(binary.LittleEndian.Uint32(r.data[4:]) >> 13 & 0x3f)
		case leafClass, leafStruct, leafInterface, leafUnion:
			c, ok := readClass(r)
			if ok && c.options&classForward != 0 {
				return s.definedSize(c)
			}
			return c.size
		default:
			return 0
		}
	}
	return 0
}
