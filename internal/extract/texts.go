package extract

import (
	"bytes"

	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// From so many handles, or bytes of texts, on all are forgotten when a block
// begins.
var (
	maxTexts = 1 << 20
	maxBytes = 64 << 20
)

// texts are the names and files of the trees, by number. No text is number
// zero.
type texts struct {
	obj   *object.Object
	read  *object.Names
	names map[sym.Text]uint32
	files map[sym.Text]uint32
	known map[string]uint32
	all   [][]byte
	size  int // bytes in all
	buf   []byte
	plain []byte
}

func newTexts(obj *object.Object) *texts {
	t := &texts{obj: obj, read: obj.Names()}
	t.forget()
	return t
}

// forget drops all texts. No tree may be open.
func (t *texts) forget() {
	t.names, t.files, t.known = map[sym.Text]uint32{}, map[sym.Text]uint32{}, map[string]uint32{}
	t.all, t.size = append(t.all[:0], nil), 0
}

// full says whether it is time to forget.
func (t *texts) full() bool { return len(t.names)+len(t.files) > maxTexts || t.size > maxBytes }

// name is the number of a function's name as people read it.
func (t *texts) name(text sym.Text) uint32 {
	if id, ok := t.names[text]; ok {
		return id
	}
	t.buf = t.read.AppendText(t.buf[:0], text)
	plain := t.buf
	if t.obj.Mangled() {
		t.plain = demangle.Append(t.plain[:0], withoutClone(t.buf), demangle.Bare)
		plain = t.plain
	}
	id := t.number(plain)
	t.names[text] = id
	return id
}

// path is the number of a file; zero if there is none.
func (t *texts) path(text sym.Text) uint32 {
	if text == 0 {
		return 0
	}
	if id, ok := t.files[text]; ok {
		return id
	}
	t.buf = t.read.AppendText(t.buf[:0], text)
	id := uint32(0)
	if len(t.buf) > 0 {
		id = t.number(t.buf)
	}
	t.files[text] = id
	return id
}

func (t *texts) number(text []byte) uint32 {
	if id, ok := t.known[string(text)]; ok {
		return id
	}
	id := uint32(len(t.all))
	t.all = append(t.all, bytes.Clone(text))
	t.known[string(text)] = id
	t.size += len(text)
	return id
}

// text is nil for number zero.
func (t *texts) text(id uint32) []byte { return t.all[id] }

// withoutClone takes off what compilers put behind the names of functions that
// they made of others.
func withoutClone(name []byte) []byte {
	for _, mark := range [...]string{".clone.", ".constprop.", ".llvm.", ".isra.", ".part."} {
		i := bytes.LastIndex(name, []byte(mark))
		if i <= 0 {
			continue
		}
		number := name[i+len(mark):]
		if dot := bytes.IndexByte(number, '.'); dot >= 0 {
			number = number[:dot]
		}
		if len(number) > 0 && len(bytes.Trim(number, "0123456789")) == 0 {
			name = name[:i]
		}
	}
	if cut, ok := bytes.CutSuffix(name, []byte(".cold")); ok && len(cut) > 0 {
		name = cut
	}
	return name
}
