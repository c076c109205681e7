package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

const corpus = "../object/testdata/corpus/"

// withFiles returns a folder with files of the corpus.
func withFiles(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		data, err := os.ReadFile(corpus + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// folder is the configuration of a source.
func folder(dir string) string { return "- {id: folder, type: filesystem, path: '" + dir + "'}\n" }

const enabled = "profiler: {enabled: true}\n"

// embedID is the debug id of embed-source, whose code id is embedCode.
const (
	embedID   = "9D55E4947B73E7C900000000000000000"
	embedCode = "94e4559d737bc9e7"
)

// sourceRequest is what the Firefox Profiler sends for a file of a frame at 0x1230.
func sourceRequest(file string) string {
	return `{"debugName":"embed-source","debugId":"` + embedID + `","moduleOffset":"0x1230","file":"` + file + `"}`
}

// expectSource fails unless the answer to a request has a text.
func (s *station) expectSource(t *testing.T, file, want string) {
	t.Helper()
	status, text := s.call(t, http.MethodPost, "/source/v1", sourceRequest(file))
	begin := `{"symbolsLastModified":null,"sourceLastModified":null,"file":"` + file + `","source":"`
	var got struct{ Source string }
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 || !strings.HasPrefix(text, begin) || got.Source != want {
		t.Errorf("%s: %d %.300s", file, status, text)
	}
}

// expectError fails unless the answer is an error with both members, of status 200.
func (s *station) expectError(t *testing.T, path, body, want string) {
	t.Helper()
	status, text := s.call(t, http.MethodPost, path, body)
	var got struct{ Error, Title string }
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 || got.Error != got.Title || !strings.Contains(got.Error, want) {
		t.Errorf("%s: %d %.300s, want %q", body, status, text, want)
	}
}

// tile is a source file of the corpus.
func tile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(corpus + "src/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSourceFilesOfFramesAreSent(t *testing.T) {
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(withFiles(t, "embed-source")))
	s.expectSource(t, "/corpus/src/tile.c", tile(t, "tile.c"))
	s.expectSource(t, "/corpus/src/tile.h", tile(t, "tile.h")) // of the inlined call
}

func TestOtherSourceFilesAreRefused(t *testing.T) {
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(withFiles(t, "embed-source")))
	for body, want := range map[string]string{
		sourceRequest("/corpus/src/sort.c"):   "must be the file of a frame at moduleOffset", // the module has it
		sourceRequest("/etc/passwd"):          "must be the file of a frame at moduleOffset",
		sourceRequest("/corpus/./src/tile.c"): "must be the file of a frame at moduleOffset",
		sourceRequest(""):                     "must be the file of a frame at moduleOffset",
		`{"debugName":"x","debugId":"` + embedID[1:] + `11","moduleOffset":"0x1","file":"/etc/passwd"}`: "find symbols: not found",
		strings.Replace(sourceRequest("/corpus/src/tile.c"), "0x1230", "0x99999", 1):                    "have no file for moduleOffset",
		strings.Replace(sourceRequest("/corpus/src/tile.c"), "0x1230", "1230", 1):                       `invalid moduleOffset "1230"`,
		strings.Replace(sourceRequest("/corpus/src/tile.c"), embedID, "none", 1):                        `invalid debugId "none"`,
		`{"debugName":`: "invalid request: ",
		`[]`:            "invalid request: must be an object",
	} {
		s.expectError(t, "/source/v1", body, want)
	}
}

func TestSourceAndCodeAreOffByDefault(t *testing.T) {
	s := open(t, t.TempDir(), "sources:\n"+folder(withFiles(t, "embed-source")))
	for _, path := range []string{"/source/v1", "/asm/v1"} {
		s.expectError(t, path, sourceRequest("/corpus/src/tile.c"), "profiler.enabled: true")
	}
}

