package debugfile_test

import (
	"fmt"
	"testing"

	"symbolon/internal/fixture"
)

// nestedSymbols is a file with n symbols, each of them in the one before.
func nestedSymbols(n int) []byte {
	var symbols []fixture.ELFSymbol
	for i := range uint64(n) {
		symbols = append(symbols, fixture.ELFSymbol{Name: fmt.Sprint("s", i), Value: 0x1000 + i, Size: 0xffffff - i - (0x1000 + i), Kind: 2, Bind: 1, Section: 1})
	}
	e := &fixture.ELF{Wide: true, Type: 3, Machine: 62}
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x1000, Memsz: 0xffffff})
	e.Add(fixture.ELFSection{Name: ".text", Type: 8, Flags: 6, Addr: 0x1000, Size: 0xffffff})
	e.Symtab(".symtab", 2, symbols...)
	return e.Bytes()
}

// However deep symbols nest, a file and its table say the same.
func TestNestedSymbolsAnswerAsTheirTable(t *testing.T) {
	for _, n := range []int{2, 63, 64, 65, 66, 4095, 4096, 4097, 5000} {
		o := open(t, nestedSymbols(n))
		agreeWithTable(t, o, fmt.Sprint(n, " symbols"))
	}
}
