// Package il2cpp reads the mapping that Sentry's tools make of a program of
// Unity (LineNumberMapping.json): which line of C# a line of the C++ comes from
// that Unity's compiler makes of it.
//
//	{"__debug-id__": "…",
//	 "/out/Assembly-CSharp.cpp": {
//	   "/game/Assets/Player.cs": {"120": 14, "131": 15}}}
//
// A line of C++ has the mapping of the last one at or above it that is listed
// for its file, whichever file of C# that names, unless that is more than 50
// lines away. Of a line that is listed for several files of C# the last name
// counts: the peer takes it for the lines below, and leaves it open for the line
// itself. Within one file the later counts. What stands in the place of an
// object and is none maps nothing; a line that is no number of 32 bits makes the
// whole mapping unusable.
//
// Limits: 8 million lines, a million files of either language, and 128 levels of
// JSON. Bytes are bounded by who reads them.
package il2cpp
