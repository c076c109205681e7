package object

import (
	"bytes"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/format/macho"
	"symbolon/internal/unpack"
)

// hiddenMark begins a name that was replaced by a number.
const hiddenMark = "__hidden#"

// supplyMap takes in the map of the names that were hidden.
func (g *image) supplyMap(src bin.Source) (bool, error) {
	text, err := bin.Read(src, 0, int(min(src.Size(), unpack.MaxUnpacked)))
	if err != nil {
		return false, ReadFault(0, err)
	}
	m, err := macho.ReadSymbolMap(text)
	if err != nil {
		return false, err
	}
	g.hidden = m
	g.needs = slices.DeleteFunc(g.needs, func(n Need) bool { return n.Kind == NeedMap })
	return true, nil
}

// unhide replaces a hidden name that begins at an index of dst. One of C has an
// underscore in the map.
func (g *image) unhide(dst []byte, from int) []byte {
	if g.hidden == nil || !bytes.HasPrefix(dst[from:], []byte(hiddenMark)) {
		return dst
	}
	return append(dst[:from], g.hidden.Symbol(dst[from:])...)
}

// unhidePath is a path of which each part may be hidden. A part that turns out
// to begin at a root replaces what is before it.
func (g *image) unhidePath(path []byte) []byte {
	if g.hidden == nil || !bytes.Contains(path, []byte(hiddenMark)) {
		return path
	}
	var whole []byte
	for part := range bytes.SplitSeq(path, []byte("/")) {
		part = g.hidden.Name(part)
		switch {
		case len(part) > 0 && part[0] == '/':
			whole = append(whole[:0], part...)
			continue
		case len(whole) > 0 || len(part) == 0:
			whole = append(whole, '/')
		}
		whole = append(whole, part...)
	}
	return whole
}
