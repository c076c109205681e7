package mozilla_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"symbolon/internal/api/mozilla"
)

// reference is the decoder as it would be if memory did not matter: the whole
// body by encoding/json, and then Eliot's checks in Eliot's order. Those of
// characters count if it is strict.
func reference(body []byte, jobsForm, strict bool) (d *mozilla.Decoded, title string) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, badJSON
	}
	var payload any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&payload); err != nil {
		return nil, badJSON
	}
	jobs := []any{payload}
	top, isObject := payload.(map[string]any)
	d = &mozilla.Decoded{}
	if isObject {
		d.Extensions = truthy(top["extensions"])
		d.Debug = !jobsForm && truthy(top["debug"])
	}
	if list, ok := top["jobs"]; ok && jobsForm {
		switch list := list.(type) {
		case []any:
			jobs = list
		case string:
			jobs = make([]any, len(list)) // nil is as bad a job as any character
		case map[string]any:
			jobs = make([]any, len(list))
		default:
			jobs = []any{nil}
		}
	}
	for i, j := range jobs {
		job, ok := j.(map[string]any)
		if !ok {
			return nil, fmt.Sprintf("job %d is invalid", i)
		}
		for _, member := range []string{"stacks", "memoryMap"} {
			if _, ok := job[member]; !ok {
				return nil, fmt.Sprintf("job %d is invalid: no %s specified", i, member)
			}
		}
		modules, wrong := referenceModules(job["memoryMap"], strict)
		if wrong != "" {
			return nil, fmt.Sprintf("job %d has invalid modules: %s", i, wrong)
		}
		stacks, wrong := referenceStacks(job["stacks"], modules)
		if wrong != "" {
			return nil, fmt.Sprintf("job %d has invalid stacks: %s", i, wrong)
		}
		d.Jobs = append(d.Jobs, mozilla.DecodedJob{Modules: modules, Stacks: stacks})
	}
	return d, ""
}

func truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		mantissa, _, _ := strings.Cut(strings.ToLower(string(v)), "e")
		return strings.Trim(mantissa, "-0.") != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

var (
	fileName = regexp.MustCompile(`\A[A-Za-z0-9_.+{}@<> ~-]*\z`)
	hexID    = regexp.MustCompile(`\A[A-Fa-f0-9]*\z`)
)

func referenceModules(v any, strict bool) (out [][2]string, wrong string) {
	list, ok := v.([]any)
	if !ok {
		return nil, "modules must be a list"
	}
	for i, m := range list {
		pair, ok := m.([]any)
		if !ok || len(pair) != 2 && (len(pair) != 3 || strict) {
			return nil, fmt.Sprintf("module index %d does not have a debug_filename and debug_id", i)
		}
		file, ok := pair[0].(string)
		if !ok || strict && !fileName.MatchString(file) {
			return nil, fmt.Sprintf("module index %d has an invalid debug_filename", i)
		}
		id, ok := pair[1].(string)
		if !ok || strict && !hexID.MatchString(id) {
			return nil, fmt.Sprintf("module index %d has an invalid debug_id", i)
		}
		if len(pair) == 3 {
			if _, ok := pair[2].(string); !ok {
				return nil, fmt.Sprintf("module index %d has an invalid code_id", i)
			}
		}
		out = append(out, [2]string{file, id})
	}
	return out, ""
}

func referenceStacks(v any, modules [][2]string) (out [][]mozilla.DecodedFrame, wrong string) {
	list, ok := v.([]any)
	if !ok {
		return nil, "stacks must be a list of lists"
	}
	if len(list) == 0 {
		return nil, "no stacks specified"
	}
	for i, s := range list {
		frames, ok := s.([]any)
		if !ok {
			return nil, fmt.Sprintf("stack %d is not a list", i)
		}
		stack := []mozilla.DecodedFrame{}
		for j, f := range frames {
			at := fmt.Sprintf("stack %d frame %d ", i, j)
			pair, ok := f.([]any)
			if !ok || len(pair) != 2 {
				return nil, at + "is not a list of two items"
			}
			index := asInt(pair[0])
			if index == nil {
				return nil, at + "has an invalid module_index"
			}
			if index.Cmp(big.NewInt(-1)) < 0 || index.Cmp(big.NewInt(int64(len(modules)))) >= 0 {
				return nil, at + "has a module_index that isn't in modules"
			}
			offset := asInt(pair[1])
			if offset == nil || offset.Cmp(big.NewInt(-1)) < 0 {
				return nil, at + "has an invalid module_offset"
			}
			frame := mozilla.DecodedFrame{Offset: strings.Replace("0x"+offset.Text(16), "0x-", "-0x", 1)}
			if n := index.Int64(); n >= 0 {
				frame.Module = modules[n][0] + "/" + modules[n][1]
			}
			stack = append(stack, frame)
		}
		out = append(out, stack)
	}
	return out, ""
}

