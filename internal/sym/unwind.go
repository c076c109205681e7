package sym

// An UnwindKind is the kind of an Unwind record.
type UnwindKind uint8

const (
	UnwindBegin   UnwindKind = iota // all rules at the start of code of Size bytes
	UnwindChange                    // rules that replace those of the same registers from Addr on
	UnwindWindows                   // a frame of 32-bit Windows code of Size bytes
)

// An Unwind is a record of unwind information: how the registers of the caller
// are restored in a piece of code.
//
// Rules are a text of terms separated by blanks: the name of a register and a
// colon, then its value in postfix notation, as in
//
//	.cfa: $rsp 8 + .ra: .cfa -8 + ^
//
// where .cfa is the frame address, .ra the return address, ^ reads memory and @
// aligns. UnwindWindows has a program instead, which assigns registers, or
// nothing. The text is valid until the function that was called with it returns.
type Unwind struct {
	Kind    UnwindKind
	Addr    uint64
	Size    uint64 // zero for UnwindChange
	Rules   []byte
	Windows WindowsFrame // of UnwindWindows
}

// The types of a WindowsFrame that describe a frame.
const (
	WindowsPlain   = 0 // by its sizes
	WindowsProgram = 4 // by a program
)

// WindowsFrame has the sizes of a frame of 32-bit Windows, in bytes.
type WindowsFrame struct {
	Type   uint32
	Prolog uint32 // of code
	Epilog uint32 // of code
	Params uint32
	Saved  uint32 // registers
	Locals uint32
	Stack  uint32 // most bytes on the stack

	HasProgram bool // Rules are a program
	UsesBase   bool // the function allocates the base pointer; without a program only
}

// An UnwindBuffer collects the records of a piece of code whose size is not known
// before the last one.
type UnwindBuffer struct {
	Rules []byte // of the record that is written; each rule begins with a blank
	rows  []unwindRow
	u     Unwind // the record that Each yields
}

type unwindRow struct {
	addr uint64
	end  int // of its rules
}

// Reset removes all records.
func (b *UnwindBuffer) Reset() { b.Rules, b.rows = b.Rules[:0], b.rows[:0] }

// Add ends the record at addr, whose rules have been appended to Rules.
func (b *UnwindBuffer) Add(addr uint64) { b.rows = append(b.rows, unwindRow{addr, len(b.Rules)}) }

// Cut removes the rules that are not part of a record.
func (b *UnwindBuffer) Cut() { b.Rules = b.Rules[:b.start()] }

// IsBare reports whether the record that is written has no rules.
func (b *UnwindBuffer) IsBare() bool { return len(b.Rules) == b.start() }

// start returns the offset of the rules of the record that is written.
func (b *UnwindBuffer) start() int {
	if n := len(b.rows); n > 0 {
		return b.rows[n-1].end
	}
	return 0
}

// Each calls yield with the records of code that ends at an address, until it
// returns an error.
func (b *UnwindBuffer) Each(end uint64, yield func(*Unwind) error) error {
	from := 0
	for i, r := range b.rows {
		b.u = Unwind{Kind: UnwindChange, Addr: r.addr}
		if i == 0 {
			b.u.Kind, b.u.Size = UnwindBegin, end-r.addr
		}
		if from < r.end {
			b.u.Rules = b.Rules[from+1 : r.end]
		}
		from = r.end
		if err := yield(&b.u); err != nil {
			return err
		}
	}
	return nil
}
