package mozilla_test

import (
	"encoding/json"
	"strings"
	"testing"

	"symbolon/internal/api/mozilla"
)

// TestLongNameDoesNotSpoilTheRequest sends names and ids of more than 4 KiB
// beside a module that is there.
func TestLongNameDoesNotSpoilTheRequest(t *testing.T) {
	long := []struct{ file, id, code, why string }{
		{strings.Repeat("n", 4097), toolID, "", "255 bytes"},
		{strings.Repeat("\u00fc\"", 300_000), toolID, "", "255 bytes"},
		{"a.so", strings.Repeat("0123456789abcdef", 5000), "", "invalid debug id"},
		{"b.so", toolID, strings.Repeat("0123456789abcdef", 5000), "invalid code id"},
	}
	modules, stack := [][]string{{"tool.pdb", toolID}}, [][2]int{{0, 0x1000}}
	for i, m := range long {
		modules = append(modules, []string{m.file, m.id, m.code})
		stack = append(stack, [2]int{i + 1, 0x1000})
	}
	body, err := json.Marshal(map[string]any{"memoryMap": modules, "stacks": [][][2]int{stack}, "extensions": true})
	if err != nil {
		t.Fatal(err)
	}
	h := door(mozilla.Config{}, demo)
	w := do(h, "POST", "/symbolicate/v5", string(body), "Debug", "true")
	var a struct {
		Results []struct {
			Stacks [][]struct{ Function, Module string }
			Found  map[string]bool                       `json:"found_modules"`
			Errors map[string][]struct{ Message string } `json:"module_errors"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 {
		t.Fatalf("%d %.200s, %v", w.Code, w.Body, err)
	}
	r := a.Results[0]
	if !r.Found["tool.pdb/"+toolID] || r.Stacks[0][0].Function == "" {
		t.Errorf("the module that is there: %+v", r.Stacks[0][0])
	}
	for i, m := range long {
		key := m.file + "/" + m.id
		if found, there := r.Found[key]; found || !there {
			t.Errorf("%.20s/%.20s: found %v, in the answer %v", m.file, m.id, found, there)
		}
		if e := r.Errors[key]; len(e) != 1 || !strings.Contains(e[0].Message, m.why) || len(e[0].Message) > 500 {
			t.Errorf("%.20s/%.20s: %.500q, want %s", m.file, m.id, e, m.why)
		}
		if shown := r.Stacks[0][i+1].Module; !strings.HasPrefix(m.file, shown) || len(shown) < min(len(m.file), 4090) || len(shown) > 4096 {
			t.Errorf("%.20s/%.20s: the frame has %d bytes of the name, from %.20s", m.file, m.id, len(shown), shown)
		}
	}

	w = do(h, "POST", "/symbolicate/v4", string(body))
	var old struct {
		Known  []bool     `json:"knownModules"`
		Stacks [][]string `json:"symbolicatedStacks"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &old); err != nil || w.Code != 200 || len(old.Known) != len(modules) {
		t.Fatalf("v4: %d %.200s, %v", w.Code, w.Body, err)
	}
	for i, known := range old.Known {
		if known != (i == 0) || len(old.Stacks[0][i]) > 4200 {
			t.Errorf("v4: module %d is %v, its frame has %d bytes", i, known, len(old.Stacks[0][i]))
		}
	}
}
