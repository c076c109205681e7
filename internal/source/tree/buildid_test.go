package tree_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
)

// TestFoldersOfBuildIDsAnswerDebugIDs asks for modules that are known by their
// debug id alone.
func TestFoldersOfBuildIDsAnswerDebugIDs(t *testing.T) {
	const short = "0123456789abcdef"
	rest := buildID[2:]
	other := "ca/" + strings.Repeat("0", 38) + ".debug"
	for _, c := range []struct {
		name   string
		layout source.Layout
		path   string
		id     ident.DebugID
	}{
		{"below .build-id", source.Layout{}, ".build-id/ca/" + rest + ".debug", byDebugID().DebugID},
		{".build-id itself", source.Layout{}, "ca/" + rest + ".debug", byDebugID().DebugID},
		{"the program", source.Layout{}, "ca/" + rest, byDebugID().DebugID},
		{"native that is set", source.Layout{Type: source.Native}, "ca/" + rest + ".debug", byDebugID().DebugID},
		{"in upper case", source.Layout{Type: source.Native, Casing: source.Uppercase}, strings.ToUpper("ca/" + rest + ".debug"), byDebugID().DebugID},
		{"unified", source.Layout{Type: source.Unified}, "ca/" + rest + "/debuginfo", byDebugID().DebugID},
		{"unified, recognised", source.Layout{}, "ca/" + rest + "/debuginfo", byDebugID().DebugID},
		{"big-endian", source.Layout{}, "ca/" + rest + ".debug", ident.BuildID(buildID).DebugID(true)},
		{"of 8 bytes", source.Layout{}, "01/" + short[2:] + ".debug", ident.BuildID(short).DebugID(false)},
	} {
		root := folder(t, map[string][]byte{c.path: nil, other: nil, "ca/README": nil})
		s := local(t, source.Config{Path: root, Layout: c.layout}, bucketOf(t, root))
		if got := there(t, s, ident.Module{DebugFile: "kiln", DebugID: c.id}); len(got) != 1 || got[0] != c.path {
			t.Errorf("%s: found %q, want %s", c.name, got, c.path)
		}
	}
}

func TestFolderOfARequestIsNotListedForBuildIDs(t *testing.T) {
	root := folder(t, map[string][]byte{"ca/" + buildID[2:] + ".debug": nil})
	s, err := tree.NewGuarded(source.Config{ID: "s", Type: source.Filesystem, Path: root}, bucketOf(t, root), source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got := there(t, s, byDebugID()); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}
