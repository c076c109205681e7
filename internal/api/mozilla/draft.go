package mozilla

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/api/json"
	"symbolon/internal/symbolicate"
)

// draft is a payload in the making. Members of a job come in any order, and
// the last of several with one name counts, so a job is judged at its end.
// Until then its frames carry indexes into its own memoryMap.
type draft struct {
	*json.Decoder
	is      dialect
	p       payload
	known   map[[2]string]int32 // index of each module, by file and id; nil: they are few
	count   int                 // elements of "jobs"
	refused string              // what is wrong with the first bad job

	at     job // where the present job begins
	frames int
	odd    int
	stacks member
	maps   member
	texts  [3][]byte // file, id and code id of the module that is being read
}

// member is what is known of a member of the present job.
type member struct {
	there bool
	wrong string // the first thing that is wrong in it
}

func newDraft(s *json.Decoder, is dialect) *draft {
	return &draft{Decoder: s, is: is}
}

func (b *draft) beginJob() {
	b.at = job{stacks: span{from: len(b.p.stacks)}, maps: span{from: len(b.p.maps)}}
	b.frames, b.odd = len(b.p.req.Frames), len(b.p.odd)
	b.stacks, b.maps = member{}, member{}
}

// endJob judges the job and takes it over if it is good.
func (b *draft) endJob(wrongVersion bool) {
	switch {
	case !b.stacks.there:
		b.refuse(`Missing key JSON "'stacks'"`, " is invalid: ", "no stacks specified")
	case !b.maps.there:
		b.refuse(`Missing key JSON "'memoryMap'"`, " is invalid: ", "no memoryMap specified")
	case wrongVersion:
		b.refused = "Expect version==4"
	case b.maps.wrong != "":
		b.refuse(b.maps.wrong, " has invalid modules: ", b.maps.wrong)
	default:
		if wrong := b.settle(); wrong != "" {
			b.refuse(wrong, " has invalid stacks: ", wrong)
			return
		}
		b.at.stacks.to, b.at.maps.to = len(b.p.stacks), len(b.p.maps)
		b.p.jobs = append(b.p.jobs, b.at)
	}
}

func (b *draft) refuse(tecken, intro, wrong string) {
	b.refused = b.is.either(tecken, "job "+strconv.Itoa(len(b.p.jobs))+intro+wrong)
}

// settle gives the frames of the job their modules, and says what is wrong
// with the stacks. The frames that were kept come before stacks.wrong.
func (b *draft) settle() string {
	modules := b.p.maps[b.at.maps.from:]
	frames := b.p.req.Frames
	k := b.frames
	for i, end := range b.p.stacks[b.at.stacks.from:] {
		for from := k; k < int(end); k++ {
			m := frames[k].Module
			if m < -1 || int(m) >= len(modules) {
				return fmt.Sprintf("stack %d frame %d has a module_index that isn't in modules", i, k-from)
			}
			if m >= 0 {
				frames[k].Module = modules[m]
			}
		}
	}
	for _, o := range b.p.odd[b.odd:] {
		if o.bare {
			frames[o.frame].Module = -1
		}
	}
	return b.stacks.wrong
}

// readMap reads the value of "memoryMap".
func (b *draft) readMap() {
	b.maps = member{there: true}
	b.p.maps = b.p.maps[:b.at.maps.from]
	if b.Peek() != '[' {
		b.Skip()
		b.maps.wrong = "modules must be a list"
		return
	}
	b.Enter()
	for n := 0; b.Next(&n); {
		if b.maps.wrong != "" {
			b.Skip()
		} else if wrong := b.readModule(); wrong != "" {
			b.maps.wrong = "module index " + strconv.Itoa(n-1) + wrong
		}
	}
}

