package node_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/explain"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

const (
	unity     = `"type":"elf","code_id":"00112233445566778899aabbccddeeff00112233","debug_id":"33221100-5544-7766-8899-aabbccddeeff"`
	unityPath = "/00/112233445566778899aabbccddeeff00112233/"
	unityMap  = `{"__debug-id__":"33221100-5544-7766-8899-aabbccddeeff-0","/out/Game.cpp":{"/game/Player.cs":{"20":3,"30":4},"/game/Door.cs":{"10":7}}}`
)

// unityFile returns a program of Unity with an inlined call.
func unityFile() []byte {
	call := &fixture.ProgramCall{Name: "Door_Open", File: 0, Line: 31, Ranges: [][2]uint64{{0x2010, 0x2020}}}
	p := fixture.Program{
		Wide: true, Loads: [][2]uint64{{0x1000, 0x3000}}, Code: [][2]uint64{{0x2000, 0x2040}},
		Units: []*fixture.ProgramUnit{{
			Version: 5, Lang: 4, Dir: "/out", Files: []string{"Game.cpp"},
			Funcs: []fixture.ProgramFunc{{Name: "Player_Walk", Ranges: [][2]uint64{{0x2000, 0x2040}}, Calls: []*fixture.ProgramCall{call}}},
			Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{
				{Addr: 0x2000, Line: 30}, {Addr: 0x2010, Line: 12, Column: 9}, {Addr: 0x2020, Line: 32},
			}, End: 0x2040}},
		}},
	}
	return p.Bytes()
}

// places returns the file and the line of each frame of an answer.
func (r reply) places(t *testing.T) string {
	t.Helper()
	var a struct {
		Stacktraces []struct {
			Frames []struct {
				Function, Filename string
				AbsPath            string `json:"abs_path"`
				Lineno             json.Number
			}
		}
	}
	if err := json.Unmarshal([]byte(r.Text), &a); err != nil {
		t.Fatal(err, r.Text)
	}
	var out []string
	for _, f := range a.Stacktraces[0].Frames {
		out = append(out, f.Function+" "+f.AbsPath+":"+f.Lineno.String())
	}
	return strings.Join(out, ", ")
}

const (
	inCpp    = "Door_Open /out/Game.cpp:12, Player_Walk /out/Game.cpp:31"
	inCSharp = "Door_Open /game/Door.cs:7, Player_Walk /game/Player.cs:4"
)

// built waits for n tables.
func built(t *testing.T, data string, n int) {
	t.Helper()
	waittest.Until(t, fmt.Sprint(n, " tables are stored"), func() bool { return stored(t, data, "symcache") >= n })
}

// A program and its table after a restart give the same lines of its mapping; nothing
// is fetched twice.
func TestLinesOfUnityAreThoseOfCSharp(t *testing.T) {
	t.Parallel()
	u, other := trial.NewUpstream(t), trial.NewUpstream(t)
	u.Do(unityPath+"debuginfo", trial.File(unityFile()))
	u.Do(unityPath+"il2cpp", trial.File(trial.Gzipped([]byte(unityMap))))
	data := t.TempDir()
	config := "sources:\n- {id: a, type: http, url: '" + other.URL + "'}\n- {id: b, type: http, url: '" + u.URL + "', layout: {type: unified}}\n"
	s := open(t, data, config)
	first := s.symbolicate(t, "", unity, "")
	if got := first.places(t); got != inCSharp {
		t.Fatalf("the file says %s", got)
	}
	built(t, data, 1)
	s.stop()
	asked := u.Count("")
	s = open(t, data, config)
	for range 2 {
		if again := s.symbolicate(t, "", unity, ""); again.places(t) != inCSharp || again.Text != first.Text {
			t.Errorf("the table says %s", again.Text)
		}
	}
	if u.Count("") != asked || u.Count(unityPath+"il2cpp") != 1 || u.Count(unityPath+"debuginfo") != 1 {
		t.Errorf("%d requests more, %d for the mapping", u.Count("")-asked, u.Count(unityPath+"il2cpp"))
	}
	for path, n := range map[string]int{"/kettle.so/" + trial.KettleID + "/il2cpp": 0, unityPath + "il2cpp": 0} {
		if other.Count(path) != n {
			t.Errorf("a store whose layout has no place for mappings was asked for %s", path)
		}
	}
	if strings.Contains(first.Text, "il2cpp") {
		t.Errorf("the mapping is listed as a candidate: %s", first.Text)
	}
}

