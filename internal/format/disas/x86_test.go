package disas_test

import (
	"strings"
	"testing"

	"symbolon/internal/format/disas"
)

func TestCallsOfX8664(t *testing.T) {
	lengths(t, disas.X8664, []vector{
		{"e8 11223344", true},
		{"66 e8 11223344", true},       // 66 changes nothing
		{"66 66 48 e8 11223344", true}, // TLS sequence
		{"67 e8 11223344", true},       // a call through a table, relaxed by a linker
		{"f2 e8 11223344", true},       // with BND
		{"ff d0", true},
		{"41 ff d3", true},
		{"3e ff d0", true},
		{"ff 15 11223344", true},
		{"ff 14 c5 11223344", true},
		{"ff 54 24 08", true},
		{"ff 90 11223344", true},
		{"ff 18", true}, // far
		{"48 ff 18", true},
		{"d5 18 ff d0", true}, // with REX2
		{"0f 05", true},
		{"48 0f 05", true},
		{"cd 80", true},

		{"cc", false},
		{"f1", false},
		{"0f 34", false},
		{"0f 07", false},
		{"ff 25 11223344", false},
		{"ff e0", false},
		{"ff 28", false},
		{"ff 30", false},
		{"ff 00", false},
		{"e9 11223344", false},
		{"66 e9 11223344", false},
		{"eb 00", false},
		{"0f 84 11223344", false},
		{"66 0f 84 11223344", false},
		{"0f 01 c1", false}, // VMCALL
		{"48 0f ff 05 11223344", false},
	})
}

func TestLengthsOfX8664(t *testing.T) {
	var vectors []vector
	for _, text := range []string{
		// One byte, and operands of every kind.
		"90", "f3 90", "c3", "c2 0800", "c8 1000 00", "55", "41 57", "6a 01", "68 11223344", "66 68 1122", "48 68 11223344",
		"04 01", "05 11223344", "66 05 1122", "66 48 05 11223344", "b0 01", "b8 11223344", "66 b8 1122", "48 b8 1122334455667788",
		"66 48 b8 1122334455667788", "48 66 b8 1122", "a0 1122334455667788", "67 a1 11223344", "48 a3 1122334455667788", "e4 60",
		"80 38 00", "81 38 11223344", "66 81 38 1122", "83 38 00", "69 c0 11223344", "66 69 c0 1122", "6b c0 10", "c0 e0 04", "d1 e0",
		"c6 00 01", "c7 00 11223344", "66 c7 00 1122", "c6 f8 01", "c7 f8 11223344", "66 c7 f8 1122", "f6 00 01", "f6 08 01", "f6 10",
		"f7 00 11223344", "66 f7 00 1122", "48 f7 c0 11223344", "f7 d0", "8f 00", "8f c0", "fe c0", "63 c0", "d9 c9", "d9 00", "db e3", "df e0", "9b",
		// ModRM.
		"8b 00", "8b 04 24", "8b 05 11223344", "8b 04 25 11223344", "8b 44 24 08", "8b 40 08", "8b 80 11223344", "8b 84 24 11223344",
		"67 8b 06", "67 8b 04 25 11223344", "8b 45 00", "41 8b 45 00", "41 8b 05 11223344", "43 8b 04 2d 11223344", "8b c0",
		// The maps 0F.
		"0f 1f 00", "66 2e 0f 1f 84 00 00000000", "f3 0f 1e fa", "0f a2", "0f 0b", "0f b9 c0", "0f ff c0", "0f 20 c0", "0f 22 1c", "0f ba e0 05",
		"0f a4 c0 05", "0f c2 c0 01", "66 0f 70 c0 1b", "0f 71 d0 01", "0f 77", "0f c7 08", "0f c7 f0", "f3 0f b8 c0", "0f 0f c1 b4",
		"66 0f 78 c0 01 02", "f2 0f 78 c1 01 02", "0f 78 c0", "0f ae e8", "f3 0f ae d0", "0f 01 f9", "0f 00 d0", "0f c8", "66 0f 6c c1", "f2 0f f0 00",
		"0f 38 00 c1", "66 0f 38 17 c1", "f2 0f 38 f1 c0", "66 0f 38 2a 00", "66 0f 3a 0f c1 08", "0f 3a 0f c1 08", "66 0f 3a 63 05 11223344 0c", "0f 3a cc c1 00",
		// Vectors.
		"c5 f8 77", "c5 f9 6f 05 11223344", "c5 f9 70 c0 1b", "c5 f8 c2 c0 01", "c4 e2 79 18 00", "c4 e3 7d 19 c0 01", "c4 e2 78 f2 c0",
		"c4 e3 7b f0 c0 05", "c4 e1 78 58 c0", "64 c5 f8 28 00", "67 c5 f8 28 00", "c4 e7 7b f8 c0 11223344",
		"62 f1 fd 48 28 45 00", "62 f1 fd 48 28 05 11223344", "62 f3 7d 48 25 c0 ff", "62 f2 7d 48 18 40 01", "62 f1 7d 48 72 f0 05", "62 f5 7c 48 58 c0",
		"62 f6 7d 48 98 c0", "62 f4 7c 18 01 c0", "62 f4 7d 18 81 c0 1122", "62 f4 fc 18 81 c0 11223344", "62 f4 7c 18 f7 c0 11223344", "62 f4 7c 18 f7 d0", "62 f4 7c 08 f6 c0 01",
		"8f e8 78 c0 c0 05", "8f e9 78 01 c8", "8f ea 78 10 c0 11223344", "8f e9 f8 9b c0", "8f e9 78 c1 c0",
		// REX2.
		"d5 00 50", "d5 08 b8 1122334455667788", "d5 08 a1 1122334455667788", "d5 80 af c0", "d5 10 81 c0 11223344", "66 d5 10 81 c0 1122",
		// Fifteen bytes.
		"66 66 66 66 66 66 2e 0f 1f 84 00 00000000", "2e 2e 2e 48 c7 84 24 11223344 55667788", strings.Repeat("66", 14) + "90",
	} {
		vectors = append(vectors, vector{text, false})
	}
	lengths(t, disas.X8664, vectors)
}

