package crash

import (
	"os"
	"path/filepath"

	"symbolon/internal/bin"
	"symbolon/internal/crash/reason"
	"symbolon/internal/fault"
	"symbolon/internal/format/core"
	"symbolon/internal/format/minidump"
	"symbolon/internal/unwind/rule"
)

// fromCore reads a core file of Linux.
func fromCore(src bin.Source) (*Dump, error) {
	f, err := core.Open(src)
	if err != nil {
		return nil, err
	}
	if len(f.Threads) == 0 {
		return nil, noThreads(f)
	}
	d := &Dump{
		System: System{
			OS: minidump.Linux, OSName: "Linux", Arch: f.Arch, CPU: rule.For(f.Arch), CPUName: f.Arch.String(), BigEndian: f.BigEndian,
		},
		Memory: f.Memory, Requesting: -1, Problems: f.Problems, core: f,
	}
	if d.System.CPU != nil {
		d.System.CPUName, d.System.Wide = d.System.CPU.Name, d.System.CPU.Word == 8
	}
	if f.PID != 0 {
		d.PID = &f.PID
	}
	if s := f.Signal; s.Number != 0 {
		d.Exception = &reason.Exception{
			System: reason.Linux, Arch: f.Arch, Code: uint32(s.Number), Flags: uint32(s.Code), Address: s.Address,
		}
		d.Requesting = 0
	}
	for _, from := range f.Threads {
		t := Thread{ID: from.ID}
		switch {
		case d.System.CPU == nil:
			t.Absent = unsupported
		case from.Registers == nil:
			t.Absent = "no registers"
		}
		for _, r := range from.Registers {
			d.System.set(&t.Registers, r.Name, r.Value)
		}
		d.Threads = append(d.Threads, t)
	}
	for _, m := range f.Modules {
		d.Modules = append(d.Modules, minidump.Module{Module: m.Module, Base: m.Base, Size: m.Size})
	}
	for _, r := range f.Memory.Ranges() {
		d.Mappings = append(d.Mappings, minidump.Mapping{Addr: r.Addr, Size: r.Size, Protection: r.Protection, IsMapped: true})
	}
	return d, nil
}

// noThreads returns the error of a core file without threads, with the first of its
// problems, as they may be in a part that was cut off.
func noThreads(f *core.File) error {
	why := ""
	if len(f.Problems) > 1 {
		why = "; " + f.Problems[0].Reason
	}
	return fault.New(fault.Malformed, "core file, notes", "the file has no threads%s", why)
}

// Unidentified returns the indexes of the modules of a core file that have no build id.
func (d *Dump) Unidentified() (list []int) {
	for i := range d.Modules {
		if d.core != nil && d.Modules[i].DebugID.IsZero() {
			list = append(list, i)
		}
	}
	return list
}

// Identify gives a module without a build id the debug id of a file of this name from
// which it may have been loaded. It returns false if the file has a build id, another
// entry point, or other segments.
func (d *Dump) Identify(i int, name string, src bin.Source) bool {
	id, ok := d.core.IDFrom(i, src)
	if ok {
		d.Modules[i].DebugID = id
		if d.Assumed == nil {
			d.Assumed = map[int]string{}
		}
		d.Assumed[i] = name
	}
	return ok
}

// LocalFiles returns the files on this machine from whose paths the modules were loaded.
// They may be other builds by now.
func (d *Dump) LocalFiles() (files []string) {
	for _, m := range d.Modules {
		if !filepath.IsAbs(m.CodeFile) {
			continue
		}
		if info, err := os.Stat(m.CodeFile); err == nil && info.Mode().IsRegular() {
			files = append(files, m.CodeFile)
		}
	}
	return files
}

// MapFiles adds the memory that a core file omits because the process had mapped it from
// files, given by their paths. Files that differ from the mapped ones are ignored. The
// files must stay open as long as d is used. MapFiles must be called once, before any
// other use of d.
func (d *Dump) MapFiles(files map[string]bin.Source) {
	if d.core != nil {
		d.core.MapFiles(files)
	}
}
