package rule

import "encoding/binary"

// A Row has the compiled rules of a piece of code. An empty Row has no rules. It begins
// with its kind. A row of CFI has
//
//	rules    target (0 .cfa, 1 .ra, 2… registers), uleb length and program of each, by target
//
// and one of 32-bit Windows, which a row of CFI may follow that is used if it fails,
//
//	sizes    uleb bytes of parameters, of saved registers, of locals
//	flags    a byte
//	program  uleb length and program; only of rows with one
//
// A program has instructions for a stack machine: a byte and operands.
type Row []byte

// The kinds of rows.
const (
	kindCFI     = 1
	kindFrame   = 2 // Windows, without a program
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
	opConst     = iota // zigzag number
	opReg              // register, zigzag number: their sum
	opCFA              // zigzag number: its sum with the frame address
	opVar              // variable of a Windows program
	opUndefined        // a value that does not exist
	opLacking          // a register that the CPU lacks
	opAssign           // the top of the stack to the variable below it
	opRemove           // the value of the variable at the top
	opLoad
	opAdd
	opSub
	opMul
	opDiv
	opMod
	opAlign
)

// operators are the tokens of instructions from opLoad on.
const operators = "^+-*/%@"

// Limits of a row.
const (
	maxRow   = 4 << 10
	maxStack = 64
	maxVars  = 64
)

// Variables of programs of Windows. Those before have the numbers of registers.
const (
	varParams = iota + 16
	varCalleeParams
	varSaved
	varLocals
	varSearch
	varSearchStart
	varOthers
)

var varNames = [...]string{".cbParams", ".cbCalleeParams", ".cbSavedRegs", ".cbLocals", ".raSearch", ".raSearchStart"}

// IsWindows reports whether r has the sizes of a frame of 32-bit Windows, and
// whether it has a program.
func (r Row) IsWindows() (isWindows, hasProgram bool) {
	return len(r) > 0 && (r[0] == kindFrame || r[0] == kindProgram), len(r) > 0 && r[0] == kindProgram
}

// Params returns the size of the parameters of a function of 32-bit Windows,
// zero if it is not known.
func (r Row) Params() uint32 {
	if is, _ := r.IsWindows(); !is {
		return 0
	}
	f, _ := r.frame()
	return f.params
}

// frame has the numbers of a Windows row.
type frame struct {
	params, saved, locals uint32
	flags                 byte
	program               []byte
}

// frame returns the numbers of a Windows row and the row after it.
func (r Row) frame() (f frame, rest Row) {
	rest = r[1:]
	for _, v := range [...]*uint32{&f.params, &f.saved, &f.locals} {
		n, used := binary.Uvarint(rest)
		*v, rest = uint32(n), rest[max(used, 0):]
	}
	if len(rest) > 0 {
		f.flags, rest = rest[0], rest[1:]
	}
	if r[0] == kindProgram {
		f.program, rest = cut(rest)
	}
	return f, rest
}

// cut splits b after the program at its start, which has its length before it.
func cut(b []byte) (program, rest []byte) {
	n, used := binary.Uvarint(b)
	b = b[max(used, 0):]
	n = min(n, uint64(len(b)))
	return b[:n], b[n:]
}

// appendProgram appends a program and its length.
func appendProgram(dst, program []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(program))), program...)
}
