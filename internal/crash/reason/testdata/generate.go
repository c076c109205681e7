// Command generate writes the names of Windows' errors that package reason
// embeds. It reads definitions of C, Go and Rust from the files given to it; the
// first name of a number wins, so the order of the files matters.
//
// windows.z was made from these, in this order:
//
//	minidump-common 0.27.0, src/errors/windows.rs
//	golang.org/x/sys v0.49.0, windows/zerrors_windows.go
//	mingw-w64 10.0.0, include/winerror.h, include/ntstatus.h and include/winnt.h
//	windows-sys 0.61.2, src/Windows/Win32/Foundation/mod.rs
//
//	go run ./internal/crash/reason/testdata FILE… >internal/crash/reason/windows.z
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// definition matches a line of C, Go or Rust that defines a number: its name,
// the types around the number, and the number.
var definition = regexp.MustCompile(`^\s*(?:#\s*define|pub const)?\s*([A-Z][A-Za-z0-9_]+)(:?[\s=:(]+(?:[A-Za-z_.]+[\s)(=]+)*)(0[xX][0-9A-Fa-f]+|[0-9]+)`)

// kinds identify the tables by the prefixes of their names: Win32 errors, NTSTATUS values
// and the codes of __fastfail. Names with other prefixes than the first are used only for
// numbers without one.
var kinds = [...]struct{ names, others *regexp.Regexp }{
	{regexp.MustCompile(`^(ERROR_|RPC_[ESX]_)`), regexp.MustCompile(`^(WSA|DNS_ERROR_|APPMODEL_ERROR_|EPT_S_|STORE_ERROR_|FRS_ERR_)`)},
	{regexp.MustCompile(`^(STATUS|DBG|RPC_NT|EPT_NT)_`), nil},
	{regexp.MustCompile(`^FAST_FAIL_`), nil},
}

func main() {
	var tables [len(kinds)]map[uint32]string
	for i := range tables {
		tables[i] = map[uint32]string{}
	}
	for _, others := range []bool{false, true} {
		for _, file := range os.Args[1:] {
			text, err := os.ReadFile(file)
			if err != nil {
				log.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				add(&tables, line, others)
			}
		}
	}
	var text strings.Builder
	for i, t := range tables {
		for _, code := range slices.Sorted(maps.Keys(t)) {
			fmt.Fprintf(&text, "%08x%s\n", code, t[code])
		}
		text.WriteByte('\n')
		fmt.Fprintln(os.Stderr, i, len(t))
	}
	var out bytes.Buffer
	binary.Write(&out, binary.LittleEndian, uint32(text.Len()))
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	w.Write([]byte(text.String()))
	w.Close()
	os.Stdout.Write(out.Bytes())
}

// add adds the definition of a line to its table.
func add(tables *[len(kinds)]map[uint32]string, line string, others bool) {
	m := definition.FindStringSubmatch(line)
	if m == nil {
		return
	}
	name, types := m[1], m[2]
	code, err := strconv.ParseUint(m[3], 0, 32)
	if err != nil {
		return
	}
	// HRESULTs have the same prefixes as Win32 errors, and other numbers.
	if strings.Contains(types, "HRESULT") || strings.Contains(types, "Handle") {
		return
	}
	for i, k := range kinds {
		switch {
		case others && (k.others == nil || !k.others.MatchString(name)), !others && !k.names.MatchString(name):
			continue
		case i == 0 && code > 0xffff, i == 1 && strings.HasPrefix(name, "STATUS_SEVERITY_"):
			continue
		}
		if tables[i][uint32(code)] == "" {
			tables[i][uint32(code)] = name
		}
	}
}
