package extract

import (
	"bytes"

	"symbolon/internal/demangle"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Limits of handles, and of bytes of texts; when one is exceeded, all texts are
// dropped before the next block.
var (
	maxTexts = 1 << 20
	maxBytes = 64 << 20
)

// texts has the names and files of the trees, by number. Number zero is the
// absence of a text.
type texts struct {
	obj   *object.Object
	read  *object.Names
	names map[sym.Text]uint32
	files map[sym.Text]uint32
	known map[string]uint32
	all   [][]byte
	size  int // bytes of all texts
	buf   []byte
	plain []byte
}

func newTexts(obj *object.Object) *texts {
	t := &texts{obj: obj, read: obj.Names()}
	t.forget()
	return t
}

// forget drops all texts. There must be no open tree.
func (t *texts) forget() {
	t.names, t.files, t.known = map[sym.Text]uint32{}, map[sym.Text]uint32{}, map[string]uint32{}
	t.all, t.size = append(t.all[:0], nil), 0
}

// full reports whether a limit is exceeded.
func (t *texts) full() bool { return len(t.names)+len(t.files) > maxTexts || t.size > maxBytes }

// name returns the number of a function's demangled name.
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

// path returns the number of a file; zero without one.
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

// text returns the text of a number, nil for zero.
func (t *texts) text(id uint32) []byte { return t.all[id] }

// withoutClone removes the suffixes that compilers add to the names of
// functions derived from others.
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
