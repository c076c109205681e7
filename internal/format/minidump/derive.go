package minidump

import (
	"encoding/json"
	"slices"
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
	return parsePID(f.Text(LinuxProcStatus))
}

// Uptime returns the age of the process in seconds.
func (f *File) Uptime() (seconds uint32, ok bool) {
	if f.Misc == nil || !f.Misc.HasTimes {
		return 0, false
	}
	return max(f.Time, f.Misc.CreateTime) - f.Misc.CreateTime, true
}

// LSB returns the distribution of Linux, nil if it is missing.
func (f *File) LSB() *LSB {
	text := f.Text(LinuxLSBRelease)
	if text == nil {
		return nil
	}
	return parseLSB(text)
}

// Microcode returns the version of the microcode of the CPU.
func (f *File) Microcode() (version uint64, ok bool) { return parseMicrocode(f.Text(LinuxCPUInfo)) }

// Limits returns the limits of the process on Linux.
func (f *File) Limits() []Limit { return parseLimits(f.Text(LinuxLimits)) }

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
