package crash

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/crash/reason"
	"symbolon/internal/format/minidump"
	"symbolon/internal/unwind/rule"
)

// OpenMinidump reads a minidump.
func OpenMinidump(src bin.Source) (*Dump, error) {
	f, err := minidump.Open(src)
	if err != nil {
		return nil, err
	}
	s := f.System
	d := &Dump{
		System: System{
			OS: s.OS, OSName: s.OSName, Arch: s.Arch, CPU: rule.For(s.Arch), CPUName: s.CPU, CPUInfo: s.CPUInfo(),
			CPUs: int(s.CPUs), BigEndian: f.BigEndian(), Wide: s.Wide,
		},
		Written: time.Unix(int64(f.Time), 0), Modules: f.Modules, Unloaded: f.Unloaded, Memory: f.Memory, Mappings: f.Mappings,
		Requesting: -1, Minidump: f, Problems: f.Problems,
	}
	d.System.Version, d.System.Build = s.Version()
	if v, ok := f.Microcode(); ok {
		d.System.Microcode = fmt.Sprintf("%#x", v)
	}
	if pid, ok := f.PID(); ok {
		d.PID = &pid
	}
	if seconds, ok := f.Uptime(); ok {
		d.Uptime = new(uint64(seconds))
	}
	if a := f.Assertion; a != nil {
		d.Assertion = assertion(a)
	}
	if e := f.Exception; e != nil {
		d.Exception = &reason.Exception{
			System: families[s.OS], Arch: s.Arch, Code: e.Code, Flags: e.Flags, Address: e.Address, Count: len(e.Parameters),
		}
		copy(d.Exception.Params[:], e.Parameters)
	}
	d.addThreads(f)
	return d, nil
}

// families has the families of operating systems.
var families = map[minidump.OS]reason.System{
	minidump.Windows: reason.Windows, minidump.Linux: reason.Linux, minidump.Android: reason.Linux,
	minidump.MacOS: reason.Apple, minidump.IOS: reason.Apple,
}

// addThreads adds the threads of f. The thread that crashed has the registers of the
// exception, if they are valid; the one that wrote the dump has none.
func (d *Dump) addThreads(f *minidump.File) {
	requesting, isKnown := uint32(0), false
	if b := f.Breakpad; b != nil {
		requesting, isKnown = b.RequestingThread, b.HasRequestingThread
	}
	if f.Exception != nil {
		requesting, isKnown = f.Exception.ThreadID, true
	}
	d.Threads = make([]Thread, len(f.Threads))
	for i := range f.Threads {
		from, t := &f.Threads[i], &d.Threads[i]
		t.ID, t.Name, t.IsNamed = from.ID, from.Name, from.IsNamed
		if f.System.OS == minidump.Windows && from.TEB != 0 {
			t.LastError = d.lastError(from.TEB)
		}
		if b := f.Breakpad; b != nil && b.HasDumpThread && b.DumpThread == t.ID {
			t.IsWriter, t.Absent = true, "the thread wrote the dump"
			continue
		}
		c, err := f.Context(from.Context)
		if isKnown && t.ID == requesting {
			d.Requesting = i
			if e := f.Exception; e != nil {
				if own, ownErr := f.Context(e.Context); ownErr == nil {
					c, err = own, nil
				}
			}
		}
		switch {
		case err != nil:
			t.Absent = "no registers: " + err.Error()
		case d.System.CPU == nil:
			t.Absent = unsupported
		default:
			for _, r := range c {
				d.System.set(&t.Registers, r.Name, r.Value)
			}
		}
	}
}

// lastError returns the name of the last error of a thread of Windows: the number
// after 13 words in the data of the thread.
func (d *Dump) lastError(teb uint64) string {
	var b [4]byte
	if d.System.CPU == nil || d.Memory.ReadAt(b[:], teb+13*uint64(d.System.CPU.Word)) < len(b) {
		return ""
	}
	return reason.WindowsError(binary.LittleEndian.Uint32(b[:]))
}

// assertion returns the text of a failed assertion.
func assertion(a *minidump.Assertion) string {
	parts := slices.DeleteFunc([]string{a.Expression, a.Function, a.File}, func(p string) bool { return p == "" })
	text := strings.Join(parts, ", ")
	if a.Line > 0 {
		text += fmt.Sprint(":", a.Line)
	}
	if a.Kind != "" {
		text += " (" + a.Kind + ")"
	}
	return text
}
