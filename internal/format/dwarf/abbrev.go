package dwarf

// Tags that the package interprets.
const (
	tagArray, tagClass, tagEnumeration, tagStructure, tagSubroutine = 0x01, 0x02, 0x04, 0x13, 0x15
	tagUnion, tagInlined, tagModule, tagSubprogram, tagInterface    = 0x17, 0x1d, 0x1e, 0x2e, 0x38
	tagNamespace, tagPartialUnit, tagCallSite, tagGNUCallSite       = 0x39, 0x3c, 0x48, 0x4109
)

// Attributes that the package interprets.
const (
	attrSibling, attrName, attrStmtList, attrLowPC, attrHighPC      = 0x01, 0x03, 0x10, 0x11, 0x12
	attrLanguage, attrCompDir, attrProducer, attrAbstractOrigin     = 0x13, 0x1b, 0x25, 0x31
	attrSpecification, attrEntryPC, attrRanges, attrCallColumn      = 0x47, 0x52, 0x55, 0x57
	attrCallFile, attrCallLine, attrSignature, attrLinkageName      = 0x58, 0x59, 0x69, 0x6e
	attrStrOffsetsBase, attrAddrBase, attrRnglistsBase, attrDwoName = 0x72, 0x73, 0x74, 0x76
	attrLanguageName, attrMIPSLinkage, attrGNUDwoName, attrGNUDwoID = 0x90, 0x2007, 0x2130, 0x2131
	attrGNURangesBase, attrGNUAddrBase                              = 0x2132, 0x2133
)

const (
	maxAttributes    = 100     // in an abbreviation
	maxAbbreviations = 1 << 20 // in a table
)

// Flags of an abbreviation. DIEs without any are skipped by adding their size.
const (
	hasChildren = 1 << iota // 1: run adds it to the depth
	hasSteps                // not all sizes are fixed
	hasKind                 // it has a kind other than kindPlain
	isDamaged               // an unknown form, or too many attributes
	skipAlways              // has a sibling, and no code below it in any language
	skipInCpp               // the same for C and C++
	skipInC                 // the same for C
	isCode                  // a function or call that may have code
)

// Kinds of DIEs.
const (
	kindPlain      = iota
	kindFunc       // a subprogram that may have code
	kindInline     // an inlined subroutine that may have code
	kindSubprogram // a subprogram without code, with children
	kindScope      // a namespace or a type, with children
)

// Slots of captured values.
const (
	slotNone = iota
	slotLow
	slotHigh
	slotRanges
	slotEntry
	slotOrigin
	slotSpec
	slotName
	slotLinkage
	slotFile
	slotLine
	slotColumn
	slotSibling
	slots
)

// pcSlots are the slots that indicate code.
const pcSlots = 1<<slotLow | 1<<slotRanges

// entry is a compiled abbreviation, which allows DIEs to be skipped quickly.
type entry struct {
	size    int32 // bytes of all attributes, without hasSteps
	flags   uint8
	kind    uint8
	tag     uint16
	step    uint32 // index of the first step
	capture uint32 // index of the first capturing step; only of functions and calls
	steps   uint16
	caps    uint16
	spec    uint32 // offset in the table of its list of attributes
	sib     int32  // offset in the DIE of DW_AT_sibling, without hasSteps
	sibForm uint8
}

// flagsC and flagsCpp are the flags of DIEs that are skipped in these
// languages.
const (
	flagsC   = skipAlways | skipInCpp | skipInC
	flagsCpp = skipAlways | skipInCpp
)

// step is a value that must be examined, with the distance to it.
type step struct {
	before int32 // bytes of fixed size before it
	form   uint8 // formNone: the end of the list
	slot   uint8
	size   int8   // of the form
	value  uint64 // of formImplicit and formFlagPresent
}

// table has the abbreviations of a unit.
type table struct {
	b       []byte // the table in the section
	first   uint64 // code of entries[0]
	entries []entry
	sparse  map[uint64]*entry // those whose codes are out of order
	steps   []step            // for skipping DIEs
	caps    []step            // for capturing attributes
	l       layout
}

// find returns the abbreviation of a code, or nil.
func (t *table) find(code uint64) *entry {
	if i := code - t.first; i < uint64(len(t.entries)) {
		return &t.entries[i]
	}
	return t.sparse[code]
}

// compile reads the table at the start of b for units of layout l. A damaged
// table ends at the damage.
func (t *table) compile(b []byte, l layout) {
	t.b, t.l = b, l
	t.entries, t.sparse, t.steps, t.caps = t.entries[:0], nil, t.steps[:0], t.caps[:0]
	for p := 0; len(t.entries)+len(t.sparse) < maxAbbreviations; {
		var code, tag uint64
		code, p = uleb(b, p)
		if p < 0 || code == 0 {
			return
		}
		tag, p = uleb(b, p)
		if p < 0 || p >= len(b) {
			return
		}
		e := entry{tag: uint16(min(tag, 0xffff)), spec: uint32(p + 1)}
		if b[p] != 0 {
			e.flags = hasChildren
		}
		if p = t.compileEntry(&e, p+1); p < 0 {
			return
		}
		if len(t.entries) == 0 {
			t.first = code
		}
		if code-t.first == uint64(len(t.entries)) {
			t.entries = append(t.entries, e)
		} else if t.find(code) == nil {
			if t.sparse == nil {
				t.sparse = make(map[uint64]*entry)
			}
			kept := e
			t.sparse[code] = &kept
		}
	}
}

