package object

import (
	"encoding/binary"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/ident"
)

// Need is another file that an object refers to.
type Need struct {
	Kind   NeedKind
	Name   string // as the object names it
	Dir    string // what a relative Name is relative to, if the object says so
	ID     []byte // build id or id of the unit; nil: none is known
	CRC    uint32 // of the content, for NeedDebug with a name
	Member string // of the archive that Name is, for NeedObject
	Time   int64  // when a NeedObject that is no member was written last, in seconds since 1970; 0: it does not say

	DebugID ident.DebugID // of NeedPDB

	linked *linked // of NeedObject
}

// NeedKind says what a needed file has.
type NeedKind uint8

const (
	NeedDebug  NeedKind = iota // all debug information: the file that it was moved to
	NeedAlt                    // what several files share
	NeedSplit                  // the debug information of one unit
	NeedDSYM                   // all debug information of a Mach-O binary
	NeedObject                 // the debug information of what was linked from one object file
	NeedModule                 // all debug information of a module of WebAssembly: another one with the same code
	NeedMap                    // the names that numbers stand for, since the binary went through Apple's store
	NeedPDB                    // all debug information of a Windows binary
)

var needNames = [...]string{"debug", "alt", "split", "dsym", "object", "module", "symbol map", "pdb"}

func (k NeedKind) String() string { return needNames[k] }

// Needs are the files without which the object says less than it could.
func (o *Object) Needs() []Need {
	g, ok := o.view.(*image)
	if !ok {
		return nil // it is whole
	}
	needs := append([]Need(nil), g.needs...)
	if g.dwarf == nil {
		return needs
	}
	for _, m := range g.dwarf.Missing() {
		if u := g.dwarf.Unit(m.Unit); len(u.Ranges) == 0 && !u.HasLines {
			continue // a module of clang, which has no code
		}
		needs = append(needs, Need{
			Kind: NeedSplit, Name: string(m.Name), Dir: string(m.Dir), ID: binary.BigEndian.AppendUint64(nil, m.DwoID),
		})
	}
	return needs
}

// Supply gives the object a file that it needs, and says whether it fits. The
// object keeps src. It must come before the first question.
func (o *Object) Supply(n Need, src bin.Source) (used bool, err error) {
	defer func() {
		if used {
			o.size += src.Size()
		}
	}()
	g, ok := o.view.(*image)
	switch {
	case ok && n.Kind == NeedMap:
		return g.supplyMap(src)
	case ok && n.Kind == NeedObject:
		return g.supplyObject(n, src)
	case ok && n.Kind == NeedModule:
		return g.supplyModule(o, src)
	}
	if !ok || g.dwarf == nil || n.Kind != NeedAlt && n.Kind != NeedSplit {
		return false, nil
	}
	opt := g.opt
	opt.index = 1
	if n.Kind == NeedSplit {
		opt.index, opt.split = firstSplit+g.splits, true
	}
	if opt.index > maxSecond {
		return false, fault.New(fault.Unsupported, "debug file", "it has more than %d files beside it", maxSecond)
	}
	f, err := Open(src, opt)
	if err != nil {
		return false, err
	}
	h, ok := f.objects[0].view.(*image)
	if !ok || h.dwarf == nil {
		return false, nil
	}
	switch {
	case n.Kind == NeedSplit && g.dwarf.Attach(h.dwarf) > 0:
		g.splits++
	case n.Kind == NeedAlt && (string(n.ID) == string(h.buildID) || string(n.ID) == string(h.shared)):
		g.dwarf.SetAlt(h.dwarf)
		g.needs = slices.DeleteFunc(g.needs, func(n Need) bool { return n.Kind == NeedAlt })
	default:
		return false, nil
	}
	g.adopt(h)
	return true, nil
}

// adopt notes that some of what is known comes from h.
func (g *image) adopt(h *image) {
	g.supplied = append(g.supplied, h)
	g.footing += h.footing
	g.opt.mapped = g.opt.mapped || h.opt.mapped
}

const (
	firstSplit = 2
	maxSecond  = 1<<16 - 1
)

// openDWARF reads the units of an image, given its .debug_info and a way to
// the other sections.
func (g *image) openDWARF(s *dwarf.Sections, data func(name string) []byte) {
	if len(s.Info) == 0 {
		return
	}
	s.Types, s.Abbrev = data("types"), data("abbrev")
	s.Line, s.LineStr, s.Str = data("line"), data("line_str"), data("str")
	s.StrOffsets, s.Addr = data("str_offsets"), data("addr")
	s.Ranges, s.Rnglists = data("ranges"), data("rnglists")
	if s.Split {
		s.CUIndex, s.TUIndex = data("cu_index"), data("tu_index")
	}
	g.relocatable, g.aranges = s.Relocatable, data("aranges")
	g.lineSections = dwarf.LineSections{Line: s.Line, LineStr: s.LineStr, Str: s.Str, Order: s.Order}
	s.Relax = g.opt.relax
	g.dwarf = dwarf.Open(*s, g.opt.index)
	g.tellUnits()
}

// readUnits reads the roots of all units, if that was not done.
func (g *image) readUnits() {
	g.once.units.Do(func() {
		if g.dwarf != nil {
			g.findSharers(g.dwarf.Units())
			g.tellUnits()
		}
	})
}

// tellUnits tells what is damaged of the units that were read.
func (g *image) tellUnits() {
	for _, p := range g.dwarf.Problems() {
		g.problems.at("damaged units", p.Section, int64(p.Off), p.Reason)
	}
}