func TestInvalidX8664(t *testing.T) {
	invalid(t, disas.X8664,
		"06", "07", "0e", "16", "17", "1e", "1f", "27", "2f", "37", "3f", "60", "61", "82 c0 00", "9a", "ce", "d4 0a", "d6", "ea",
		"8d c0", "8c f0", "8e c8", "8f c8", "c6 08", "c7 f9", "fe d0", "ff d8", "ff e8", "ff f8", "d9 08", "d9 d1", "d9 e2", "da e8", "db 20", "dd 28", "de d8", "df f8",
		"0f 04", "0f 0a", "0f 0c", "0f 24", "0f 25", "0f 36", "0f 39 00", "0f 3b 00", "0f 7a", "0f a6 00", "0f b8 c0", "0f ba 00", "0f b2 c0", "0f c3 c0", "0f c7 00",
		"0f 00 f8", "0f 01 28", "0f 20 c8", "0f 50 00", "0f 71 00", "0f 73 c0", "0f 7c c0", "0f 6c c0", "0f ae c0", "0f d6 c0", "0f f0 c0",
		"0f 38 0c 00", "0f 38 17 00", "66 0f 38 2a c0", "0f 3a 00 00", "0f 3a 14 00",
		"66 c5 f8 77", "f2 c5 f8 77", "f0 c5 f8 77", "48 c5 f8 77", "c5 f8 05", "c4 e0 78 28", "c4 e4 78 28", "c4 e2 78 ff", "c4 e3 78 ff",
		"66 62 f1 fd 48 28", "62 f0 fd 48 28", "62 f1 fd 48 05", "62 f4 fd 48 e8", "8f eb 78 00", "8f e8 78 00", "8f e9 78 c0", "8f ea 78 00",
		"d5 00 0f 05", "d5 00 40", "d5 00 66", "d5 00 e8", "d5 80 34", "d5 80 84", "d5 00 c5", "d5 00 d5", "48 d5 00 50",
		strings.Repeat("66", 15)+"90", "2e 2e 2e 2e 48 c7 84 24 11223344 55667788", strings.Repeat("f0", 40),
	)
}

func TestX86(t *testing.T) {
	lengths(t, disas.X86, []vector{
		{"e8 11223344", true}, {"66 e8 1122", true}, {"ff d0", true}, {"ff 15 11223344", true}, {"ff 18", true}, {"9a 11223344 5566", true},
		{"66 9a 1122 3344", true}, {"cd 80", true}, {"ce", true}, {"0f 05", true},
		{"40", false}, {"48", false}, {"06", false}, {"60", false}, {"d4 0a", false}, {"d6", false}, {"82 c0 01", false}, {"a1 11223344", false},
		{"67 a1 1122", false}, {"ea 11223344 5566", false}, {"b8 11223344", false}, {"66 b8 1122", false}, {"66 e9 1122", false}, {"66 0f 84 1122", false},
		{"67 8b 06 1122", false}, {"67 8b 40 01", false}, {"67 8b 80 1122", false}, {"67 8b 04", false}, {"8b 05 11223344", false}, {"63 c0", false},
		{"62 00", false}, {"62 f1 7d 48 28 45 00", false}, {"c4 00", false}, {"c5 06", false}, {"c5 f8 77", false}, {"c4 e2 79 18 00", false}, {"8f e8 78 c0 c0 05", false},
	})
	invalid(t, disas.X86, "ff d8", "ff f8", "8d c0", "0f 04", "66 c5 f8 77")
}

// BenchmarkCalls decodes typical compiled code.
func BenchmarkCalls(b *testing.B) {
	for _, bc := range []struct {
		name string
		arch disas.Arch
		hex  string
	}{
		{"x86-64", disas.X8664, "55 4889e5 4157 4156 53 4883ec18 4989fe 488b05c52d0000 488b00 488945d8 488b7f08 4885ff 7409 e8c0ffffff 84c0 7529 " +
			"0f1f8000000000 498b4610 4c8d3cc0 8b4c2404 ff9088000000 c5f86f4110 c5f87f0424 0fb64703 83f801 0f8489000000 31c0 4883c418 5b 415e 415f 5d c3 662e0f1f840000000000"},
		{"ARM64", disas.ARM64, "fd7bbea9 fd030091 f30b00f9 f30300aa 000840f9 8d040094 60020034 00003fd6 f30b40f9 fd7bc2a8 c0035fd6"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			one := code(b, bc.hex)
			var all []byte
			for len(all) < 1<<20 {
				all = append(all, one...)
			}
			var calls []disas.Call
			b.SetBytes(int64(len(all)))
			b.ReportAllocs()
			for b.Loop() {
				calls = disas.Calls(calls[:0], bc.arch, all, nil)
			}
		})
	}
}
