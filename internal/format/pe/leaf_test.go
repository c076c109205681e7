package pe_test

import (
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

// TestFunctionsWithoutEntries has code around two functions with entries, and in
// sections of data and without bytes in the file.
func TestFunctionsWithoutEntries(t *testing.T) {
	x64 := strings.NewReplacer("INFO", ".cfa: $rsp 8 + .ra: .cfa -8 + ^")
	arm64 := strings.NewReplacer("INFO", ".cfa: sp 0 + .ra: x30")
	for _, c := range []struct {
		machine uint16
		info    []byte
		table   []uint32
		text    *strings.Replacer
	}{
		{fixture.PEX64, fixture.PEUnwind{}.Bytes(), []uint32{0x1100, 0x1140, 0x5000, 0x1040, 0x1080, 0x5000}, x64},
		{fixture.PEARM64, fixture.PEXdata(0x40, "\xe4", -1), []uint32{0x1100, 0x5000, 0x1040, 0x5000}, arm64},
	} {
		code := make([]byte, 0x200)
		copy(code[0x3e:], "\x00\x01\x02")              // before an entry, and in it
		copy(code[0x80:], "\xcc\xcc\x90\xc3\xc3")      // after it
		copy(code[0x8e:], "\x00\xc3\x00\xc3\xcc")      // with padding in it
		copy(code[0x1f0:], "\x0f\x05\xc3\x00\x00\x00") // system call
		p := fixture.NewPE(c.machine)
		p.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: code, Flags: fixture.PECode})
		p.Section(fixture.PESection{Name: ".more", Addr: 0x2000, Data: []byte("\xc3"), Flags: fixture.PECode})
		p.Section(fixture.PESection{Name: ".bss", Addr: 0x3000, Size: 0x100, Flags: fixture.PECode})
		p.Section(fixture.PESection{Name: ".data", Addr: 0x4000, Data: []byte("\xc3")})
		p.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: c.info})
		p.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Data: fixture.PEPack(c.table)})
		got, problems := records(clean(t, p.Bytes()))
		want := c.text.Replace("INIT 1100 40 INFO\nINIT 1040 40 INFO\nINIT 103f 1 INFO\nINIT 1083 f INFO\nINIT 11f0 3 INFO\nINIT 2000 1 INFO\n")
		if got != want || problems != nil {
			t.Errorf("machine %x: %v\n got\n%swant\n%s", c.machine, problems, got, want)
		}
	}
}

func TestWithoutExceptionDirectoryNoFunctionIsALeaf(t *testing.T) {
	p := fixture.NewPE(fixture.PEX64)
	p.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: []byte("\xc3"), Flags: fixture.PECode})
	if got, problems := records(clean(t, p.Bytes())); got != "" || problems != nil {
		t.Errorf("got %q, %v", got, problems)
	}
}
