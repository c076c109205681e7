package text_test

import (
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
)

// A server would take the addresses of such a program for others.
func TestProgramsThatAreNotRelocatedAreKnownFromLinesBefore(t *testing.T) {
	const (
		frame   = "#0 0x400200  (app+0x400200)\n"
		movable = "#0 0x55c000000200  (app+0x200)\n"
		summary = "SUMMARY: AddressSanitizer: SEGV (app+0x400300)\n"
		thread  = "    #0 <null> <null> (app+0x400300)\n"
		library = "    #0 <null> <null> (lib.so.1+0x400300)\n"
		low     = "  Write of size 4 at 0x000002066258 by main thread:\n"
		high    = "  Read of size 8 at 0x7b0400000800 by thread T1:\n"
	)
	for in, want := range map[string]filter.Space{
		summary:                       filter.Linked,
		frame + summary:               filter.Fixed,
		frame + movable + summary:     filter.Linked,
		movable + summary:             filter.Linked,
		low + thread:                  filter.Fixed,
		low + thread + "\n" + summary: filter.Fixed,
		low + movable + summary:       filter.Linked,
		low + library:                 filter.Linked,
		high + thread:                 filter.Linked,
		low + thread + high + thread:  filter.Linked,
		low + "x of size 4 at 0x5 by main thread:\n" + thread: filter.Linked, // a null pointer
		low + "x of size 4 at 0x:\r\n" + thread:               filter.Linked,
	} {
		a := &asked{}
		run(t, &filter.Run{Names: a, Known: map[string]ident.Module{"app": {CodeID: id}, "lib.so.1": {CodeID: id}}}, in)
		spaces := make([]filter.Space, len(a.list))
		for i := range a.list {
			spaces[i] = a.list[i].Space
		}
		if len(spaces) == 0 || spaces[len(spaces)-1] != want {
			t.Errorf("%q: spaces are %v, want %v for the last address", in, spaces, want)
		}
	}
}