// onlyNames returns a folder with the names of embed-source, without its sources.
func onlyNames(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	text := "MODULE Linux x86_64 " + embedID + " embed-source\nINFO CODE_ID " + embedCode + "\nFILE 0 " + file +
		"\nFUNC 11e0 b8 0 fire\n11e0 b8 23 0\n"
	if err := os.WriteFile(filepath.Join(dir, "embed-source.sym"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSourceFilesOfFoldersNeedPermission(t *testing.T) {
	dir := t.TempDir()
	allowed := filepath.Join(dir, "allowed")
	for _, name := range []string{"allowed/tile.c", "allowed/dir/x", "allowedtoo.c", "secret.c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.c", filepath.Join(allowed, "link.c")); err != nil {
		t.Skip(err)
	}
	for _, x := range []struct{ file, config, want string }{
		{"allowed/tile.c", "[" + allowed + "]", ""},
		{"allowed/tile.c", "[/nowhere, " + dir + "/other, " + allowed + "]", ""},
		{"allowed/tile.c", "[]", "not in a folder of profiler.source_folders"},
		{"allowedtoo.c", "[" + allowed + "]", "not in a folder of profiler.source_folders"},
		{"secret.c", "[" + allowed + "]", "not in a folder of profiler.source_folders"},
		{"allowed/link.c", "[" + allowed + "]", "path escapes from parent"},
		{"allowed/missing.c", "[" + allowed + "]", "no such file"},
		{"allowed/dir", "[" + allowed + "]", "it is not a file"},
		{"allowed/tile.c", "[" + dir + "/other]", "not in a folder of profiler.source_folders"},
	} {
		t.Run(x.file+x.want, func(t *testing.T) {
			file := filepath.Join(dir, x.file)
			s := open(t, t.TempDir(), "profiler: {enabled: true, source_folders: "+x.config+"}\nsources:\n"+folder(onlyNames(t, file)))
			if x.want == "" {
				s.expectSource(t, file, "text of "+x.file)
			} else {
				s.expectError(t, "/source/v1", sourceRequest(file), x.want)
			}
		})
	}
}

func TestSourceFilesComeFromDebuginfod(t *testing.T) {
	far := open(t, t.TempDir(), "sources:\n"+folder(withFiles(t, "embed-source")))
	server := "- {id: far, type: http, url: '" + far.url + "/buildid/', layout: {type: debuginfod}, filters: {filetypes: [elf_code]}}\n"
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(onlyNames(t, "/corpus/src/tile.c"))+server)
	s.expectSource(t, "/corpus/src/tile.c", tile(t, "tile.c"))
	s = open(t, t.TempDir(), enabled+"sources:\n"+folder(onlyNames(t, "/corpus/src/none.c"))+server)
	s.expectError(t, "/source/v1", sourceRequest("/corpus/src/none.c"), "the debug files of the module do not have its text; it is not in a folder")
}

func TestSourceAndCodeNeedTheSourceOfTheModule(t *testing.T) {
	s := open(t, t.TempDir(), enabled+"access: {clients: [{name: x, token: 0123456789abcdef0123456789abcdef, scopes: [x], sources: [folder]}]}\n"+
		"sources:\n"+folder(withFiles(t, "embed-source")))
	code := asmRequest("embed-source", embedID, 0x11e0, 4)
	s.expectError(t, "/source/v1", sourceRequest("/corpus/src/tile.c"), "find symbols: not found")
	s.expectError(t, "/asm/v1", code, "find the program of the module: not found")
	for path, body := range map[string]string{"/source/v1": sourceRequest("/corpus/src/tile.c"), "/asm/v1": code} {
		if status, text := s.post(t, path, "0123456789abcdef0123456789abcdef", "application/json", strings.NewReader(body)); status != 200 || strings.Contains(text, `"error"`) {
			t.Errorf("%s with a token: %d %.200s", path, status, text)
		}
		if status, text := s.post(t, path, "wrong-token-0123456789abcdef", "application/json", strings.NewReader(body)); status != 401 {
			t.Errorf("%s with a wrong token: %d %.200s", path, status, text)
		}
	}
}

// asmRequest is what the Firefox Profiler sends for a function.
func asmRequest(name, id string, start, size uint64) string {
	return fmt.Sprintf(`{"debugName":%q,"debugId":%q,"name":%q,"codeId":null,"startAddress":"%#x","size":"%#x","continueUntilFunctionEnd":false}`,
		strings.Replace(name, ".exe", ".pdb", 1), id, name, start, size)
}

// disassembly is an answer of /asm/v1.
type disassembly struct {
	StartAddress, Size, Arch string
	Syntax                   []string
	Instructions             [][2]any
	Error                    string
}

func (s *station) disassemble(t *testing.T, body string) (d disassembly) {
	t.Helper()
	status, text := s.call(t, http.MethodPost, "/asm/v1", body)
	if err := json.Unmarshal([]byte(text), &d); err != nil || status != 200 {
		t.Fatal(status, text, err)
	}
	return d
}

func TestFunctionsOfEachProcessorAreDisassembled(t *testing.T) {
	for _, x := range []struct {
		file, id      string
		start, size   uint64
		arch, syntax  string
		first, branch string
	}{
		{"embed-source", embedID, 0x12a0, 0xb4, "x86_64", "Intel", "push rbp", "call 0x14ce <crack>"},
		{"i386", "2F4235EE6854F24C1D95433293B10ED90", 0x1070, 0x80, "i686", "Intel", "push ebp", "js 0x1011 <stack.cold>"},
		{"aarch64", "90C5948E45341DB500000000000000000", 0x1027c, 0xe8, "aarch64", "ARM", "stp x29, x30, [sp,#-64]!", "bl 0x10514 <crack>"},
		{"macho-arm64.dylib", "4C4C448355553144A157A1FFD82887C00", 0x468, 0xe8, "aarch64", "ARM", "stp x24, x23, [sp,#-64]!", "bl 0x388 <crack>"},
		{"pe-x86_64.exe", "A4C999C3321481B84C4C44205044422E1", 0x1010, 0xb0, "x86_64", "Intel", "push r15", "call 0x10c0 <stack>"},
		{"a32", programID, 0, 12, "arm", "ARM", "push {fp, lr}", "bl 0x0 <pour>"},
	} {
		t.Run(x.file, func(t *testing.T) {
			dir := t.TempDir()
			if x.file == "a32" {
				writeProgram(t, filepath.Join(dir, x.file), 40, []byte("\x00\x48\x2d\xe9\xfd\xff\xff\xeb\x1e\xff\x2f\xe1"))
			} else {
				dir = withFiles(t, x.file)
			}
			s := open(t, t.TempDir(), enabled+"sources:\n"+folder(dir))
			d := s.disassemble(t, asmRequest(x.file, x.id, x.start, x.size))
			if d.Arch != x.arch || len(d.Syntax) != 1 || d.Syntax[0] != x.syntax || d.Size != fmt.Sprintf("%#x", x.size) ||
				d.StartAddress != fmt.Sprintf("%#x", x.start) || len(d.Instructions) == 0 || d.Instructions[0] != [2]any{0.0, x.first} {
				t.Fatalf("%+v", d)
			}
			if !slices.ContainsFunc(d.Instructions, func(i [2]any) bool { return i[1] == x.branch }) {
				t.Errorf("%q is missing: %v", x.branch, d.Instructions)
			}
		})
	}
}

const programID = "0102030405060708090A0B0C0D0E0F100"

// writeProgram writes a program of one function.
func writeProgram(t *testing.T, name string, machine uint16, code []byte) {
	t.Helper()
	e := &fixture.ELF{Type: 2, Machine: machine, Wide: machine == 62}
	n := uint64(len(code))
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: e.Next(), Vaddr: 0x8000, Filesz: n, Memsz: n, Align: 4})
	section := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x8000, Data: code, Align: 4, Off: e.Next()})
	id := e.Note("GNU", 3, []byte("\x04\x03\x02\x01\x06\x05\x08\x07\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"), 4)
	e.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Data: id, Align: 4})
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "$a", Value: 0x8000, Section: section},
		fixture.ELFSymbol{Name: "pour", Value: 0x8000, Size: n, Kind: 2, Bind: 1, Section: section})
	if err := os.WriteFile(name, e.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDisassemblyContinuesToTheEndOfTheFunction(t *testing.T) {
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(withFiles(t, "embed-source")))
	body := asmRequest("embed-source", embedID, 0x12a0, 1)
	if d := s.disassemble(t, body); d.Size != "0x1" || len(d.Instructions) != 1 {
		t.Errorf("%+v", d)
	}
	if d := s.disassemble(t, strings.Replace(body, "false", "true", 1)); d.Size != "0xb4" {
		t.Errorf("%+v", d)
	}
}