func (b *draft) readModule() (wrong string) {
	const shape = " does not have a debug_filename and debug_id"
	if b.Peek() != '[' {
		b.Skip()
		return shape
	}
	var isText [3]bool
	b.texts[2] = b.texts[2][:0]
	usual := b.MaxString
	defer func() { b.MaxString = usual }()
	b.Enter()
	n := 0
	for b.Next(&n) {
		if b.Peek() != '"' || n > len(b.texts) {
			b.Skip()
			continue
		}
		if b.MaxString = usual; n <= 2 && !b.is.strict() {
			b.MaxString = math.MaxInt // the answer repeats it
		}
		b.ReadString(true)
		isText[n-1] = !b.Truncated || n == 3 // the beginning of a code id shows that it is too long
		b.texts[n-1], b.Text = b.Text, b.texts[n-1]
	}
	file, id := b.texts[0], b.texts[1]
	switch {
	case n != 2 && (n != 3 || b.is.tecken || b.is.limits.Strict):
		return shape
	case !isText[0] || b.is.strict() && !every(file, &fileNames):
		return " has an invalid debug_filename"
	case !isText[1] || b.is.strict() && !every(id, &hexDigits):
		return " has an invalid debug_id"
	case n == 3 && !isText[2]:
		return " has an invalid code_id"
	case b.is.tecken && utf8.RuneCount(file) > 1024:
		return ": module name too long"
	case b.is.tecken && bytes.IndexByte(file, 0) >= 0:
		return ": module_name contains null-byte"
	}
	b.addModule()
	return ""
}

// addModule appends the module that was read to the memoryMap. Of several with
// one name and id the first code id counts.
func (b *draft) addModule() {
	i, known := b.find()
	if !known {
		if most := b.is.limits.MaxModules; most >= 0 && len(b.p.modules) >= most {
			b.tooMany("modules", most)
			return
		}
		i = int32(len(b.p.modules))
		m := module{file: string(b.texts[0]), id: string(b.texts[1])}
		b.p.modules = append(b.p.modules, m)
		if b.known != nil {
			b.known[[2]string{m.file, m.id}] = i
		}
	}
	if m := &b.p.modules[i]; m.code == "" {
		m.code = string(b.texts[2])
	}
	b.p.maps = append(b.p.maps, i)
}

// few is up to how many modules are looked through one by one.
const few = 16

// find is the index of the module that was read, if it has one.
func (b *draft) find() (i int32, known bool) {
	if len(b.p.modules) <= few {
		for i, m := range b.p.modules {
			if m.file == string(b.texts[0]) && m.id == string(b.texts[1]) {
				return int32(i), true
			}
		}
		return 0, false
	}
	if b.known == nil {
		b.known = map[[2]string]int32{}
		for i, m := range b.p.modules {
			b.known[[2]string{m.file, m.id}] = int32(i)
		}
	}
	i, known = b.known[[2]string{string(b.texts[0]), string(b.texts[1])}]
	return i, known
}

// fileNames and hexDigits are the bytes that Eliot allows in a debug file name
// and a debug id.
var (
	fileNames = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+{}@<> ~-")
	hexDigits = set("0123456789abcdefABCDEF")
)

func set(chars string) (t [256]bool) {
	for i := range len(chars) {
		t[chars[i]] = true
	}
	return t
}

func every(text []byte, in *[256]bool) bool {
	for _, c := range text {
		if !in[c] {
			return false
		}
	}
	return true
}

// readStacks reads the value of "stacks".
func (b *draft) readStacks() {
	b.stacks = member{there: true}
	b.p.stacks = b.p.stacks[:b.at.stacks.from]
	b.p.req.Frames, b.p.odd = b.p.req.Frames[:b.frames], b.p.odd[:b.odd]
	if b.Peek() != '[' {
		b.Skip()
		b.stacks.wrong = "stacks must be a list of lists"
		return
	}
	b.Enter()
	n := 0
	for b.Next(&n) {
		switch most := b.is.limits.MaxFrames; {
		case b.stacks.wrong != "":
			b.Skip()
		case b.Peek() != '[':
			b.Skip()
			b.stacks.wrong = fmt.Sprintf("stack %d is not a list", n-1)
		case most >= 0 && len(b.p.stacks) >= most:
			b.tooMany("stacks", most)
		default:
			b.readStack(n - 1)
			b.p.stacks = append(b.p.stacks, int32(len(b.p.req.Frames)))
		}
	}
	if n == 0 && !b.is.tecken {
		b.stacks.wrong = "no stacks specified"
	}
}

func (b *draft) readStack(stack int) {
	b.Enter()
	for n := 0; b.Next(&n); {
		if b.stacks.wrong != "" {
			b.Skip()
		} else if wrong := b.readFrame(); wrong != "" {
			b.stacks.wrong = fmt.Sprintf("stack %d frame %d%s", stack, n-1, wrong)
		}
	}
}

