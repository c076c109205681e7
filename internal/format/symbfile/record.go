package symbfile

import "errors"

const magic = "symbfile"

// The types of messages.
const (
	typeHeader = 1
	typeRange  = 2
	typePad    = 3
	typeTable  = 4

	maxType = 1<<31 - 1
)

// The limits of every file, and of those that are read strictly.
const (
	maxMessage = 16 << 20
	maxFrames  = 1 << 20 // of a pad
	maxLines   = 1 << 22 // of a range

	strictFrames = 1024
	strictLines  = 1 << 20
	strictDepth  = 256     // more are not shown
	strictText   = 4 << 20 // of a record

	strictStrings = 1 << 20 // of a table
)

// Record is a Range or a Pad; the other one is nil.
type Record struct {
	Range *Range
	Pad   *Pad
}

// Range is a piece of code, and the function that it was compiled from.
type Range struct {
	VA, Length uint64
	Func       []byte // demangled; may be empty
	File       []byte // nil: unknown
	CallFile   []byte // nil: that of the range around it
	CallLine   uint32 // where it was inlined; 0: unknown
	Depth      uint32 // how often it was inlined
	Lines      []Line // in ascending order
}

// Line is the line of code from an offset on.
type Line struct {
	Offset uint64 // from the VA of the range
	Line   uint32
}

// Pad is the frames of a return address.
type Pad struct {
	VA     uint64     // one before the return address
	Frames []PadFrame // outermost first
}

// PadFrame is a function in a Pad, and where in it the next one is called.
type PadFrame struct {
	Func, File []byte // a File that is nil or empty is unknown
	Line       uint32 // 0: unknown
}

// ErrCut says that a file ends inside of a message.
var ErrCut = errors.New("the file ends inside of it")

// What else may be wrong with a file.
var (
	errMagic    = errors.New("it does not begin as a symbfile")
	errVarint   = errors.New("a number of more than 10 bytes")
	errSize     = errors.New("it has more than 16 MiB")
	errType     = errors.New("there is no such type")
	errStrings  = errors.New("a table of more than a million strings")
	errHeader   = errors.New("the first message is not the header")
	errSecond   = errors.New("there is a header already")
	errField    = errors.New("a field ends behind its message")
	errOverflow = errors.New("a number of more than 64 bits")
	errNumber   = errors.New("a field has a number that no field has")
	errWire     = errors.New("a field has another wire type than it should")
	errGroup    = errors.New("a group does not end, or not as it began")
	errNested   = errors.New("groups are too deep")
	errUTF8     = errors.New("a string is not UTF-8")
	errNoVA     = errors.New("it has no VA")
	errNoFunc   = errors.New("it has no function")
	errNoPrev   = errors.New("its VA is relative to none")
	errRef      = errors.New("it refers to a string that is not in the table")
	errColumns  = errors.New("its columns differ in length")
	errRows     = errors.New("it has too many rows")
	errLength   = errors.New("it is longer than 32 bits can tell")
	errEnd      = errors.New("it ends behind the last address")
	errDepth    = errors.New("it is inlined too deeply")
	errOffset   = errors.New("an offset has more than 32 bits")
	errText     = errors.New("it has too much text")
	errOrder    = errors.New("its lines are not in ascending order")
)
