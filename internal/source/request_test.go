package source_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/source"
)

// asked prints requests: for each the first kind, and the id.
func asked(list []source.FileRequest) string {
	var out []string
	for _, r := range list {
		id := r.Module.CodeID.String()
		if id == "" {
			id = r.Module.DebugID.Breakpad()
		}
		out = append(out, fmt.Sprint(r.Kinds[0], " ", id))
	}
	return strings.Join(out, ", ")
}

func TestPathsOfSymbolServersNameFiles(t *testing.T) {
	const guid = "49B0CD174BAC2C034C4C44205044422E"
	lower := strings.ToLower(guid)
	for path, want := range map[string]string{
		"a.pdb/" + guid + "10/A.PDB":             "pdb " + guid + "10, pdb " + guid + "a", // an age of 16, or of 10
		"a.pdb/" + guid + "1/a.pdb":              "pdb " + guid + "1",
		"a.pdb/" + lower + "1a/a.pdb":            "pdb " + guid + "1a",
		"a.pdb/" + lower + "ffffffff/a.pdb":      "pdb " + guid + "ffffffff",
		"HA/HARBOR.PDB/" + guid + "1/HARBOR.PDB": "pdb " + guid + "1",
		"a.pdb/" + guid + "1/a.pd_":              "",
		"a.dll/6B00D8C26000/a.dll":               "pe 6b00d8c26000",
		"a.dll/nothing/a.dll":                    "",
		"a.so/" + guid + "0/a.so.sym":            "breakpad " + guid + "0",
		"../" + guid + "0/...sym":                "",
		"a.so/elf-buildid-487E24DD/a.so":         "elf_code 487e24dd",
		"_.debug/elf-buildid-sym-" + lower + "00000000/_.debug": "elf_debug " + lower + "00000000, elf_code " + lower +
			"00000000, elf_debug " + lower + ", elf_code " + lower, // padded
		"_.dwarf/mach-uuid-sym-" + guid + "/_.dwarf": "mach_debug " + lower + ", mach_code " + lower,
		"a.dylib/mach-uuid-" + guid + "0/a.dylib":    "",
		"48/7e24dd/executable":                       "elf_code 487e24dd",
		"48/7e24dd/breakpad":                         "breakpad 487e24dd",
		"48/7e24dd/nothing":                          "",
		"49/" + lower[2:] + "1/debuginfo":            "pdb " + guid + "1, pe " + guid + "1",
		"49/" + lower[2:] + "/executable":            "elf_code " + lower + ", mach_code " + lower + ", wasm_code " + lower,
	} {
		if got := asked(source.ParsePath(path)); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// LLDB asks for the files of a Windows binary by its GUID in the order of its text,
// and an age of eight digits.
func TestIDsOfTwentyBytesMayBeThoseOfWindows(t *testing.T) {
	const guid = "A1A1F661F927ABC44C4C44205044422E"
	for id, want := range map[string]string{
		guid + "00000001": "elf_debug " + strings.ToLower(guid) + "00000001, elf_code " + strings.ToLower(guid) + "00000001, pdb " +
			guid + "1, pe " + guid + "1",
		guid + "12345678": "elf_debug " + strings.ToLower(guid) + "12345678, elf_code " + strings.ToLower(guid) + "12345678",
		"0g":              "", "123": "", "": "", strings.Repeat("ab", 65): "",
	} {
		if got := asked(source.ByID(id, "debuginfo")); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	f.Add("a.pdb/49B0CD174BAC2C034C4C44205044422E10/a.pdb")
	f.Add("48/7e24dd/debuginfo")
	f.Add("_.debug/elf-buildid-sym-487e24dd/_.debug")
	f.Fuzz(func(t *testing.T, path string) {
		for _, r := range source.ParsePath(path) {
			if len(r.Kinds) == 0 || r.Kinds[0] == "" || r.Module.CodeID.IsZero() && r.Module.DebugID.IsZero() {
				t.Errorf("%q names %+v", path, r)
			}
		}
	})
}
