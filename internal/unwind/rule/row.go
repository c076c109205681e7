package rule

import "encoding/binary"

// A Row has the compiled rules of a piece of code. An empty Row knows nothing.
//
//	0  1  kind
//	      CFI: for each rule a target (0 .cfa, 1 .ra, 2… a register) and its program
//	      Windows: uleb sizes of parameters, saved registers and locals, then flags
//	      and, of a row with a program, the program; a CFI row may follow
//
// A program is a list of instructions for a stack machine, ended by a zero.
type Row []byte

// The kinds of rows.
const (
	kindCFI     = 1
	kindFPO     = 2 // Windows, without a program
	kindProgram = 3 // Windows, with a program
)

// Flags of Windows rows.
const (
	flagBase  = 1 << iota // the function allocates the base pointer
	flagAlign             // the program aligns
)

// Targets of rules.
const (
	targetCFA = iota
	targetRA
	targetReg
	targets = targetReg + MaxRegisters
)

// Instructions.
const (
	opEnd   = iota
	opConst // zigzag number
	opReg   // register, zigzag number: their sum
	opCFA   // zigzag number: its sum with the frame address
	opVar   // variable of a Windows program
	opFail  // reason
	opLoad
	opAdd
	opSub
	opMul
	opDiv
	opMod
	opAlign
	opAssign // the top of the stack to the variable below it
	opRemove // the value of the variable at the top
)

// Limits of a row.
const (
	maxRow   = 4 << 10
	maxStack = 64
	maxVars  = 64
)

// IsWindows reports whether r has the sizes of a frame of 32-bit Windows, and
// whether it has a program.
func (r Row) IsWindows() (isWindows, hasProgram bool) {
	if len(r) == 0 {
		return false, false
	}
	return r[0] == kindFPO || r[0] == kindProgram, r[0] == kindProgram
}

// Params returns the size of the parameters of a function of 32-bit Windows,
// zero if it is not known.
func (r Row) Params() uint32 {
	if ok, _ := r.IsWindows(); !ok {
		return 0
	}
	n, _ := binary.Uvarint(r[1:])
	return uint32(n)
}

// sizes has the numbers of a Windows row.
type sizes struct {
	params, saved, locals uint32
	flags                 uint8
}

// windows returns the sizes of a Windows row and the bytes after them.
func (r Row) windows() (s sizes, rest []byte, ok bool) {
	rest = r[1:]
	for _, v := range [...]*uint32{&s.params, &s.saved, &s.locals} {
		n, used := binary.Uvarint(rest)
		if used <= 0 {
			return s, nil, false
		}
		*v, rest = uint32(n), rest[used:]
	}
	if len(rest) == 0 {
		return s, nil, false
	}
	s.flags = rest[0]
	return s, rest[1:], true
}