func TestDisassemblyIsLimited(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, filepath.Join(dir, "long"), 62, bytes.Repeat([]byte{0x90}, 300<<10))
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(dir))
	for size, want := range map[uint64]string{1 << 63: "0x40000", 300 << 10: "0x40000", 0: "0x0"} {
		if d := s.disassemble(t, asmRequest("long", programID, 0, size)); d.Size != want || d.Instructions == nil {
			t.Errorf("of %#x bytes %s are disassembled, want %s", size, d.Size, want)
		}
	}
	if d := s.disassemble(t, asmRequest("long", programID, 300<<10-3, 100)); d.Size != "0x3" || len(d.Instructions) != 3 {
		t.Errorf("at the end of the code: %+v", d)
	}
}

func TestCodeThatIsNotDisassembledIsAnError(t *testing.T) {
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(withFiles(t, "embed-source", "thumb", "riscv64")))
	for body, want := range map[string]string{
		asmRequest("embed-source", embedID, 0x900000, 4):                                "invalid startAddress 0x900000",
		asmRequest("thumb", "D4931C86262C804E00000000000000000", 0x1014c, 4):            "Thumb",
		asmRequest("embed-source", embedID, 1<<64-1, 4):                                 "invalid startAddress 0xffffffffffffffff",
		asmRequest("riscv64", "C9654738D928F10300000000000000000", 0, 4):                "code for riscv64 cannot be disassembled",
		asmRequest("x", "D4931C86262C804E00000000000000011", 0, 4):                      "find the program of the module: not found",
		strings.Replace(asmRequest("embed-source", embedID, 1, 4), `"0x4"`, `"4"`, 1):   `invalid size "4"`,
		strings.Replace(asmRequest("embed-source", embedID, 1, 4), `"0x1"`, `"0xg"`, 1): `invalid startAddress "0xg"`,
		strings.Replace(asmRequest("embed-source", embedID, 1, 4), `false`, `1`, 1):     "invalid continueUntilFunctionEnd: must be true or false",
		strings.Replace(asmRequest("embed-source", embedID, 1, 4), `"0x1"`, `1`, 1):     "invalid startAddress: must be a string",
		`{"name":"x","startAddress":"0x0","size":"0x0"}`:                                `invalid debugId ""`,
	} {
		s.expectError(t, "/asm/v1", body, want)
	}
}

