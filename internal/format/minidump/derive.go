package minidump

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Text returns the bytes of the last stream of a type, such as a file of Linux.
// They may have any encoding. It is nil if the stream is missing or damaged.
func (f *File) Text(t StreamType) []byte {
	for _, s := range slices.Backward(f.Streams) {
		if s.Type == t {
			if b, err := f.reader.bytes(s.Location); err == nil {
				return b
			}
		}
	}
	return nil
}

// PID returns the id of the process.
func (f *File) PID() (pid uint32, ok bool) {
	if f.Misc != nil && f.Misc.HasPID {
		return f.Misc.PID, true
	}
	pairs(f.Text(LinuxProcStatus), ":", func(key, value []byte) {
		if string(key) == "Pid" {
			v, err := strconv.ParseUint(string(value), 10, 32)
			pid, ok = uint32(v), err == nil
		}
	})
	return pid, ok
}

// Uptime returns the age of the process in seconds.
func (f *File) Uptime() (seconds uint32, ok bool) {
	if f.Misc == nil || !f.Misc.HasTimes {
		return 0, false
	}
	return max(f.Time, f.Misc.CreateTime) - f.Misc.CreateTime, true
}

// LSB describes a distribution of Linux.
type LSB struct {
	ID          string `json:"id"`
	Release     string `json:"release"`
	Codename    string `json:"codename"`
	Description string `json:"description"`
}

// LSB returns the distribution, nil if it is missing.
func (f *File) LSB() *LSB {
	text := f.Text(LinuxLSBRelease)
	if text == nil {
		return nil
	}
	x := &LSB{}
	pairs(text, "=", func(key, value []byte) {
		switch string(key) {
		case "DISTRIB_ID", "ID":
			x.ID = valid(value)
		case "DISTRIB_RELEASE", "VERSION_ID":
			x.Release = valid(value)
		case "DISTRIB_CODENAME", "VERSION_CODENAME":
			x.Codename = valid(value)
		case "DISTRIB_DESCRIPTION", "PRETTY_NAME":
			x.Description = valid(value)
		}
	})
	return x
}

// Microcode returns the version of the microcode of the first CPU.
func (f *File) Microcode() (version uint64, ok bool) {
	pairs(f.Text(LinuxCPUInfo), ":", func(key, value []byte) {
		if string(key) == "microcode" && bytes.HasPrefix(value, []byte("0x")) && !ok {
			v, err := strconv.ParseUint(string(value[2:]), 16, 64)
			version, ok = v, err == nil
		}
	})
	return version, ok
}

// A Limit is a limit of a process on Linux. Its values are numbers, or
// unlimited.
type Limit struct{ Name, Soft, Hard, Unit string }

// maxLimits bounds the lines that are read. Linux has 16.
const maxLimits = 100

// Limits returns the limits of the process on Linux. The columns of the text are
// separated by at least two spaces.
func (f *File) Limits() (limits []Limit) {
	isHeader := true
	for line := range bytes.Lines(f.Text(LinuxLimits)) {
		if len(limits) == maxLimits {
			break
		}
		var fields []string
		for field := range bytes.SplitSeq(line, []byte("  ")) {
			if field = bytes.TrimSpace(field); len(field) > 0 {
				fields = append(fields, valid(field))
			}
		}
		if len(fields) == 0 {
			continue
		}
		if !isHeader && len(fields) >= 3 {
			limits = append(limits, Limit{fields[0], fields[1], fields[2], strings.Join(fields[3:min(len(fields), 4)], "")})
		}
		isHeader = false
	}
	return limits
}

// maxSoftErrors limits the bytes of errors of the writer.
const maxSoftErrors = 1 << 20

// SoftErrors returns the errors that the writer of the dump met, as valid JSON,
// or nil.
func (f *File) SoftErrors() json.RawMessage {
	if text := f.Text(SoftErrors); len(text) <= maxSoftErrors && json.Valid(text) {
		return text
	}
	return nil
}

// pairs calls yield for each line of a text that has a key and a value. Lines are
// parts of text.
func pairs(text []byte, separator string, yield func(key, value []byte)) {
	for line := range bytes.Lines(text) {
		if key, value, ok := bytes.Cut(line, []byte(separator)); ok {
			yield(unquote(key), unquote(value))
		}
	}
}

// unquote removes spaces and one pair of quotes.
func unquote(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if n := len(b); n >= 2 && b[0] == '"' && b[n-1] == '"' {
		b = b[1 : n-1]
	}
	return b
}