func asInt(v any) *big.Int {
	n, ok := v.(json.Number)
	if !ok || strings.ContainsAny(string(n), ".eE") || len(strings.TrimPrefix(string(n), "-")) > 4300 {
		return nil
	}
	i, _ := new(big.Int).SetString(string(n), 10)
	return i
}

// bodies are good and bad requests to begin with.
func bodies(t testing.TB) (out []string) {
	for _, r := range slices.Concat(refusals, strictRefusals) {
		out = append(out, r[0])
	}
	files, _ := filepath.Glob("testdata/wire/*.json")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var x exchange
		if err := json.Unmarshal(text, &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, string(x.Body))
	}
	return append(out,
		"\ufeff{\"jobs\": []}",
		" \n\t\r{\"jobs\" : [ ] }\n\n",
		`{"\u006aobs": [{"memoryMap": [["\u0067one.so", "\u0041B"]], "\u0073tac\u006bs": [[[0, 1]]]}]}`,
		`{"jobs": [{"memoryMap": [["x/y","AB"]], "memoryMap": [], "stacks": 5, "stacks": [[]]}]}`,
		`{"jobs": 5, "jobs": [{"memoryMap": [], "stacks": [[[-1, -0]]]}], "stacks": [[["x"]]], "memoryMap": 1}`,
		`{"memoryMap": [["[kernel.kallsyms]", "zz"], ["a\u0000b", "c"], ["a", "b\u0000c"], ["Helper (Renderer)", "../x"], ["\ud800", "\udc00\ud800"]], "stacks": [[[0, 1], [1, 1], [2, 1], [4, 1]]]}`,
		`{"memoryMap": [["a", "A", "0f"], ["a", "A"], ["b", "B", ""], ["c", "C", "0f", 5]], "stacks": [[[0, 1]]]}`,
		`{"memoryMap": [["a", "A", "0f"], ["a", "A", "\u0000"], ["b", "B", ""]], "stacks": [[[0, 1], [1, 1], [2, 1]]]}`,
		`{"memoryMap": [["a", "A"]], "stacks": [[[0, 18446744073709551615], [0, 18446744073709551616], [-1, `+strings.Repeat("9", 4300)+`], [-0, -1]]]}`,
		`{"memoryMap": [["a", ""], ["", "A"], ["a", ""]], "stacks": [[[2, 1], [1, 1], [0, 0]], [], [[-1, -1]]], "x": "\ud83d\ude00\ud83d\"\\\/\b\f\n\r\t\u0000\u20ac"}`,
		`{"x": [[[{}, {"a": {"b": [1, 2.5e-3, true, false, null, "\u00fc", "`+"\u00fc\u20ac\U0001F600"+`"]}}]]], "extensions": [0], "jobs": [], "debug": {"": 0}}`,
		`{"x": `+strings.Repeat("[", 9_999)+strings.Repeat("]", 9_999)+`, "jobs": []}`,
		`{"x": `+strings.Repeat(`{"a":`, 9_999)+"1"+strings.Repeat("}", 9_999)+`, "jobs": []}`,
		`{"stacks": [[[-1,`+strings.Repeat("[", 9_990)+strings.Repeat("]", 9_990)+`]]], "memoryMap": []}`,
		`{"pad": "`+strings.Repeat("x\u00fc\\n", 20_000)+`", "jobs": [{"stacks": [[[-1, 5]]], "memoryMap": []}]}`,
	)
}

