package companion_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/companion"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
)

func TestDSYMFolderOpensAsItsOnlyFile(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "Quince.app.dSYM")
	dir := filepath.Join(bundle, "Contents", "Resources", "DWARF")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if d, err := companion.Open(bundle, companion.Options{}); err == nil || !strings.HasSuffix(err.Error(), ".dSYM: not a regular file") {
		t.Errorf("without a file: %v, %v", d, err)
	}
	image := fixture.NewMachO(fixture.MachOARM64, 0, fixture.MachODSYM).UUID([16]byte{1}).Bytes()
	if err := os.WriteFile(filepath.Join(dir, "Quince"), image, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".DS_Store"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{bundle, bundle + string(filepath.Separator), filepath.Join(dir, "Quince")} {
		d, err := companion.Open(name, companion.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if info := d.Object().Info(); info.Type != "dbg" || info.Module.Arch != ident.ArchARM64 {
			t.Errorf("%s: type %s, architecture %s", name, info.Type, info.Module.Arch)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "Pip"), image, 0o644); err != nil {
		t.Fatal(err)
	}
	if d, err := companion.Open(bundle, companion.Options{}); err == nil {
		t.Errorf("with two files: %v", d.Object().Info())
	}
}