// readFrame reads a frame and keeps it, even if its offset is wrong: what is
// wrong with its index would come before.
func (b *draft) readFrame() (wrong string) {
	const shape = " is not a list of two items"
	if b.Peek() != '[' {
		b.Skip()
		return shape
	}
	b.Enter()
	var f symbolicate.Frame
	var o odd
	var indexed, placed bool
	n := 0
	for b.Next(&n) {
		switch n {
		case 1:
			f.Module, indexed = b.readIndex()
		case 2:
			f.Addr, placed = b.readOffset(&o)
		default:
			b.Skip()
		}
	}
	switch {
	case n != 2:
		return shape
	case !indexed:
		return " has an invalid module_index"
	}
	if most := b.is.limits.MaxFrames; most >= 0 && len(b.p.req.Frames) >= most {
		b.tooMany("frames", most)
		return ""
	}
	if o.offset != "" {
		o.frame = len(b.p.req.Frames)
		b.p.odd = append(b.p.odd, o)
	}
	b.p.req.Frames = append(b.p.req.Frames, f)
	if !placed {
		return " has an invalid module_offset"
	}
	return ""
}

// readIndex reads an index into the memoryMap. One that cannot be valid is
// given as one that is not.
func (b *draft) readIndex() (index int32, ok bool) {
	c := b.Peek()
	v, ok := b.SmallInt()
	if !ok {
		lit, kind := b.readNumber(c)
		if kind != integer {
			return 0, false
		}
		v, _ = strconv.ParseInt(string(lit), 10, 64) // one that is too long is as far as it goes
	}
	if b.is.tecken && v < 0 {
		v = -1
	}
	return int32(min(max(v, -2), math.MaxInt32)), true
}

// numberKind is what a number is good for.
type numberKind int

const (
	noNumber numberKind = iota
	integer
	fraction // written with a point or an exponent, whatever its value
	endless  // an integer of more than maxDigits
)

// maxDigits is how long an integer may be; Eliot's runtime has the same bound.
const maxDigits = 4300

// readNumber reads a value that begins with c. The literal is valid until the
// next read.
func (b *draft) readNumber(c byte) (literal []byte, kind numberKind) {
	if c != '-' && (c < '0' || c > '9') {
		b.Skip()
		return nil, noNumber
	}
	literal, whole := b.ReadNumber()
	switch {
	case !whole:
		return literal, fraction
	case len(bytes.TrimPrefix(literal, []byte("-"))) > maxDigits:
		return literal, endless
	}
	return literal, integer
}

// nowhere is the address of frames that name a module and no place in it: the
// module is looked up, the answer to the frame is not used.
const nowhere = math.MaxUint64

// readOffset reads an offset. One that is no address goes to o.
func (b *draft) readOffset(o *odd) (addr uint64, ok bool) {
	c := b.Peek()
	if v, ok := b.SmallInt(); ok {
		return b.place(v, o)
	}
	lit, kind := b.readNumber(c)
	switch {
	case kind == fraction && b.is.tecken:
		o.offset, o.bare = string(lit), true
		return nowhere, true
	case kind != integer:
		return nowhere, false
	}
	if v, err := strconv.ParseInt(string(lit), 10, 64); err == nil {
		return b.place(v, o)
	}
	if addr, err := strconv.ParseUint(string(lit), 10, 64); err == nil {
		return addr, true
	}
	if c == '-' && !b.is.tecken {
		return nowhere, false
	}
	o.offset = hexText(lit)
	return nowhere, true
}

// place says what an offset of usual size is good for.
func (b *draft) place(v int64, o *odd) (addr uint64, ok bool) {
	switch {
	case v >= 0:
		return uint64(v), true
	case v == -1:
		o.offset = "-0x1"
	case b.is.tecken:
		o.offset = "-0x" + strconv.FormatUint(-uint64(v), 16)
	default:
		return nowhere, false
	}
	return nowhere, true
}

// hexText is an integer of any length as the answer shows it.
func hexText(decimal []byte) string {
	v, _ := new(big.Int).SetString(string(decimal), 10)
	if v.Sign() < 0 {
		return "-0x" + v.Neg(v).Text(16)
	}
	return "0x" + v.Text(16)
}
