package crash

import (
	"os"
	"path/filepath"

	"symbolon/internal/bin"
	"symbolon/internal/crash/reason"
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
	d := &Dump{
		System: System{
			OS: minidump.Linux, OSName: "Linux", Arch: f.Arch, CPU: rule.For(f.Arch), CPUName: f.Arch.String(), BigEndian: f.BigEndian,
		},
		Memory: coreMemory{&f.Memory}, Requesting: -1, isCore: true,
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
		d.Mappings = append(d.Mappings, minidump.Mapping{
			Addr: r.Addr, Size: r.Size, Readable: r.Flags&4 != 0, Writable: r.Flags&2 != 0, Executable: r.Flags&1 != 0, IsMapped: true,
		})
	}
	return d, nil
}

// LocalFiles returns the files on this machine from whose paths the modules of a core
// file were loaded. They may be other builds by now.
func (d *Dump) LocalFiles() (files []string) {
	for _, m := range d.Modules {
		if !d.isCore || !filepath.IsAbs(m.CodeFile) {
			continue
		}
		if info, err := os.Stat(m.CodeFile); err == nil && info.Mode().IsRegular() {
			files = append(files, m.CodeFile)
		}
	}
	return files
}

// coreMemory is the memory in a core file.
type coreMemory struct{ *core.Memory }

// Region returns the bounds of the stored range around an address.
func (m coreMemory) Region(addr uint64) (start, end uint64) {
	r, _ := m.Memory.Region(addr)
	return r.Addr, r.Addr + r.Stored
}
