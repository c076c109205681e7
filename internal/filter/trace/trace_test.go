package trace_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/trace"
	"symbolon/internal/ident"
)

var names = filtertest.Names{
	"app": {
		0x7d3:  {{Function: []byte("leaf")}},
		0x1188: {{Function: []byte("in"), Inlined: true}, {Function: []byte(`operator""_x`)}},
		0x1189: {{Function: []byte("after"), File: []byte("/a.c"), Line: 7, Column: 3}},
	},
	"os": {0xffffffff81005678: {{Function: []byte("tick")}}},
}

var known = map[string]ident.Module{
	"app": {CodeFile: "app"}, "[kernel.kallsyms]": {CodeFile: "os"},
}

func rewrite(t testing.TB, names filter.Names, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := trace.Rewrite(t.Context(), &filter.Run{Names: names, Known: known}, []byte(text), &out)
	return out.String(), err
}

const (
	sampled = `{ "profiles" : [{"type":"sampled","samples":[[0,1,3],[0],[]],"weights":[1,2]}, {"type":"sampled","samples":[[2]]}],
 "shared":{"x":1e5,"frames":[{"name":"/srv/app+0x1189","file":"\u00e9"},{"name":"[app <1189>]"},{"file":"a","name":"app+0x1189"},
  {"name":"[app+0x7d3]_[j]"},{"name":"main+0x7d3"},{"name":"\/opt\/no+0x1"},{"name":null},{"name":"[[kernel.kallsyms] <ffffffff81005678>]_[k]"}]},
 "$schema": "https://www.speedscope.app/file-format-schema.json" }` + "\n"
	evented = `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"app+0x1189"},{"name":"[app+0x1189]"}]},` +
		`"profiles":[{"type":"evented","events":[{"type":"O","frame":0,"at":0},{"at":0,"frame":1,"type":"O"},{"type":"C","frame":1,"at":2},` +
		`{"type":"O","frame":1,"at":2},{"type":"C","frame":1,"at":3},{"type":"C","frame":0,"at":3}]}]}`
	chrome = `{"traceEvents":[{"ph":"P","sf":"7","name":"app+0x7d3"}],"stackFrames":{"5":{"name":"app+0x1189","category":"c"},` +
		`"7":{"parent":"5","name":"app+0x1189"},"8":{"name":"pc:0x5594d1c0deaa","parent":7}}}`
)

func TestNamesOfFrames(t *testing.T) {
	for text, want := range map[string]*strings.Replacer{
		sampled: strings.NewReplacer(`"/srv/app+0x1189"`, `"in ← operator\"\"_x"`, `"[app <1189>]"`, `"in ← operator\"\"_x"`, `"app+0x1189"`, `"after"`,
			`"[app+0x7d3]_[j]"`, `"leaf_[j]"`, `[[kernel.kallsyms] <ffffffff81005678>]`, `tick`),
		evented: strings.NewReplacer(`"app+0x1189"`, `"in ← operator\"\"_x"`, `"[app+0x1189]"`, `"after","file":"/a.c","line":7,"col":3`),
		chrome:  strings.NewReplacer(`"app+0x1189"`, `"in ← operator\"\"_x"`),
	} {
		got, err := rewrite(t, names, text)
		if err != nil || got != want.Replace(text) {
			t.Errorf("got %v\n%s\nwant\n%s", err, got, want.Replace(text))
		}
		if twice, err := rewrite(t, names, got); twice != got || err != nil {
			t.Errorf("a second run changes\n%s\nto\n%s", got, twice)
		}
	}
}

func TestDamagedDocumentsAreRejected(t *testing.T) {
	for _, text := range []string{"", "{", sampled[:200], chrome + "}", `{"stackFrames":{"1":{"name":"app+0x7d3"`} {
		got, err := rewrite(t, names, text)
		if err == nil || !strings.Contains(err.Error(), "JSON, byte ") || got != "" {
			t.Errorf("%q became %q: %v", text, got, err)
		}
	}
}

func TestDocumentsAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		sampled: true, evented: true, evented[:100]: true, chrome: true, chrome[:30]: true,
		"": false, "{}": false, `{"meta":{"traceEvents":1}}`: false, `[{"traceEvents":1}]`: false, `{"$schema":"other"}`: false,
	} {
		if trace.Is([]byte(text)) != want {
			t.Errorf("%.40q is recognized: %v", text, !want)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add(sampled)
	f.Add(evented)
	f.Add(chrome)
	f.Fuzz(func(t *testing.T, text string) {
		trace.Is([]byte(text))
		if got, err := rewrite(t, filtertest.Names{}, text); err == nil && got != text {
			t.Errorf("without names %q became %q", text, got)
		}
		got, err := rewrite(t, names, text)
		if err == nil && json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
