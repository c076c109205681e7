package table

import (
	"bytes"
	"fmt"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/cficache"
	"symbolon/internal/console"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
	"symbolon/internal/symcache"
)

// openFile opens a table in a file: one of names, or one of unwind information.
func openFile(src bin.Source) (names *symcache.Table, rules *cficache.Table, err error) {
	data, err := bin.Read(src, 0, int(src.Size()))
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(data, []byte(cficache.Magic)) {
		rules, err = cficache.Open(data)
		return nil, rules, err
	}
	names, err = symcache.Open(src)
	return names, nil, err
}

// Dump writes the content of a table: the bytes of one of names with their meaning, or
// the STACK records of one of unwind information.
func Dump(w io.Writer, src bin.Source) error {
	names, rules, err := openFile(src)
	if err != nil {
		return err
	}
	if names != nil {
		return names.Dump(w)
	}
	var line []byte
	return rules.Records(func(u *sym.Unwind) error {
		line = breakpad.AppendStack(line[:0], u)
		_, err := w.Write(line)
		return err
	})
}

// Verify checks every byte and every reference of a table. It returns a description of
// the table.
func Verify(src bin.Source) (description string, err error) {
	names, rules, err := openFile(src)
	if err != nil {
		return "", err
	}
	if names != nil {
		m, size := names.Info().Module, names.Info().InputSize
		description = fmt.Sprintf("%s %s, built from %s", console.Printable(m.DebugFile), m.DebugID, console.Count(size, "byte"))
		return description, names.Verify()
	}
	ranges, rows := rules.Counts()
	description = fmt.Sprintf("%s, %s with %s, built from %s", rules.Info().Module.DebugID,
		console.Count(ranges, "range"), console.Count(rows, "different row"), console.Count(rules.Info().InputSize, "byte"))
	return description, rules.Verify()
}
