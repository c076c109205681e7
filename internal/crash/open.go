package crash

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/applecrash"
)

// Open opens a minidump, a core file of Linux or a report of Apple's systems, whichever
// its content is. It returns a dump or a report, and fault.Unsupported for another file.
func Open(src bin.Source) (*Dump, *applecrash.Report, error) {
	head := make([]byte, min(src.Size(), 512))
	if _, err := src.ReadAt(head, 0); err != nil && len(head) > 0 {
		return nil, nil, err
	}
	kind := "of an unknown kind"
	switch magic := string(head[:min(4, len(head))]); {
	case magic == "MDMP" || magic == "PMDM":
		d, err := OpenMinidump(src)
		return d, nil, err
	case magic == "\x7fELF" && !isOtherELF(head):
		d, err := fromCore(src)
		return d, nil, err
	case magic == "\x7fELF":
		kind = "an ELF program, library or debug file: use it with --symbols, beside a dump of the process"
	case magic == "":
		kind = "empty"
	case strings.HasPrefix(magic, "MZ"):
		kind = "a Windows program or library"
	case isText(head):
		r, err := openApple(src)
		if r != nil || err != nil {
			return nil, r, err
		}
		kind = "a text of another kind; symbolon filter puts names into logs and JSON"
	}
	return nil, nil, fault.New(fault.Unsupported, "", "not a minidump, core file or Apple crash report: the file is %s", kind)
}

// IsDump reports whether a file that begins with head is a minidump or a core file.
func IsDump(head []byte) bool {
	magic := string(head[:min(4, len(head))])
	return magic == "MDMP" || magic == "PMDM" || magic == "\x7fELF" && len(head) >= 18 && !isOtherELF(head)
}

// isOtherELF reports whether an ELF file has another type than that of a core file, 4.
func isOtherELF(head []byte) bool { return len(head) >= 18 && head[16]|head[17] != 4 }

// isText reports whether head is the beginning of a text.
func isText(head []byte) bool {
	isControl := func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' }
	return !bytes.ContainsFunc(head, isControl) && utf8.Valid(head[:max(len(head)-utf8.UTFMax, 0)])
}

// openApple reads a report of Apple's systems. It returns nil for another text, which
// has none of its sections, and not the name of a process.
func openApple(src bin.Source) (*applecrash.Report, error) {
	text, err := bin.Read(src, 0, int(min(src.Size(), applecrash.MaxSize+1)))
	if err != nil {
		return nil, err
	}
	r, err := applecrash.Read(text)
	if err == nil && len(r.Threads) == 0 && len(r.Images) == 0 && r.Incident == "" && r.Metadata[applecrash.KeyProcess] == "" {
		r = nil
	}
	return r, err
}
