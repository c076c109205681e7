package disas_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/format/disas"
)

// code returns the bytes of hex digits, ignoring spaces.
func code(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// vector is a complete instruction.
type vector struct {
	hex  string
	call bool
}

// lengths checks that each instruction has its length, whatever follows, and
// is invalid without its last byte.
func lengths(t *testing.T, a disas.Arch, vectors []vector) {
	t.Helper()
	for _, v := range vectors {
		b := code(t, v.hex)
		for _, tail := range [][]byte{nil, {0}, {0xff, 0xff, 0xff, 0xff}, make([]byte, 20)} {
			if n, call := disas.Length(a, slices.Concat(b, tail)); n != len(b) || call != v.call {
				t.Errorf("%s: %d, %v", v.hex, n, call)
			}
		}
		for cut := range b {
			if n, call := disas.Length(a, b[:cut]); n == len(b) || cut == len(b)-1 && n != 0 || call && n == 0 {
				t.Errorf("%s, %d bytes of it: %d, %v", v.hex, cut, n, call)
			}
		}
	}
}

func invalid(t *testing.T, a disas.Arch, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if n, call := disas.Length(a, append(code(t, text), make([]byte, 20)...)); n != 0 || call {
			t.Errorf("%s: %d, %v", text, n, call)
		}
	}
}

