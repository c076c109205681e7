package difs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"symbolon/internal/api/difs"
)

func FuzzRequest(f *testing.F) {
	sum := sumOf("")
	for _, text := range []string{
		"{" + order("tea.so", "x", []string{"x", "y"}) + "}",
		`{"` + sum + `":{"name":"x","debug_id":"dd80f3c6-c274-cc50-9af0-c5529c18f6c3-1","chunks":[],"other":{"a":[1,2]}}}`,
		`{"` + sum + `":{"name":"x","debug_id":7,"chunks":[null]}}`,
		`{"` + sum + `":{"chunks":["` + sum + `"],"chunks":[],"name":"x"}}`,
		"{}", "{}{}", "[]", `{"` + sum + `":` + strings.Repeat("[", 200),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := difs.ReadParts(strings.NewReader(text))
		var all map[string]json.RawMessage
		if err == nil && json.Unmarshal([]byte(text), &all) != nil {
			t.Errorf("%d files were read from %q, which is not an object in JSON", n, text)
		}
		if err == nil && n < len(all) {
			t.Errorf("%d of %d files were read from %q", n, len(all), text)
		}
	})
}
