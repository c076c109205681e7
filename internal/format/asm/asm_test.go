package asm_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"symbolon/internal/format/asm"
	"symbolon/internal/format/disas"
)

func decode(t *testing.T, a disas.Arch, code string, addr uint64) asm.Instruction {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return asm.Decode(a, b, addr)
}

func TestInstructionsAreText(t *testing.T) {
	for _, x := range []struct {
		arch       disas.Arch
		code, want string
	}{
		{disas.X8664, "55", "push rbp"},
		{disas.X8664, "48 89 e5", "mov rbp, rsp"},
		{disas.X8664, "48 83 ec 10", "sub rsp, 0x10"},
		{disas.X8664, "89 7d fc", "mov dword [rbp - 0x4], edi"},
		{disas.X8664, "48 8d 05 10 00 00 00", "lea rax, qword [rip + 0x10]"},
		{disas.X8664, "f3 0f 1e fa", "endbr64"},
		{disas.X8664, "c5 f8 77", "vzeroupper"},
		{disas.X86, "8b 4d 08", "mov ecx, dword [ebp + 0x8]"},
		{disas.ARM64, "fd 7b bf a9", "stp x29, x30, [sp,#-16]!"},
		{disas.ARM64, "c0 03 5f d6", "ret"},
		{disas.A32, "00 48 2d e9", "push {fp, lr}"},
		{disas.A32, "1e ff 2f e1", "bx lr"},
	} {
		i := decode(t, x.arch, x.code, 0x1000)
		if i.Text != x.want || i.Len != len(strings.Fields(x.code)) || i.IsBranch {
			t.Errorf("%s: %+v, want %q", x.code, i, x.want)
		}
	}
}

func TestBranchesHaveTheirTarget(t *testing.T) {
	for _, x := range []struct {
		arch       disas.Arch
		code, want string
	}{
		{disas.X8664, "e8 fb 0f 00 00", "call 0x2000"},
		{disas.X8664, "eb fe", "jmp 0x1000"},
		{disas.X8664, "74 02", "jz 0x1004"},
		{disas.X86, "e8 fb ef ff ff", "call 0x0"},
		{disas.ARM64, "00 04 00 94", "bl 0x2000"},
		{disas.ARM64, "ff ff ff 17", "b 0xffc"},
		{disas.ARM64, "41 00 00 54", "b.ne 0x1008"},
		{disas.ARM64, "40 00 00 b4", "cbz x0, 0x1008"},
		{disas.ARM64, "40 00 18 36", "tbz w0, #3, 0x1008"},
		{disas.A32, "fe 03 00 eb", "bl 0x2000"},
		{disas.A32, "fd ff ff 0a", "beq 0xffc"},
		{disas.A32, "fe 03 00 fa", "blx 0x2000"},
	} {
		i := decode(t, x.arch, x.code, 0x1000)
		if i.Text != x.want || !i.IsBranch {
			t.Errorf("%s: %+v, want %q", x.code, i, x.want)
		}
	}
	for code, want := range map[string]string{"00 00 00 30": "adr x0, 0x1001", "00 00 00 b0": "adrp x0, 0x2000"} {
		if i := decode(t, disas.ARM64, code, 0x1004-4); i.Text != want || i.IsBranch {
			t.Errorf("%s: %+v, want %q", code, i, want)
		}
	}
}

func TestBytesThatAreNotDecodedAreWritten(t *testing.T) {
	for _, x := range []struct {
		arch       disas.Arch
		code, want string
	}{
		{disas.X8664, "06", ".byte 0x06 # invalid instruction"},
		{disas.X8664, "e8 00", ".byte 0xe8 # invalid instruction"},
		{disas.ARM64, "e0 03 00", ".byte 0xe0, 0x03, 0x00 # invalid instruction"},
		{disas.ARM64, "20 00 20 b8", ".byte 0x20, 0x00, 0x20, 0xb8 # unknown instruction"}, // ldadd
	} {
		if i := decode(t, x.arch, x.code, 0x1000); i.Text != x.want {
			t.Errorf("%s: %+v, want %q", x.code, i, x.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint8(disas.X8664), uint64(0x1000), []byte("\x55\x48\x89\xe5\xe8\x00\x00\x00\x00\x62\xf1\x7c\x48\x10\x00\xc5\xf8\x77"))
	f.Add(uint8(disas.X86), uint64(0), []byte("\x8b\x4d\x08\xeb\xfe\x9a\x00\x00\x00\x00\x00\x00"))
	f.Add(uint8(disas.ARM64), uint64(1)<<63, []byte("\xfd\x7b\xbf\xa9\x00\x04\x00\x94\x20\x00\x20\xb8\x40\x00\x18\x36"))
	f.Add(uint8(disas.A32), uint64(8), []byte("\x00\x48\x2d\xe9\xfe\x03\x00\xeb\x0d\x20\xa0\xe1"))
	f.Fuzz(func(t *testing.T, arch uint8, addr uint64, code []byte) {
		for len(code) > 0 {
			i := asm.Decode(disas.Arch(arch), code, addr)
			if i.Len < 1 || i.Len > min(len(code), asm.MaxLen) || i.Text == "" {
				t.Fatalf("%+v of %x", i, code)
			}
			code, addr = code[i.Len:], addr+uint64(i.Len)
		}
	})
}
