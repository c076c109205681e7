package node_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/explain"
	"symbolon/internal/ident"
	"symbolon/internal/trial"
)

const nameID = "0123456789ABCDEF0123456789ABCDEF0"

// symServer serves a .sym file for each of its names and notes what it is asked.
func symServer(t *testing.T, names ...string) (at string, asked func() []string) {
	var mu sync.Mutex
	var lines []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		lines = append(lines, r.RequestURI)
		mu.Unlock()
		name, rest, _ := strings.Cut(r.URL.Path[1:], "/")
		if !slices.Contains(names, name) || rest != nameID+"/"+name+".sym" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "MODULE Linux x86_64 "+nameID+" "+name+"\nFUNC 1000 10 0 in_"+name+"\n")
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(lines)
	}
}

// call sends a request to the station and returns the status and the body.
func (s *station) call(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestAnOddModuleNameCostsOnlyItself asks for many modules in one request, as the
// Firefox Profiler does. Names that can be one segment of a path are looked up.
func TestAnOddModuleNameCostsOnlyItself(t *testing.T) {
	t.Parallel()
	good := []string{"a.so", "[vdso]", "Chrome Helper (Renderer)", "größe,'&!.so", "%2e%2e"}
	bad := map[string]string{
		"../a.so": "must not contain a slash or a backslash", `C:\a.so`: "must not contain a slash or a backslash", "..": "must not be a relative path",
		"a\x00.so": "must not contain control characters", strings.Repeat("x", 300): "must have at most 255 bytes",
	}
	upstream, asked := symServer(t, good...)
	s := open(t, t.TempDir(), "sources:\n- {id: up, type: http, url: '"+upstream+"', filters: {filetypes: [breakpad]}}\n")
	var modules [][2]string
	want := map[string]bool{"[kernel.kallsyms]/" + nameID: false, "a.so/../../x": false}
	for _, name := range good {
		modules, want[name+"/"+nameID] = append(modules, [2]string{name, nameID}), true
	}
	for name := range bad {
		modules, want[name+"/"+nameID] = append(modules, [2]string{name, nameID}), false
	}
	modules = append(modules, [2]string{"[kernel.kallsyms]", nameID}, [2]string{"a.so", "../../x"})
	var stack [][2]int
	for i := range modules {
		stack = append(stack, [2]int{i, 0x1004})
	}
	body, err := json.Marshal(map[string]any{"memoryMap": modules, "stacks": [][][2]int{stack}, "extensions": true})
	if err != nil {
		t.Fatal(err)
	}
	status, text := s.call(t, "POST", "/symbolicate/v5", string(body))
	var a struct {
		Results []struct {
			Stacks [][]struct{ Module, Function string }
			Found  map[string]bool                       `json:"found_modules"`
			Errors map[string][]struct{ Message string } `json:"module_errors"`
		}
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, text, err)
	}
	if r := a.Results[0]; !reflect.DeepEqual(r.Found, want) {
		t.Errorf("found_modules is %v", r.Found)
	}
	for i, f := range a.Results[0].Stacks[0] {
		if name := modules[i][0]; f.Module != name || f.Function == "in_"+name != want[name+"/"+modules[i][1]] {
			t.Errorf("%q: the frame is %+v", name, f)
		}
	}
	for name, why := range bad {
		if e := a.Results[0].Errors[name+"/"+nameID]; len(e) != 1 || !strings.HasSuffix(e[0].Message, why) {
			t.Errorf("%q: %+v", name, e)
		}
	}
	if e := a.Results[0].Errors["a.so/../../x"]; len(e) != 1 || !strings.Contains(e[0].Message, "invalid debug id") {
		t.Errorf("an invalid id: %+v", e)
	}
	for _, line := range asked() {
		name, ok := strings.CutSuffix(line[1:], ".sym")
		if ok = ok && strings.Count(name, "/") == 2; ok {
			name, err = url.PathUnescape(name[:strings.IndexByte(name, '/')])
			ok = err == nil && (slices.Contains(good, name) || name == "[kernel.kallsyms]")
		}
		if !ok || strings.ContainsAny(line, "[]() ,'!&") {
			t.Errorf("the server was asked for %s", line)
		}
	}

	delete(want, "a.so/../../x")
	v4, err := json.Marshal(map[string]any{"memoryMap": modules, "stacks": [][][2]int{stack}, "version": 4})
	if err != nil {
		t.Fatal(err)
	}
	status, text = s.call(t, "POST", "/symbolicate/v4", string(v4))
	var old struct{ KnownModules []bool }
	if err := json.Unmarshal([]byte(text), &old); err != nil || status != http.StatusOK || len(old.KnownModules) != len(modules) {
		t.Fatalf("v4: %d %s, %v", status, text, err)
	}
	for i, known := range old.KnownModules {
		if m := modules[i]; known != want[m[0]+"/"+m[1]] {
			t.Errorf("v4: %q is %v", m, known)
		}
	}
}

