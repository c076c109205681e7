// Package il2cpp reads the mappings that Sentry's tools write for Unity
// programs (LineNumberMapping.json): from lines of the generated C++ to lines
// of the C# source.
//
//	{"__debug-id__": {"…": {}},
//	 "/out/Assembly-CSharp.cpp": {
//	   "/game/Assets/Player.cs": {"120": 14, "131": 15}}}
//
// A line of C++ has the mapping of the last listed line at or above it in the
// same file, whatever its C# file, unless that is more than 50 lines above. If
// a line is listed for several C# files, the last name in order wins: the peer
// uses it for the lines below, and leaves it open for the line itself. Within
// one C# file the last entry wins. A value that should be an object and is not
// maps nothing; a line that is not a 32-bit number makes the mapping invalid.
//
// A string instead of the object of debug ids is accepted as one id. A mapping
// without lines is invalid, as is one with an unpaired surrogate in a string.
//
// Limits: 5 million lines, 1 million in each file, 16 MiB for the names of
// files, 64 KiB for a string, and 128 levels of JSON. Reading takes about 64
// MiB and a Map about 80, most of it in the space of the caller. The caller
// limits the size of the text, which is not retained.
//
// A Map does not change and is safe for concurrent use.
package il2cpp