func TestCallsContinueAtStarts(t *testing.T) {
	call := []disas.Call{{At: 2, Len: 5}}
	x86 := code(t, "cc 90 e8 11 22 33 44")
	broken := code(t, "90 06 e8 e8 00 00 00 00 ff d0") // 06 is invalid; the last instruction is an indirect call
	for _, tc := range []struct {
		name   string
		code   []byte
		starts []uint32
		want   []disas.Call
	}{
		{"plain", x86, nil, call},
		{"starts that say nothing new", x86, []uint32{0, 1, 2, 7, 900, 1<<32 - 1}, call},
		{"the call runs over a start", x86, []uint32{3}, nil},
		{"no start", broken, nil, nil},
		{"a start after the invalid byte", broken, []uint32{3}, []disas.Call{{At: 3, Len: 5}, {At: 8, Len: 2}}},
		{"a start too early, and another", broken, []uint32{2, 8}, []disas.Call{{At: 2, Len: 5}, {At: 8, Len: 2}}},
		{"starts in no order", broken, []uint32{8, 3}, []disas.Call{{At: 8, Len: 2}}},
		{"no code", nil, []uint32{0, 5}, nil},
	} {
		if got := disas.Calls(nil, disas.X8664, tc.code, tc.starts); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	before := []disas.Call{{At: 99, Len: 1}}
	if got := disas.Calls(before, disas.X8664, x86, nil); !slices.Equal(got, append(before, call...)) {
		t.Errorf("appended: %v", got)
	}
	words := code(t, "00003fd6 8d040094 8d040014 1f2003d5 00003fd6 00")
	if got := disas.Calls(nil, disas.ARM64, words, nil); !slices.Equal(got, []disas.Call{{0, 4}, {4, 4}, {16, 4}}) {
		t.Errorf("ARM64: %v", got)
	}
	if got := disas.Calls(nil, disas.ARM64, words, []uint32{6, 16}); !slices.Equal(got, []disas.Call{{0, 4}, {16, 4}}) {
		t.Errorf("ARM64 with an odd start: %v", got)
	}
	if got := disas.Calls(nil, disas.Arch(0), words, []uint32{4}); got != nil {
		t.Errorf("unknown instruction set: %v", got)
	}
}

func TestWords(t *testing.T) {
	lengths(t, disas.ARM64, []vector{
		{"00003fd6", true}, {"8d040094", true}, {"8d040014", false}, {"1f2003d5", false},
		{"ffffff97", true},  // BL backwards
		{"c0033fd6", true},  // BLR X30
		{"010000d4", true},  // SVC 0
		{"e1ff1fd4", true},  // SVC 65535
		{"020000d4", false}, // HVC
		{"030000d4", false}, // SMC
		{"000020d4", false}, // BRK
		{"c0035fd6", false}, // RET
		{"00001fd6", false}, // BR
		{"01083fd7", true},  // BLRAA X0, X1
		{"ff0b3fd7", true},  // BLRAA XZR, SP
		{"010c3fd7", true},  // BLRAB X0, X1
		{"1f083fd6", true},  // BLRAAZ X0
		{"1f0c3fd6", true},  // BLRABZ X0
		{"01081fd7", false}, // BRAA
		{"1f081fd6", false}, // BRAAZ
		{"00000000", false}, {"ffffffff", false},
	})
	lengths(t, disas.RISCV64, []vector{
		{"ef000000", true},          // JAL RA
		{"ef020000", true},          // JAL T0
		{"6f000000", false},         // J
		{"e7800700", true},          // JALR RA, A5
		{"67800000", false},         // RET
		{"e7820200", true},          // JALR T0, T0
		{"8297", true},              // C.JALR A5
		{"8287", false},             // C.JR A5
		{"0000", false},             // C.UNIMP
		{"0290", false},             // C.EBREAK
		{"be97", false},             // C.ADD A5, A5
		{"73000000", true},          // ECALL
		{"73001000", false},         // EBREAK
		{"1f0000000000", false},     // 48 bits
		{"3f00000000000000", false}, // 64 bits
	})
	invalid(t, disas.RISCV64, "7f00", "ff0f")
}

func TestA32(t *testing.T) {
	lengths(t, disas.A32, []vector{
		{"feffffeb", true},  // BL
		{"0000000b", true},  // BLEQ
		{"ffff7fdb", true},  // BLLE
		{"fefffffa", true},  // BLX to Thumb
		{"000000fb", true},  // BLX to Thumb, odd halfword
		{"33ff2fe1", true},  // BLX R3
		{"3eff2f11", true},  // BLXNE LR
		{"000000ef", true},  // SVC 0
		{"ffffff0f", true},  // SVCEQ
		{"feffffea", false}, // B
		{"1eff2fe1", false}, // BX LR
		{"23ff2fe1", false}, // BXJ R3
		{"33ff2ff1", false}, // invalid: BLX R3 has a condition
		{"70002fe1", false}, // BKPT
		{"0ff0a0e1", false}, // MOV PC, PC
		{"0fe0a0e1", false}, // MOV LR, PC
		{"000000ff", false}, // invalid: SVC has a condition
		{"1ff0d0f5", false}, // PLD
		{"00000000", false}, {"ffffffff", false},
	})
}

func TestT32(t *testing.T) {
	lengths(t, disas.T32, []vector{
		{"fff7feff", true},  // BL
		{"00f000f8", true},  // BL forward
		{"00f400d0", true},  // BL with J1 and J2 0
		{"fff7feef", true},  // BLX to A32
		{"00f000e8", true},  // BLX forward
		{"00f001e8", false}, // BFCSEL: the displacement of BLX is even
		{"9847", true},      // BLX R3
		{"f047", true},      // BLX LR
		{"00df", true},      // SVC 0
		{"ffdf", true},      // SVC 255
		{"00de", false},     // UDF
		{"00be", false},     // BKPT
		{"7047", false},     // BX LR
		{"1847", false},     // BX R3
		{"fee7", false},     // B
		{"fed0", false},     // BEQ
		{"00bf", false},     // NOP
		{"fff7febf", false}, // B.W
		{"3ff4feaf", false}, // BEQ.W
		{"aff30080", false}, // NOP.W
		{"bff35f8f", false}, // DMB SY
		{"f7f700a0", false}, // UDF.W
		{"2de9f041", false}, // PUSH.W
		{"d0f800c0", false}, // LDR.W
		{"dfe810f0", false}, // TBH
		{"10ee100a", false}, // VMOV
		{"c0ef5000", false}, // VMOV
		{"ffffffff", false},
		{"0000", false},
	})
	code := code(t, "00bf fff7feff 9847 00f0")
	if got := disas.Calls(nil, disas.T32, code, nil); !slices.Equal(got, []disas.Call{{At: 2, Len: 4}, {At: 6, Len: 2}}) {
		t.Errorf("%v", got)
	}
	if got := disas.Calls(nil, disas.T32, code, []uint32{4, 6}); !slices.Equal(got, []disas.Call{{At: 6, Len: 2}}) {
		t.Errorf("with a start in a call: %v", got)
	}
}

// FuzzCalls checks that calls lie within the code, in order, and are those
// that a walk by Length finds.
func FuzzCalls(f *testing.F) {
	f.Add(uint8(disas.X8664), code(f, "cc 90 e8 11 22 33 44 06 90 ff d0"), uint32(8), uint32(9))
	f.Add(uint8(disas.X8664), code(f, "c5 fc 77 62 f1 fd 48 28 45 00 66 66 48 e8 00 00 00 00 d5 08 ff d0"), uint32(3), uint32(10))
	f.Add(uint8(disas.X86), code(f, "9a 00 00 00 00 00 00 c5 00 67 8b 06 00 00 ce"), uint32(7), uint32(8))
	f.Add(uint8(disas.ARM64), code(f, "00003fd6 8d040094"), uint32(4), uint32(6))
	f.Add(uint8(disas.RISCV64), code(f, "8297 ef000000"), uint32(2), uint32(4))
	f.Add(uint8(disas.A32), code(f, "33ff2fe1 fefffffa 000000ef 1eff2fe1 ffffff0b"), uint32(4), uint32(14))
	f.Add(uint8(disas.T32), code(f, "00bf fff7feff 9847 00f000e8 00df 3ff4feaf 00f0"), uint32(4), uint32(8))
	f.Fuzz(func(t *testing.T, arch uint8, code []byte, first, second uint32) {
		a, starts := disas.Arch(arch), []uint32{min(first, second), max(first, second)}
		var want []disas.Call
		for at := 0; at < len(code); {
			next := len(code)
			for _, s := range starts {
				if int64(s) > int64(at) {
					next = int(min(int64(s), int64(next)))
				}
			}
			n, call := disas.Length(a, code[at:])
			if n < 0 || n > len(code)-at || call && n == 0 {
				t.Fatalf("at %d of %d: %d, %v", at, len(code), n, call)
			}
			if n == 0 || n > next-at {
				at = next
				continue
			}
			if call {
				want = append(want, disas.Call{At: uint32(at), Len: uint8(n)})
			}
			at += n
		}
		if got := disas.Calls(nil, a, code, starts); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
