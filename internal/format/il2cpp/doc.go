// Package il2cpp reads the mapping that Sentry's tools make of a program of
// Unity (LineNumberMapping.json): which line of C# a line of the C++ comes from
// that Unity's compiler makes of it.
//
//	{"__debug-id__": {"…": {}},
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
// A text in the stead of the object of debug ids is one as well. A mapping without
// lines is none, nor is one with half a character in a string.
//
// Limits: 5 million lines, a million of one file, 16 MiB for the names of files,
// 64 KiB for a string, and 128 levels of JSON: some 64 MiB while it is read, and 80
// then, most of them in the space that the caller gives. Bytes of text are bounded
// by who reads them; they are not kept.
package il2cpp
