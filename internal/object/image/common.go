package image

import (
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/format/gopcln"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
)

// common has the parts that the formats of binaries share.
type common struct {
	*units.Image
	in       object.Input
	dwarf    *units.DWARF // nil: none
	isGo     bool         // the units are those of a Go function table
	needs    []object.Need
	buildID  []byte
	shared   []byte    // the id that others have of it as their alternate file
	supplied []*common // in other files
}

// base returns c; it finds the common part of any format.
func (c *common) base() *common { return c }

// setGo sets the function table of a Go program as the units.
func (c *common) setGo(t *gopcln.Table) {
	units.NewGo(c.Image, t)
	c.isGo = true
}

// features adds the features of the units.
func (c *common) features(f object.Features) object.Features {
	if c.dwarf != nil {
		f |= c.dwarf.Features()
	}
	if c.isGo {
		f |= object.HasSymbols
	}
	return f
}

// drop removes needs that are supplied.
func (c *common) drop(done func(n object.Need) bool) { c.needs = slices.DeleteFunc(c.needs, done) }

// Needs returns the files without which the image has less than it could.
func (c *common) Needs() []object.Need {
	needs := slices.Clone(c.needs)
	if c.dwarf != nil {
		needs = append(needs, c.dwarf.Needs()...)
	}
	return needs
}

// openNeeded opens a needed file. It returns nil if that has no DWARF.
func (c *common) openNeeded(src bin.Source, role object.Role) (*common, error) {
	f, err := c.in.Open(src, role)
	if err != nil {
		return nil, err
	}
	v, ok := f.Objects()[0].View().(interface{ base() *common })
	if !ok || v.base().dwarf == nil {
		return nil, nil
	}
	return v.base(), nil
}

// Supply takes in an alternate or a split file.
func (c *common) Supply(n object.Need, src bin.Source, _ *object.Info) (used bool, err error) {
	if c.dwarf == nil || n.Kind != object.NeedAlt && n.Kind != object.NeedSplit {
		return false, nil
	}
	role, err := c.dwarf.RoleOf(n.Kind)
	if err != nil {
		return false, err
	}
	h, err := c.openNeeded(src, role)
	if h == nil {
		return false, err
	}
	switch {
	case n.Kind == object.NeedSplit && c.dwarf.Attach(h.dwarf):
	case n.Kind == object.NeedAlt && (string(n.ID) == string(h.buildID) || string(n.ID) == string(h.shared)):
		c.dwarf.SetAlt(h.dwarf)
		c.drop(func(n object.Need) bool { return n.Kind == object.NeedAlt })
	default:
		return false, nil
	}
	c.adopt(h)
	return true, nil
}

// adopt makes h a part of c.
func (c *common) adopt(h *common) {
	c.supplied = append(c.supplied, h)
	c.Memory += h.Memory
}

// Describe adds the damage that is known of the file and of those supplied.
func (c *common) Describe(info *object.Info) int64 {
	n := c.Image.Describe(info)
	for _, h := range c.supplied {
		var own object.Info
		h.Describe(&own)
		info.BadRecords += own.BadRecords
		info.Damage = append(info.Damage, own.Damage...)
	}
	return n
}