// compileEntry compiles the list of attributes at p and returns the offset
// after it. It makes up to two lists of steps: one to skip a DIE, which stops at
// values of variable size and at the sibling; one for a function or a call,
// which stops at the values to capture as well. Of an attribute that occurs
// twice, the first one counts.
func (t *table) compileEntry(e *entry, p int) int {
	var fixed, before, capBefore int // bytes: in all, since the last step, since the last capturing one
	seen, skip, slotted := uint32(0), skipFlags(e), e.tag == tagSubprogram || e.tag == tagInlined
	e.step, e.capture = uint32(len(t.steps)), uint32(len(t.caps))
	for n := 0; ; n++ {
		var attr, num, value uint64
		attr, p = uleb(t.b, p)
		if num, p = uleb(t.b, p); p < 0 {
			return -1
		}
		if attr == 0 && num == 0 {
			break
		}
		form := formByte(num)
		if form == formImplicit {
			if value, p = sleb(t.b, p); p < 0 {
				return -1
			}
		}
		size := t.l.size(form)
		if size == sizeUnknown || n >= maxAttributes {
			e.flags |= isDamaged
			continue
		}
		if form == formFlagPresent {
			value = 1
		}
		slot := uint8(slotNone)
		if slotted {
			if slot = slotOf(attr); seen>>slot&1 != 0 {
				slot = slotNone
			}
			seen |= 1 << slot
			if slot != slotNone || size == sizeVaries {
				t.caps = append(t.caps, step{before: int32(capBefore), form: form, slot: slot, size: int8(size), value: value})
				capBefore = 0
			} else {
				capBefore += size
			}
		}
		sibling := attr == attrSibling && skip != 0 && form >= formRef1 && form <= formRefUdata && e.sibForm == 0
		if sibling {
			e.sib, e.sibForm = int32(fixed), form
			e.flags |= skip
		}
		if sibling || size == sizeVaries {
			s := step{before: int32(before), form: form}
			if sibling {
				s.slot = slotSibling
			}
			t.steps = append(t.steps, s)
			before = 0
		} else {
			before += size
		}
		if size == sizeVaries {
			e.flags |= hasSteps
		} else {
			fixed += size
		}
	}
	t.finish(e, fixed, before, capBefore, seen&pcSlots != 0)
	return p
}

// finish ends the lists of steps of e and sets its kind.
func (t *table) finish(e *entry, fixed, before, capBefore int, code bool) {
	e.size = int32(fixed)
	if e.flags&hasSteps == 0 {
		t.steps = t.steps[:e.step]
	} else {
		t.steps = append(t.steps, step{before: int32(before)})
		e.steps = uint16(len(t.steps) - int(e.step))
	}
	switch {
	case e.tag == tagSubprogram && code:
		e.kind = kindFunc
	case e.tag == tagInlined && (code || e.flags&hasChildren != 0):
		e.kind = kindInline
	case e.flags&hasChildren == 0:
	case e.tag == tagSubprogram:
		e.kind = kindSubprogram
	case isScope(e.tag):
		e.kind = kindScope
	}
	if e.tag == tagSubprogram || e.tag == tagInlined {
		t.caps = append(t.caps, step{before: int32(capBefore)})
		e.caps = uint16(len(t.caps) - int(e.capture))
	}
	if e.kind == kindFunc || e.kind == kindInline {
		e.flags |= isCode
	}
	if e.kind != kindPlain {
		e.flags |= hasKind
	}
}

// isScope reports whether DIEs of this tag qualify the names below them.
func isScope(tag uint16) bool {
	switch tag {
	case tagNamespace, tagClass, tagStructure, tagUnion, tagEnumeration, tagInterface, tagModule:
		return true
	}
	return false
}

// skipFlags returns in which languages a DIE with a sibling and without code of
// its own has no code below it either. In C++, classes contain functions, and
// abstract instances contain local classes.
func skipFlags(e *entry) uint8 {
	if e.flags&hasChildren == 0 {
		return 0
	}
	switch e.tag {
	case tagArray, tagSubroutine, tagCallSite, tagGNUCallSite:
		return skipAlways
	case tagEnumeration:
		return skipInCpp
	case tagStructure, tagUnion, tagSubprogram:
		return skipInC
	}
	return 0
}

// slotOfAttr maps an attribute below 0x80 to its slot.
var slotOfAttr = [0x80]uint8{
	attrLowPC:          slotLow,
	attrHighPC:         slotHigh,
	attrRanges:         slotRanges,
	attrEntryPC:        slotEntry,
	attrAbstractOrigin: slotOrigin,
	attrSpecification:  slotSpec,
	attrName:           slotName,
	attrLinkageName:    slotLinkage,
	attrCallFile:       slotFile,
	attrCallLine:       slotLine,
	attrCallColumn:     slotColumn,
}

// slotOf returns the slot that captures an attribute of a function or call.
func slotOf(attr uint64) uint8 {
	switch {
	case attr == attrMIPSLinkage:
		return slotLinkage
	case attr >= uint64(len(slotOfAttr)):
		return slotNone
	}
	return slotOfAttr[attr]
}