// TestFilesWithOddNamesAreRead asks for the .sym files themselves.
func TestFilesWithOddNamesAreRead(t *testing.T) {
	t.Parallel()
	upstream, _ := symServer(t, "[vdso]", "größe (1).so")
	s := open(t, t.TempDir(), "sources:\n- {id: up, type: http, url: '"+upstream+"'}\n")
	for name, want := range map[string]int{"[vdso]": 200, "größe (1).so": 200, "[gone]": 404, `up\[vdso]`: 404, "a\x00": 404} {
		status, text := s.call(t, "GET", "/"+url.PathEscape(name)+"/"+nameID+"/"+url.PathEscape(name)+".sym", "")
		if status != want || want == 200 && !strings.HasPrefix(text, "MODULE ") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// TestExplainSaysTheSameOfOddNames compares it with the answer of a server.
func TestExplainSaysTheSameOfOddNames(t *testing.T) {
	t.Parallel()
	upstream, asked := symServer(t, "[vdso]")
	s := open(t, t.TempDir(), "sources:\n- {id: up, type: http, url: '"+upstream+"'}\n")
	id, err := ident.ParseDebugID(nameID)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"[vdso]": "found in up; it is the first usable file in the order of the sources",
		"../a":   `not found: invalid file name "../a": must not contain a slash or a backslash`,
	} {
		before := len(asked())
		x, err := s.Explain(t.Context(), explain.Question{Module: ident.Module{DebugFile: name, DebugID: id, DebugIDText: nameID}})
		if err != nil || x.Verdict != want {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
		if name == "../a" && len(asked()) != before {
			t.Errorf("%s was asked for at %s", name, asked())
		}
	}
}

// TestACodeIDLeadsToFilesOfBuildIDs sends the code id of a module as its third
// element: debuginfod and folders of build ids have no other key.
func TestACodeIDLeadsToFilesOfBuildIDs(t *testing.T) {
	t.Parallel()
	file := trial.Corpus(t, "debuglink.debug")
	m := trial.Identified(t, file, ident.TypeELF, "kiln", "kiln")
	build := m.CodeID.String()
	u := trial.NewUpstream(t)
	u.Do("/buildid/"+build+"/debuginfo", trial.File(file))
	folder := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, build[:2]), 0o700),
		os.WriteFile(filepath.Join(folder, build[:2], build[2:]+".debug"), file, 0o600)); err != nil {
		t.Fatal(err)
	}
	type row struct{ modules, found, why string }
	module := func(more string) string { return `["kiln","` + m.DebugID.Breakpad() + `"` + more + `]` }
	without := []row{{module(""), "false", ""}, {module(`,""`), "false", ""}}
	for layout, config := range map[string]string{
		"debuginfod": "type: http, url: '" + u.URL + "buildid/', layout: {type: debuginfod}", "folder": "type: filesystem, path: '" + filepath.ToSlash(folder) + "'",
	} {
		s := open(t, t.TempDir(), "sources:\n- {id: a, "+config+"}\n")
		rows := []row{
			{module(`,"` + build + `"`), "true", ""},
			{module(`,"` + strings.ToUpper(build) + `"`), "true", ""},
			{module("") + "," + module(`,"`+build+`"`), "true", ""},
			{module(`,"`+build+`"`) + "," + module(`,"0011"`), "true", ""},
			{module(`,"` + strings.Repeat("ab", 20) + `"`), "false", "does not belong to debug id"},
			{module(`,"../` + build + `"`), "false", "invalid code id"},
			{module(`,"` + strings.Repeat("ab", 65) + `"`), "false", "invalid code id"},
		}
		if layout == "debuginfod" {
			rows = append(without, rows...)
		}
		for _, c := range rows {
			status, text := s.call(t, "POST", "/symbolicate/v5", `{"extensions":true,"memoryMap":[`+c.modules+`],"stacks":[[[0,4400]]]}`)
			want := `"found_modules":{"kiln/` + m.DebugID.Breakpad() + `":` + c.found + `}`
			if status != http.StatusOK || !strings.Contains(text, want) || !strings.Contains(text, c.why) {
				t.Errorf("%s: %s: %d %s", layout, c.modules, status, text)
			}
		}
	}
}
