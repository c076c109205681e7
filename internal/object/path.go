package object

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// AppendPath appends the displayed path of a FILE record.
func AppendPath(dst, path []byte) []byte {
	if isLink(path) {
		return append(dst, path...)
	}
	var room [256]byte
	whole := joinPath(room[:0], path)
	sep := byte('/')
	if isWindows(whole) {
		sep = '\\'
	}
	from := len(dst)
	between := false // a separator is due before the next segment
	above := false   // the path has left the place that it started from
	for len(whole) > 0 {
		segment := whole
		if i := bytes.IndexAny(whole, `/\`); i >= 0 {
			segment, whole = whole[:i], whole[i+1:]
		} else {
			whole = nil
		}
		switch {
		case string(segment) == ".":
			continue
		case string(segment) == ".." && !above && len(dst) > from:
			dst = dst[:max(from, bytes.LastIndexAny(dst[from:], `/\`)+from)]
			between = len(dst) > from
			continue
		case string(segment) == ".." && !above:
			above, between = true, false
		}
		if between {
			dst = append(dst, sep)
		}
		dst = append(dst, segment...)
		between = true
	}
	return dst
}

// CleanPath replaces the path that dst has from an index on by the one that
// AppendPath appends for it.
func CleanPath(dst []byte, from int) []byte {
	path := dst[from:]
	if isClean(path) || isLink(path) {
		return dst
	}
	return AppendPath(dst[:from], bytes.Clone(path))
}

// isClean reports whether AppendPath certainly changes nothing.
func isClean(path []byte) bool {
	last := byte('/') // before the first segment
	for i, c := range path {
		switch {
		case c == '\\' || c == ':' || c == '<', last == '/' && (c == '.' || c == '/' && i > 0):
			return false
		}
		last = c
	}
	return last != '/'
}

// isLink reports whether a path is in a version control system or a store.
func isLink(path []byte) bool {
	return bytes.HasPrefix(path, []byte("hg:")) || bytes.HasPrefix(path, []byte("git:")) ||
		bytes.HasPrefix(path, []byte("s3:"))
}

// joinPath appends path without separators at its end, and with one before its
// last part. A last part in angle brackets or with a drive letter is the whole
// path.
func joinPath(dst, path []byte) []byte {
	if trimmed := bytes.TrimRight(path, `/\`); len(trimmed) > 0 {
		path = trimmed
	}
	i := bytes.LastIndexAny(path, `/\`)
	dir, name := path[:max(i, 0)], path[i+1:]
	if i == 0 {
		dir = path[:1]
	}
	switch {
	case len(name) > 0 && name[0] == '<' && name[len(name)-1] == '>', len(dir) == 0, isDrive(name):
		return append(dst, name...)
	case len(name) == 0:
		return append(dst, dir...)
	}
	sep := byte('/')
	if isWindows(dir) {
		sep = '\\'
	}
	dst = append(dst, bytes.TrimRight(dir, `/\`)...)
	return append(append(dst, sep), name...)
}

func isWindows(path []byte) bool {
	return bytes.HasPrefix(path, []byte("//")) || isDrive(path) || bytes.IndexByte(path, '\\') >= 0
}

func isDrive(path []byte) bool {
	return len(path) >= 2 && path[1] == ':' && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z' &&
		(len(path) == 2 || path[2] == '/' || path[2] == '\\')
}

// Valid replaces bytes that are not UTF-8.
func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// ValidTail replaces bytes after an index that are not UTF-8.
func ValidTail(dst []byte, from int) []byte {
	if utf8.Valid(dst[from:]) {
		return dst
	}
	return append(dst[:from], bytes.ToValidUTF8(dst[from:], []byte("\uFFFD"))...)
}