func TestAProgramIsFetchedOnce(t *testing.T) {
	far := open(t, t.TempDir(), "sources:\n"+folder(withFiles(t, "embed-source")))
	s := open(t, t.TempDir(), enabled+"sources:\n- {id: far, type: http, url: '"+far.url+"/buildid/', layout: {type: debuginfod}}\n")
	body := `{"name":"embed-source","codeId":"` + embedCode + `","startAddress":"%s","size":"0x1"}`
	if d := s.disassemble(t, fmt.Sprintf(body, "0x12a0")); d.Size != "0x1" {
		t.Fatalf("%+v", d)
	}
	n := far.requests.Load()
	if d := s.disassemble(t, fmt.Sprintf(body, "0x14ce")); d.Size != "0x2" || far.requests.Load() != n {
		t.Errorf("%+v, after %d more requests", d, far.requests.Load()-n)
	}
}

func TestAProgramAndItsSymbolsAreFoundByItsCodeID(t *testing.T) {
	s := open(t, t.TempDir(), enabled+"sources:\n"+folder(withFiles(t, "embed-source")))
	d := s.disassemble(t, `{"name":"embed-source","codeId":"`+embedCode+`","startAddress":"0x12a0","size":"0x1","continueUntilFunctionEnd":true}`)
	if d.Size != "0xb4" {
		t.Errorf("the size is %s, want that of the function", d.Size)
	}
	if !slices.ContainsFunc(d.Instructions, func(i [2]any) bool { return i[1] == "call 0x14ce <crack>" }) {
		t.Errorf("a branch has no name: %v", d.Instructions)
	}
}
