// Package firefox rewrites profiles of the Firefox Profiler with names, as the
// profiler itself does when it symbolicates them.
//
// It reads processed profiles of the versions 42 to 70: the files that the profiler,
// samply and other tools save, in JSON or in containers of slabs (.jslb). Frames of a
// library whose function has an address instead of a name are looked up by their address,
// which is relative to the library and, for callers, already points into the call. The
// outermost function of the answer replaces the function of the frame; each inlined call
// gets a frame, and stacks with the frame get a stack for each of them. Frames that have
// names stay, unless filter.Run.Force is set. meta.symbolicated becomes true when a name
// was found, so that the profiler does not look names up itself.
//
// It also reads profiles of Firefox itself (Gecko profiles), whose frames are
// strings: addresses are replaced by one name each.
//
// All other members and columns are copied. The columns of the tables of frames,
// functions, native symbols, sources and stacks are in memory one at a time, except those
// that name others; samples and markers are written as they are read. A stack must follow
// its prefix, as in all files of the profiler. Containers are in memory as a whole, as a
// document.
package firefox

import (
	"bytes"
	"context"
	"io"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rawjson"
)

// Is reports whether head is the beginning of a profile.
func Is(head []byte) bool {
	text := bytes.TrimLeft(head, " \t\r\n")
	return bytes.HasPrefix(head, []byte(slabMagic)) || bytes.HasPrefix(text, []byte(`{"meta":{"version":`)) ||
		bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"preprocessedProfileVersion"`))
}

// Libraries returns the paths of the libraries of a profile.
func Libraries(data []byte) (paths []string, err error) {
	if bytes.HasPrefix(data, []byte(slabMagic)) {
		if data, err = flatten(data); err != nil {
			return nil, err
		}
	}
	r := rawjson.Reader{Data: data}
	paths = scanPaths(&r, nil)
	if r.End(); r.Err != nil {
		return nil, r.Err
	}
	return paths, nil
}

// scanPaths appends the paths of the libraries of a profile, or of a process in one of
// Firefox itself.
func scanPaths(r *rawjson.Reader, list []string) []string {
	for r.Enter('{'); r.Next(); {
		switch string(r.Key()) {
		case "libs":
			for r.Enter('['); r.Next(); {
				list = append(list, scanMapping(r).path)
			}
		case "processes":
			for r.Enter('['); r.Next(); {
				list = scanPaths(r, list)
			}
		default:
			r.Skip()
		}
	}
	return list
}

// Rewrite writes the profile in data to out with names.
func Rewrite(ctx context.Context, run *filter.Run, data []byte, out io.Writer) error {
	if bytes.HasPrefix(data, []byte(slabMagic)) {
		return rewriteSlabs(ctx, run, data, out)
	}
	return rewrite(ctx, run, data, out)
}