// agree compares the decoder with the reference, strict or not, with the body in
// one piece and in bytes.
func agree(t *testing.T, body []byte, jobs bool) {
	for _, strict := range []bool{false, true} {
		want, title := reference(body, jobs, strict)
		cfg := mozilla.Config{Strict: strict}
		for _, piece := range []string{"whole", "bytes"} {
			var r = bytes.NewReader(body)
			got, err := mozilla.Decode(r, jobs, false, cfg)
			if piece == "bytes" {
				r.Reset(body)
				got, err = mozilla.Decode(iotest.OneByteReader(r), jobs, false, cfg)
			}
			switch {
			case err != nil && err.Error() != title, err == nil && title != "":
				t.Fatalf("%s, strict %v: %.300q\ngot  %v\nwant %q", piece, strict, body, err, title)
			case err == nil && !reflect.DeepEqual(got, want):
				t.Fatalf("%s, strict %v: %.300q\ngot  %+v\nwant %+v", piece, strict, body, got, want)
			}
		}
	}
}

func TestDecodingAgreesWithTheReference(t *testing.T) {
	for _, body := range bodies(t) {
		if strings.Contains(body, strings.Repeat("a", 65_000)) {
			continue // names have a bound of ours
		}
		agree(t, []byte(body), true)
		agree(t, []byte(body), false)
	}
}

func FuzzDecode(f *testing.F) {
	for _, body := range bodies(f) {
		if len(body) < 2000 {
			f.Add([]byte(body), true)
			f.Add([]byte(body), false)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, jobs bool) {
		if len(body) < 4<<10 { // names and numbers have bounds of their own
			agree(t, body, jobs)
		}
		_, _ = mozilla.Decode(bytes.NewReader(body), jobs, true, mozilla.Config{})
	})
}

func TestLongTextsAreRead(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", 5000), strings.Repeat("\u00fc", 5000)} {
		if _, err := mozilla.Decode(strings.NewReader(`{"jobs": "`+long+`"}`), true, false, mozilla.Config{}); err == nil {
			t.Error("a long string was accepted as a list of jobs")
		}
		d, err := mozilla.Decode(strings.NewReader(`{"memoryMap": [], "stacks": [[]], "debug": "`+long+`"}`), false, false, mozilla.Config{})
		if err != nil || !d.Debug {
			t.Errorf("a long text is true, got %+v, %v", d, err)
		}
	}
}

func TestLongNumbersAreNotKept(t *testing.T) {
	for _, lit := range []string{strings.Repeat("9", 100_000), "0." + strings.Repeat("9", 100_000), "1" + strings.Repeat("0", 16<<10)} {
		if _, err := mozilla.Decode(strings.NewReader(`{"jobs": [], "x": `+lit+`}`), true, false, mozilla.Config{}); err == nil || err.Error() != badJSON {
			t.Errorf("%d digits: %v", len(lit), err)
		}
	}
	if _, err := mozilla.Decode(strings.NewReader(`{"jobs": [], "x": `+strings.Repeat("9", 16<<10)+`}`), true, false, mozilla.Config{}); err != nil {
		t.Error(err)
	}
}

