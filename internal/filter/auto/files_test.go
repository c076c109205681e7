package auto_test

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/filter/auto"
	"symbolon/internal/ident"
)

// recording returns a file of perf record with mappings of files, whose build ids are
// 20 times a byte.
func recording(files map[string]byte) []byte {
	le := binary.LittleEndian
	data := make([]byte, 104)
	copy(data, "PERFILE2")
	le.PutUint64(data[8:], 104)
	le.PutUint64(data[40:], 104)
	for path, id := range files {
		record := make([]byte, 72+len(path)+1)
		le.PutUint32(record, 10)        // MMAP2
		le.PutUint16(record[4:], 1<<14) // with a build id
		le.PutUint16(record[6:], uint16(len(record)))
		record[40] = 20
		for i := range 20 {
			record[44+i] = id
		}
		copy(record[72:], path)
		data = append(data, record...)
	}
	le.PutUint64(data[48:], uint64(len(data)-104))
	return data
}

func TestModulesOfARecordingAreKnown(t *testing.T) {
	one, two := ident.CodeID("1111111111111111111111111111111111111111"), ident.CodeID("2222222222222222222222222222222222222222")
	name := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(name, recording(map[string]byte{"/a/lib.so": 0x11, "/b/lib.so": 0x22, "/bin/sh": 0x11, "/srv/app": 0x11}), 0o600); err != nil {
		t.Fatal(err)
	}
	known := map[string]ident.Module{"app": {CodeID: "33"}}
	if err := auto.AddIDs(known, name); err != nil {
		t.Fatal(err)
	}
	want := map[string]ident.Module{"app": {CodeID: "33"}, "/a/lib.so": {CodeID: one}, "/b/lib.so": {CodeID: two}, "/bin/sh": {CodeID: one}, "sh": {CodeID: one}}
	if !maps.Equal(known, want) {
		t.Errorf("got %v, want %v", known, want)
	}
}

func TestARecordingWithoutBuildIDsIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(name, recording(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := auto.AddIDs(map[string]ident.Module{}, name); err == nil {
		t.Error("there is no error")
	}
}

func TestFilesAtTheirPathsAreKnown(t *testing.T) {
	files := &auto.Files{}
	defer files.Links.Remove()
	program, err := filepath.Abs("../../object/testdata/corpus/embed-source")
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := files.Local(program); !ok || m.CodeID != "94e4559d737bc9e7" {
		t.Errorf("got %+v, %v", m, ok)
	}
	if !files.Has(ident.Module{CodeID: "94e4559d737bc9e7"}) || files.Has(ident.Module{CodeID: "94"}) || files.Has(ident.Module{}) {
		t.Error("other modules have the file than its own")
	}
	if at := filepath.Join(files.Links.Dir, ".build-id/94/e4559d737bc9e7"); !isLinked(at, program) {
		t.Errorf("there is no link %s, which is found without reading the folder again", at)
	}
	for _, path := range []string{"", "/no/such/file", "/lib/modules/no-such-release/vmlinux", "/lib/modules/no-such-release/nf_tables", "/lib/modules/../vmlinux", "/lib/modules/vmlinux"} {
		if m, ok := files.Local(path); ok {
			t.Errorf("%q is %+v", path, m)
		}
	}
}

// TestProgramsWithoutAnIdentifier has one that its code id does not find.
func TestProgramsWithoutAnIdentifier(t *testing.T) {
	files := &auto.Files{}
	defer files.Links.Remove()
	if _, _, err := files.Named("app=../../object/testdata/corpus/pe-gcc-cc.exe"); err == nil || !strings.Contains(err.Error(), "no debug id; link it with --build-id") {
		t.Errorf("got the error %v", err)
	}
}

func isLinked(at, file string) bool {
	to, err := os.Readlink(at)
	return err == nil && to == file
}
