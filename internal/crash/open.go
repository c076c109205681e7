package crash

import (
	"bytes"
	"unicode/utf8"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/applecrash"
)

// Open reads a minidump, a core file of Linux or a report of Apple's systems, as its
// content tells, and returns a dump or a report.
func Open(src bin.Source) (*Dump, *applecrash.Report, error) {
	head := make([]byte, min(src.Size(), 512))
	if _, err := src.ReadAt(head, 0); err != nil && len(head) > 0 {
		return nil, nil, err
	}
	if isText(head) {
		r, err := openApple(src)
		return nil, r, err
	}
	open := OpenMinidump
	if bytes.HasPrefix(head, []byte("\x7fELF")) {
		open = fromCore
	}
	d, err := open(src)
	return d, nil, err
}

// isText reports whether head is the beginning of a text.
func isText(head []byte) bool {
	isControl := func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' }
	return len(head) >= 32 && !bytes.ContainsFunc(head, isControl) && utf8.Valid(head[:len(head)-utf8.UTFMax])
}

// openApple reads a report of Apple's systems. Other texts have none of its sections,
// and not the name of a process.
func openApple(src bin.Source) (*applecrash.Report, error) {
	text, err := bin.Read(src, 0, int(min(src.Size(), applecrash.MaxSize+1)))
	if err != nil {
		return nil, err
	}
	r, err := applecrash.Read(text)
	if err == nil && len(r.Threads) == 0 && len(r.Images) == 0 && r.Incident == "" && r.Metadata[applecrash.KeyProcess] == "" {
		err = fault.New(fault.Unsupported, "", "neither a minidump nor a crash report of an Apple system")
	}
	return r, err
}
