package units

import "bytes"

// HiddenMark begins a name that was replaced by a number.
const HiddenMark = "__hidden#"

// unhide replaces a hidden name that begins at an index of dst. One of C has an
// underscore in the map.
func (g *Image) unhide(dst []byte, from int) []byte {
	if g.hidden == nil || !bytes.HasPrefix(dst[from:], []byte(HiddenMark)) {
		return dst
	}
	return append(dst[:from], g.hidden.Symbol(dst[from:])...)
}

// unhidePath replaces the hidden parts of a path. A part that becomes an absolute
// path replaces the parts before it.
func (g *Image) unhidePath(path []byte) []byte {
	if g.hidden == nil || !bytes.Contains(path, []byte(HiddenMark)) {
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
