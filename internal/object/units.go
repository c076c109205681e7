package object

import (
	"encoding/binary"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
)

// Needs returns the files without which the image has less than it could.
func (g *image) Needs() []Need {
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

// Supply takes in a file that the image needs, if it fits.
func (g *image) Supply(n Need, src bin.Source, info *Info) (used bool, err error) {
	switch n.Kind {
	case NeedMap:
		return g.supplyMap(src)
	case NeedObject:
		return g.supplyObject(n, src)
	case NeedModule:
		return g.supplyModule(src, info)
	}
	if g.dwarf == nil || n.Kind != NeedAlt && n.Kind != NeedSplit {
		return false, nil
	}
	role := Role{Index: 1}
	if n.Kind == NeedSplit {
		role = Role{Index: firstSplit + g.splits, Split: true}
	}
	if role.Index > maxSecond {
		return false, fault.New(fault.Unsupported, "debug file", "it has more than %d files beside it", maxSecond)
	}
	f, err := g.in.Open(src, role)
	if err != nil {
		return false, err
	}
	h, ok := f.Objects()[0].View().(*image)
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
	s.Relax = g.in.Relax
	g.dwarf = dwarf.Open(*s, g.in.Index)
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
		g.found.At("damaged units", p.Section, int64(p.Off), p.Reason)
	}
}
