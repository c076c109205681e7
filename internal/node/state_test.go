package node_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/node"
)

func TestFoldersWithUploadsAreKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"upload/default/ubnr/ubnr8hu21m96de2tnl3g":               true,
		"id/0f1/d0f1.default.ubnr8hu21m96de2tnl3g.be81403e.1.11": true,
		"keys/1":                              true,
		"MY/ko/MYkoFPFsriYHlAk_uv1TSw/ranges": true,
		"upload":                              false,
		"photos/id/1":                         false,
		"AB/CD/photos/ranges":                 false,
	} {
		at := filepath.Join(t.TempDir(), filepath.FromSlash(name))
		folder := at[:len(at)-len(name)-1]
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := node.HasUploads(folder); got != want {
			t.Errorf("a folder with %s has uploads: %v", name, got)
		}
	}
}