// A mapping that appears later, in place of none, a damaged one or another one, is used
// when the cached outcome is invalidated.
func TestANewMappingReplacesTheTable(t *testing.T) {
	t.Parallel()
	for what, before := range map[string]http.Handler{
		"missing": trial.Status(http.StatusNotFound), "damaged": trial.File([]byte(`{"/out/Game.cpp":{"a":{"b":1}}}`)), "refused": trial.Status(http.StatusForbidden),
		"of another program": trial.File([]byte(strings.ReplaceAll(unityMap, "33221100", "00000000"))), "another one": trial.File([]byte(`{"/out/Game.cpp":{"/game/Old.cs":{"12":1,"31":2}}}`)),
	} {
		first := inCpp
		if what == "another one" {
			first = "Door_Open /game/Old.cs:1, Player_Walk /game/Old.cs:2"
		}
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			u := trial.NewUpstream(t)
			u.Do(unityPath+"debuginfo", trial.File(unityFile()))
			u.Do(unityPath+"il2cpp", before)
			data := t.TempDir()
			s := open(t, data, sourcesOf(", layout: {type: unified}", u))
			for range 2 {
				if r := s.symbolicate(t, "", unity, ""); r.places(t) != first {
					t.Fatal(r.Text)
				}
			}
			built(t, data, 1)
			u.Do(unityPath+"il2cpp", trial.File([]byte(unityMap)))
			if r := s.symbolicate(t, "", unity, ""); r.places(t) != first || u.Count(unityPath+"il2cpp") != 1 {
				t.Fatalf("%d requests for the mapping: %s", u.Count(unityPath+"il2cpp"), r.Text)
			}
			s.forget(t, unity)
			waittest.Until(t, "the mapping is used", func() bool { return s.symbolicate(t, "", unity, "").places(t) == inCSharp })
			built(t, data, 2)
			if n := u.Count(unityPath + "il2cpp"); n != 2 {
				t.Errorf("%d requests for the mapping", n)
			}
		})
	}
}

// A project of Sentry is asked only for the files that it lists.
func TestAProjectIsNotAskedForAMappingThatItDoesNotList(t *testing.T) {
	t.Parallel()
	for _, listed := range []bool{false, true} {
		u := trial.NewUpstream(t)
		u.Do("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Query().Get("id") {
			case "1":
				_, _ = w.Write(unityFile())
			case "2":
				_, _ = w.Write([]byte(unityMap))
			default:
				list := []map[string]string{{"id": "1", "symbolType": "elf"}}
				if listed {
					list = append(list, map[string]string{"id": "2", "symbolType": "il2cpp"})
				}
				_ = json.NewEncoder(w).Encode(list) // the client may leave
			}
		}))
		s := open(t, t.TempDir(), "sources:\n- {id: a, type: sentry, url: '"+u.URL+"files/', token: 0123456789}\n")
		want, asked := inCpp, 2
		if listed {
			want, asked = inCSharp, 3
		}
		if r := s.symbolicate(t, "", unity, ""); r.places(t) != want || u.Count("") != asked {
			t.Errorf("listed %t: %d requests, %s", listed, u.Count(""), r.Text)
		}
	}
}

// The first of three sources has a damaged mapping, the second one a valid one.
func TestExplainListsMappings(t *testing.T) {
	t.Parallel()
	a, b, other := trial.NewUpstream(t), trial.NewUpstream(t), trial.NewUpstream(t)
	a.Do(unityPath+"debuginfo", trial.File(unityFile()))
	a.Do(unityPath+"il2cpp", trial.File([]byte("{}")))
	b.Do(unityPath+"il2cpp", trial.File([]byte(unityMap)))
	s := open(t, t.TempDir(), sourcesOf(", layout: {type: unified}", a, b, other))
	id, err := ident.ParseDebugID("33221100-5544-7766-8899-aabbccddeeff")
	if err != nil {
		t.Fatal(err)
	}
	m := ident.Module{Type: ident.TypeELF, DebugID: id, CodeID: ident.ParseCodeID("00112233445566778899aabbccddeeff00112233")}
	for _, p := range []locate.Purpose{locate.Debug, locate.Symbols} {
		x, err := s.Explain(t.Context(), explain.Question{Module: m, Purpose: p})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, tried := range x.Tried {
			if tried.Kind == "il2cpp" {
				told = append(told, fmt.Sprint(tried.Source, " ", tried.Verdict, " ", tried.Chosen))
			}
		}
		want, verdict := "a malformed false, b usable true, c not found false", "mapping in b"
		if p != locate.Debug {
			want, verdict = "", "found in a"
		}
		if got := strings.Join(told, ", "); got != want || !strings.Contains(x.Verdict, verdict) || !strings.HasPrefix(x.Verdict, "found in a") {
			t.Errorf("%v: %s; %s", p, got, x.Verdict)
		}
	}
}

// A public file has a mapping in one of two scopes.
func TestAMappingIsUsedInItsScopeOnly(t *testing.T) {
	t.Parallel()
	public, private := trial.NewUpstream(t), trial.NewUpstream(t)
	public.Do(unityPath+"debuginfo", trial.File(unityFile()))
	private.Do(unityPath+"il2cpp", trial.File([]byte(unityMap)))
	config := "sources:\n- {id: a, type: http, url: '" + public.URL + "', layout: {type: unified}, is_public: true}\n" +
		"- {id: b, type: http, url: '" + private.URL + "', layout: {type: unified}}\n" +
		"access: {clients: [{name: x, token: 0123456789abcdef0123456789abcdef, scopes: [x]}, {name: y, token: fedcba9876543210fedcba9876543210, scopes: [y], sources: [a]}]}\n"
	s := open(t, t.TempDir(), config)
	body := `{"stacktraces":[{"frames":[{"instruction_addr":"0x1018","addr_mode":"rel:0"}]}],"modules":[{` + unity + `}]}`
	for range 2 {
		for token, want := range map[string]string{"0123456789abcdef0123456789abcdef": inCSharp, "fedcba9876543210fedcba9876543210": inCpp} {
			if r := sendTo(t, http.MethodPost, s.url+"/symbolicate", body, token); r.places(t) != want {
				t.Errorf("%s", r.Text)
			}
		}
	}
}
