package units

import (
	"slices"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// declaration returns where a function or a variable is declared.
func declaration(c *dwarf.Nodes, n *dwarf.Node) (d object.Decl) {
	h := c.Holder(n, dwarf.AttrDeclFile)
	if file, ok := h.Number(dwarf.AttrDeclFile); ok && c.UnitOf(h) >= 0 && file < uint64(dwarf.NoFile) {
		d.File = fileText(c.UnitOf(h), uint32(file)+1)
	}
	if line, ok := c.Holder(n, dwarf.AttrDeclLine).Number(dwarf.AttrDeclLine); ok && line < 1<<32 {
		d.Line = uint32(line)
	}
	return d
}

// call is a function, or a call that was inlined into it.
type call struct {
	dwarf.Node
	depth  int
	caller *call
	ranges []dwarf.Range
}

// callsIn returns a function and the calls inlined into it.
func callsIn(c *dwarf.Nodes, fn dwarf.Node) []*call {
	around := &call{Node: fn} // the call or the function that a DIE is in
	all := []*call{around}
	c.Walk(&fn, func(n *dwarf.Node, depth int) bool {
		for around.depth >= depth {
			around = around.caller
		}
		if n.Tag != dwarf.TagInlined {
			return n.Tag != dwarf.TagSubprogram
		}
		ranges, _ := c.Ranges(n)
		around = &call{*n, depth, around, ranges}
		all = append(all, around)
		return true
	})
	return all
}

// callsAt returns the function and those of the calls inlined into it that contain an
// address, outermost first. In strict DWARF 2, where a call has one range only, a call
// may have code outside of its caller: then the caller contains it too.
func callsAt(all []*call, place uint64) []dwarf.Node {
	innermost := all[0]
	for _, x := range all[1:] {
		if x.depth > innermost.depth && slices.ContainsFunc(x.ranges, func(r dwarf.Range) bool { return place >= r.Start && place < r.End }) {
			innermost = x
		}
	}
	var list []dwarf.Node
	for ; innermost != nil; innermost = innermost.caller {
		list = append(list, innermost.Node)
	}
	slices.Reverse(list)
	return list
}

// starts returns the declarations of calls and of their function, innermost first.
// Lift is added to their addresses.
func starts(c *dwarf.Nodes, calls []dwarf.Node, lift uint64) (list []object.Start) {
	for i := range slices.Backward(calls) {
		n := &calls[i]
		s := object.Start{Decl: declaration(c, n), Name: sym.Text(c.Name(n))}
		s.Addr, s.HasAddr = c.Address(n, dwarf.AttrLowPC)
		s.Addr += lift
		if mark, ok := n.Number(dwarf.AttrDiscriminator); ok && mark < 1<<32 {
			s.Discriminator = uint32(mark)
		}
		list = append(list, s)
	}
	return list
}

// scope is a function, or a call that was inlined into it.
type scope struct {
	depth int
	name  sym.Text
	frame int // register that has the frame, or -1
}

func newScope(c *dwarf.Nodes, n *dwarf.Node, depth int) scope {
	return scope{depth, sym.Text(c.Name(n)), n.Expression(dwarf.AttrFrameBase).Register()}
}

// locals returns the variables of a function or a call, and of the calls inlined
// into it.
func locals(c *dwarf.Nodes, fn *dwarf.Node) (list []object.Local) {
	scopes := []scope{newScope(c, fn, 0)}
	c.Walk(fn, func(n *dwarf.Node, depth int) bool {
		for depth <= scopes[len(scopes)-1].depth {
			scopes = scopes[:len(scopes)-1]
		}
		switch n.Tag {
		case dwarf.TagVariable, dwarf.TagParameter:
			list = append(list, local(c, n, &scopes[len(scopes)-1]))
			return false
		case dwarf.TagInlined:
			if origin, ok := c.Refer(n, dwarf.AttrOrigin); ok {
				scopes = append(scopes, newScope(c, &origin, depth))
			}
		}
		return true
	})
	return list
}

func local(c *dwarf.Nodes, n *dwarf.Node, in *scope) object.Local {
	l := object.Local{Function: in.name}
	c.Locations(n, dwarf.AttrLocation, func(x dwarf.Expression) bool {
		l.Offset, l.HasOffset = x.FrameOffset(in.frame)
		return !l.HasOffset
	})
	l.Tag, l.HasTag = n.Number(dwarf.AttrTagOffset)
	if origin, ok := c.Refer(n, dwarf.AttrOrigin); ok {
		n = &origin
	}
	l.Name, l.Decl = sym.Text(c.Name(n)), declaration(c, n)
	if t, ok := c.Refer(n, dwarf.AttrType); ok {
		l.Size, l.HasSize = sizeOf(c, &t, maxTypes)
	}
	return l
}

// maxTypes limits a chain of types. References may be cyclic.
const maxTypes = 32

// sizeOf returns the size of a type.
func sizeOf(c *dwarf.Nodes, n *dwarf.Node, left int) (size uint64, ok bool) {
	if size, ok = n.Number(dwarf.AttrByteSize); ok {
		return size, true
	}
	to, known := c.Refer(n, dwarf.AttrType)
	switch {
	case n.Tag == dwarf.TagMemberPointer && known && to.Tag == dwarf.TagSubroutine:
		return 2 * n.Pointer(), true
	case n.Tag == dwarf.TagPointer, n.Tag == dwarf.TagReference, n.Tag == dwarf.TagRvalueReference, n.Tag == dwarf.TagMemberPointer:
		return n.Pointer(), true
	case !known || left == 0:
		return 0, false
	}
	if size, ok = sizeOf(c, &to, left-1); !ok || n.Tag != dwarf.TagArray {
		return size, ok
	}
	c.Walk(n, func(n *dwarf.Node, _ int) bool {
		if count, ok := n.Number(dwarf.AttrCount); ok {
			size *= count
		}
		if last, ok := n.Number(dwarf.AttrUpperBound); ok {
			first, _ := n.Number(dwarf.AttrLowerBound)
			size *= last - first + 1
		}
		return false
	})
	return size, true
}

// variable is a variable at a fixed address of the file.
type variable struct {
	start, size uint64
	object.Decl
}

// appendVariables appends the variables of a unit. One without a type has a byte.
func appendVariables(list []variable, c *dwarf.Nodes) []variable {
	root, ok := c.Root()
	if !ok {
		return list
	}
	c.Walk(&root, func(n *dwarf.Node, _ int) bool {
		switch n.Tag {
		case dwarf.TagStructure, dwarf.TagClass, dwarf.TagUnion, dwarf.TagEnumeration, dwarf.TagSubroutine, dwarf.TagArray:
			return false
		case dwarf.TagVariable:
			addr, ok := c.Fixed(n.Expression(dwarf.AttrLocation))
			if !ok {
				return true
			}
			v := variable{start: addr, size: 1, Decl: declaration(c, n)}
			if t, ok := c.Refer(c.Holder(n, dwarf.AttrType), dwarf.AttrType); ok {
				if size, ok := sizeOf(c, &t, maxTypes); ok {
					v.size = size
				}
			}
			list = append(list, v)
		}
		return true
	})
	return list
}
