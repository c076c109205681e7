package minidump

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
)

// A Module is a file that was loaded into the process.
type Module struct {
	ident.Module
	Base, Size uint64
	Version    string // empty if unknown
}

// An Unloaded is a module that was unloaded before the crash. Others may have
// its addresses.
type Unloaded struct {
	Name       string
	CodeID     ident.CodeID
	Base, Size uint64
}

// Signatures of CodeView records.
const (
	recordPDB70 = 0x53445352 // RSDS
	recordPDB20 = 0x3031424e // NB10
	recordELF   = 0x4270454c // LEpB
)

// modules reads the list of modules. Those without a size are skipped.
func (r *reader) modules(l Location) (modules []Module, err error) {
	err = r.list(l, 108, maxEntries, func(c *bin.Cursor) {
		m := Module{Base: r.sys.address(c.U64()), Size: uint64(c.U32())}
		c.Skip(4)
		timestamp, name := c.U32(), int64(c.U32())
		if m.Size == 0 || m.Base+m.Size < m.Base {
			r.problems.Add("module list", name, "invalid size %d of the module at %#x", m.Size, m.Base)
			return
		}
		m.Arch, m.Type = r.sys.Arch, r.sys.module
		m.CodeFile, _ = r.name("module name", name)
		m.Version = r.sys.version(c)
		record := location(c)
		if err := r.record(record, &m.Module, ident.PECodeID(timestamp, uint32(m.Size))); err != nil {
			r.problems.Add("CodeView record", record.Off, "%v", err)
		}
		modules = append(modules, m)
	})
	return modules, err
}

// unloaded reads the table of unloaded modules.
func (r *reader) unloaded(l Location) (modules []Unloaded, err error) {
	err = r.table(l, 24, maxEntries, false, func(c *bin.Cursor) {
		m := Unloaded{Base: r.sys.address(c.U64()), Size: uint64(c.U32())}
		c.Skip(4)
		m.CodeID = ident.PECodeID(c.U32(), uint32(m.Size))
		name := int64(c.U32())
		if m.Size == 0 || m.Base+m.Size < m.Base {
			r.problems.Add("unloaded modules", name, "invalid size %d of the module at %#x", m.Size, m.Base)
			return
		}
		m.Name, _ = r.name("module name", name)
		modules = append(modules, m)
	})
	return modules, err
}

// record sets the ids and the debug file of a module from its CodeView record.
// The code id of a PE file is peID.
func (r *reader) record(l Location, m *ident.Module, peID ident.CodeID) error {
	if l.Size == 0 {
		if r.sys.OS == Windows {
			m.CodeID = peID
		}
		return nil
	}
	c, err := r.cursor(l)
	if err != nil {
		return err
	}
	switch signature := c.U32(); signature {
	case recordPDB70:
		var id [16]byte
		copy(id[:], c.Bytes(16))
		age := c.U32()
		m.DebugID = r.debugID(id, age)
		if m.CodeID = peID; m.Type == ident.TypeMachO {
			m.CodeID = ident.UUIDCodeID(m.DebugID.UUID())
		}
	case recordPDB20:
		c.Skip(4)
		timestamp := c.U32()
		m.DebugID, m.CodeID = ident.NewPDB20(timestamp, c.U32()), peID
	case recordELF:
		return r.buildID(c, m)
	default:
		return fmt.Errorf("unknown signature %#x", signature)
	}
	if c.Err() != nil {
		*m = ident.Module{Type: m.Type, Arch: m.Arch, CodeFile: m.CodeFile}
		return fmt.Errorf("%d bytes are too few", l.Size)
	}
	name, _, _ := bytes.Cut(c.Bytes(c.Len()), []byte{0})
	if err := r.charge(int64(len(name))); err != nil {
		return err
	}
	m.DebugFile = valid(name)
	return nil
}

// debugID returns the id of a GUID, whose fields are in the byte order of the
// file. A nil GUID is not an id.
func (r *reader) debugID(id [16]byte, age uint32) ident.DebugID {
	switch {
	case id == [16]byte{}:
		return ident.DebugID{}
	case r.order == binary.BigEndian:
		return ident.NewDebugID(id, age)
	}
	return ident.NewGUID(id, age)
}

// maxBuildID is the number of bytes of the longest build id. Linkers write 8 to
// 20 bytes.
const maxBuildID = 64

// buildID sets the ids of an ELF module. Zeros are not an id.
func (r *reader) buildID(c *bin.Cursor, m *ident.Module) error {
	if m.DebugFile = m.CodeFile; c.Len() > maxBuildID {
		return fmt.Errorf("invalid build id of %d bytes: must have at most %d", c.Len(), maxBuildID)
	}
	raw := c.Bytes(c.Len())
	if len(bytes.Trim(raw, "\x00")) == 0 {
		return nil
	}
	id := ident.NewBuildID(raw)
	m.CodeID, m.DebugID = id.CodeID(), id.DebugID(r.order == binary.BigEndian)
	return nil
}
