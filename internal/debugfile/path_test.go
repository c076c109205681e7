package debugfile_test

import (
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

func TestPathsAreCleaned(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b/c.c":         "/a/b/c.c",
		"rel/dir/d.c":      "rel/dir/d.c",
		"plain.c":          "plain.c",
		"./dot/e.c":        "dot/e.c",
		"/a/../up/f.c":     "up/f.c",
		"../../g.c":        "../../g.c",
		"a/../../../h.c":   "../../h.c",
		`c:\win\h.c`:       `c:\win\h.c`,
		`\\server\share\i`: `\\server\share\i`,
		`sub\back\j.c`:     `sub\back\j.c`,
		"C:/fwd/k.c":       `C:\fwd\k.c`,
		`c:\a\..\b\t.c`:    `c:\b\t.c`,
		`/x/\y/mixed.c`:    `\x\\y\mixed.c`,
		"/trail/slash/":    "/trail/slash",
		"//double//q.c":    `\\double\q.c`,
		"/a/./r.c":         "/a/r.c",
		"<built-in>":       "<built-in>",
		"/src/<macro>/s.c": "/src/<macro>/s.c",
		"/src/<stdin>":     "<stdin>",
		"/x/c:":            "c:",
		"a///b":            "a/b",
		"///x":             `\x`,
		"/a//b/../c":       "/a//c",
		"hg:hg.example.org/tree:dir/l.cpp:abc123":       "hg:hg.example.org/tree:dir/l.cpp:abc123",
		"git:github.com/o/r:src/../m.rs:deadbeef":       "git:github.com/o/r:src/../m.rs:deadbeef",
		`s3:bucket:hash//n.h:`:                          `s3:bucket:hash//n.h:`,
		"/a/very/long/path" + string(make([]byte, 300)): "/a/very/long/path" + string(make([]byte, 300)),
	} {
		o := open(t, fixture.NewSym("x").File(0, path).Func(0x10, 0x10, "f").Line(0x10, 0x10, 1, 0).Bytes())
		got := str(o, o.Lookup(nil, 0x10)[0].File)
		if got != path {
			t.Errorf("%q: the file has %q", path, got)
		}
		if got = string(object.CleanPath([]byte("x"+got), 1)); got != "x"+want {
			t.Errorf("%q: got %q, want %q", path, got, "x"+want)
		}
	}
}

func TestPathsThatAreNothingAreNoFile(t *testing.T) {
	for path, none := range map[string]bool{
		"": true, " ": true, "./": true, "/": true, ".": true, "a/..": true, "a/../": true, `a\..`: true, "././.": true,
		"..": false, "a": false, "../a/..": false, "/..": false, "c:": false,
	} {
		o := open(t, fixture.NewSym("x").File(0, path).Func(0x10, 0x10, "f").Line(0x10, 0x10, 1, 0).Bytes())
		f := o.Lookup(nil, 0x10)[0]
		if (f.File == 0) != none || none == (str(o, f.File) != "") {
			t.Errorf("%q is %q", path, str(o, f.File))
		}
	}
}
