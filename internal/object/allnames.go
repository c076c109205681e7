package object

import "symbolon/internal/sym"

const (
	// nameTimes and nameRoom bound the strings of a file together: so many times
	// its size, and so many bytes. Files of compilers stay below their size.
	nameTimes = 16
	nameRoom  = 32 << 20
)

// Names resolves the texts of all Blocks of an object. Strings may share their bytes in
// the file, as the names in one namespace do, and together be thousands of times as long
// as the file. So Names has a limit in proportion to the file and omits the rest, which
// Info counts. It belongs to one goroutine.
type Names struct {
	object  *Object
	left    int64
	leftOut uint64
}

// Names returns Names with the whole bound.
func (o *Object) Names() *Names {
	return &Names{object: o, left: nameTimes*o.size + nameRoom}
}

// AppendText appends the string of a handle to dst, a remark if it is left out.
func (n *Names) AppendText(dst []byte, t sym.Text) []byte {
	if n.left < 0 && t != 0 {
		n.leftOut++
		n.object.leftOut.Store(n.leftOut)
		return append(dst, "<name left out>"...)
	}
	from := len(dst)
	dst = n.object.AppendText(dst, t)
	n.left -= int64(len(dst) - from)
	return dst
}

// LeftOut returns how many strings were left out.
func (n *Names) LeftOut() uint64 { return n.leftOut }
