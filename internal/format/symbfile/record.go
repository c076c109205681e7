package symbfile

import "errors"

const magic = "symbfile"

// Types of messages.
const (
	typeHeader = 1
	typeRange  = 2
	typePad    = 3
	typeTable  = 4

	maxType = 1<<31 - 1
)

// Limits of all files, and of strict Readers.
const (
	maxMessage = 16 << 20
	maxFrames  = 1 << 20 // of a pad
	maxLines   = 1 << 22 // of a range

	strictFrames = 1024
	strictLines  = 1 << 20
	strictDepth  = 256     // deeper ones are not shown
	strictText   = 4 << 20 // of a record

	strictStrings = 1 << 20 // of a table
)

// Record is a Range or a Pad; the other field is nil.
type Record struct {
	Range *Range
	Pad   *Pad
}

// Range is a range of code with the function that it was compiled from.
type Range struct {
	VA, Length uint64
	Func       []byte // demangled; may be empty
	File       []byte // nil: unknown
	CallFile   []byte // nil: that of the enclosing range
	CallLine   uint32 // line of the call; 0: unknown
	Depth      uint32 // number of enclosing inlined calls
	Lines      []Line // in ascending order
}

// Line is the line of the code from an offset on.
type Line struct {
	Offset uint64 // from the VA of the range
	Line   uint32
}

// Pad is the trace of a return address.
type Pad struct {
	VA     uint64     // one before the return address
	Frames []PadFrame // outermost first
}

// PadFrame is a function in a Pad, and the position of its call of the next
// one.
type PadFrame struct {
	Func, File []byte // a File that is nil or empty is unknown
	Line       uint32 // 0: unknown
}

// ErrCut means that a file ends inside a message.
var ErrCut = errors.New("the file ends inside the message")

// Other errors of files.
var (
	errMagic    = errors.New("invalid magic")
	errVarint   = errors.New("number exceeds 10 bytes")
	errSize     = errors.New("message exceeds 16 MiB")
	errType     = errors.New("invalid message type")
	errStrings  = errors.New("string table exceeds a million strings")
	errHeader   = errors.New("the first message must be the header")
	errSecond   = errors.New("duplicate header")
	errField    = errors.New("field exceeds its message")
	errOverflow = errors.New("number exceeds 64 bits")
	errNumber   = errors.New("invalid field number")
	errWire     = errors.New("unexpected wire type of a field")
	errGroup    = errors.New("unterminated or mismatched group")
	errNested   = errors.New("groups are nested too deeply")
	errUTF8     = errors.New("invalid string: must be UTF-8")
	errNoVA     = errors.New("missing VA")
	errNoFunc   = errors.New("missing function")
	errNoPrev   = errors.New("relative VA without a previous record")
	errRef      = errors.New("invalid ref to the string table")
	errColumns  = errors.New("columns differ in length")
	errRows     = errors.New("too many rows")
	errLength   = errors.New("length exceeds 32 bits")
	errEnd      = errors.New("range exceeds the address space")
	errDepth    = errors.New("depth exceeds 256")
	errOffset   = errors.New("offset exceeds 32 bits")
	errText     = errors.New("text exceeds 4 MiB")
	errOrder    = errors.New("lines are not in ascending order")
)