func TestReadErrorsCountBeforeSyntaxErrors(t *testing.T) {
	for _, text := range []string{``, `{`, `{"jobs": [`, `{"jobs": []}`, `{"jobs": 1`, `{"x": "a`} {
		_, err := mozilla.Decode(iotest.TimeoutReader(strings.NewReader(text+strings.Repeat(" ", 100_000))), true, false, mozilla.Config{})
		if err == nil || err.Error() != badJSON { // without words of its own
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := mozilla.Decode(stuck{}, true, false, mozilla.Config{}); err == nil {
		t.Error("a reader that gives nothing is read forever")
	}
}

// stuck is a reader that never has anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// The request to the engine has each module once, with its ids as sent, and the
// largest address for frames with another offset.
func TestRequestToTheEngine(t *testing.T) {
	req, err := mozilla.Ask(strings.NewReader(`{"jobs": [
		{"memoryMap": [["a.so", "`+libID+`"], ["b.so", "ABCDE"]], "stacks": [[[1, 7], [0, 8], [0, -1], [-1, 9]]]},
		{"memoryMap": [["b.so", "ABCDE"], ["a.so", "`+strings.ToLower(libID)+`"], ["a.so", "`+libID+`"]], "stacks": [[[0, 1], [1, 2], [2, 3], [2, 18446744073709551616]]]}]}`), mozilla.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, m := range req.Modules {
		modules = append(modules, m.DebugFile+" "+m.DebugIDText+" "+m.DebugID.Breakpad())
	}
	want := []string{"a.so " + libID + " " + libID, "b.so ABCDE " + strings.Repeat("0", 33), "a.so " + strings.ToLower(libID) + " " + libID}
	if !reflect.DeepEqual(modules, want) {
		t.Errorf("modules are %q, want %q", modules, want)
	}
	if got := fmt.Sprint(req.Frames); got != fmt.Sprintf("[{1 0 7} {0 0 8} {0 0 %d} {-1 0 9} {1 0 1} {2 0 2} {0 0 3} {0 0 %d}]", uint64(1<<64-1), uint64(1<<64-1)) {
		t.Errorf("frames are %s", got)
	}
	if req.Nearest {
		t.Error("v5 asks for the nearest")
	}
}

// chance makes requests that are nearly right.
type chance struct{ *rand.Rand }

func (c chance) one(of ...string) string { return of[c.IntN(len(of))] }

// list is several of what f makes.
func (c chance) list(most int, f func() string) string {
	var items []string
	for range c.IntN(most + 1) {
		items = append(items, f())
	}
	return "[" + strings.Join(items, c.one(",", ", ", "\n,")) + "]"
}

// or returns a good value, and sometimes an odd one.
func (c chance) or(good func() string) string {
	if c.IntN(60) == 0 {
		return c.one("null", "true", "3", "-7", "1.5", `"x"`, "{}", "[]", "[[]]", `{"a":[1]}`, "1e2", "nope", "")
	}
	return good()
}

func (c chance) frame() string {
	return c.or(func() string {
		index := c.or(func() string { return c.one("0", "0", "1", "-1", "2", "-0", "3") })
		offset := c.or(func() string {
			return c.one("0", "1", "4096", "-1", "18446744073709551615", "18446744073709551616", "-2", "12345678901234567890123")
		})
		return "[" + index + "," + offset + "]"
	})
}

func (c chance) module() string {
	return c.or(func() string {
		return `["` + c.one("a.so", "b.so", "", `c\u002eso`, "x/y", "\u00fc") + `", "` + c.one("AB", "ab", "", "0123456789ABCDEF", "xyz") + `"` + c.one("", "", "", `, "0f"`, `, 5`) + `]`
	})
}

func (c chance) job() string {
	return c.or(func() string {
		var members []string
		for range 1 + c.IntN(4) {
			members = append(members, c.one(
				`"stacks":`+c.or(func() string {
					return c.list(3, func() string { return c.or(func() string { return c.list(4, c.frame) }) })
				}),
				`"memoryMap":`+c.or(func() string { return c.list(3, c.module) }),
				`"stacks":[[[-1,1]]]`, `"memoryMap":[["a.so","AB"],["b.so","AB"],["c","D"]]`, `"x":[{"stacks":1}]`))
		}
		return "{" + strings.Join(members, ",") + "}"
	})
}

func TestRandomRequestsAgreeWithTheReference(t *testing.T) {
	seed := rand.Uint64()
	c := chance{rand.New(rand.NewPCG(seed, 0))}
	good := 0
	for range 4000 {
		body := c.job()
		if c.IntN(2) == 0 {
			body = `{"jobs":` + c.or(func() string { return c.list(3, c.job) }) + c.one(`}`, `,"stacks":1}`, `,"extensions":true}`)
		}
		agree(t, []byte(body), true)
		if _, title := reference([]byte(body), true, true); title == "" {
			good++
		}
	}
	if t.Failed() || good < 100 {
		t.Errorf("seed %d: %d requests were good", seed, good)
	}
}

func TestFramesDoNotAllocate(t *testing.T) {
	cost := func(frames int) float64 {
		body := []byte(`{"memoryMap": [["a.so", "AB"]], "stacks": [[` + strings.Repeat("[0, 123456],", frames) + `[0, -1]]]}`)
		return testing.AllocsPerRun(3, func() {
			if _, err := mozilla.Ask(bytes.NewReader(body), mozilla.Config{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(100), cost(100_000); many > few+40 { // lists grow
		t.Errorf("100 frames take %v allocations, 100000 take %v", few, many)
	}
}
