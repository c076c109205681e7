package mozilla_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/api"
	"symbolon/internal/api/mozilla"
)

const badJSON = "Payload is not valid JSON"

// refusals are bodies with the title of the 400 that they get.
var refusals = [][2]string{
	{``, badJSON},
	{" \n", badJSON},
	{`not json`, badJSON},
	{`stacks=1&memoryMap=2`, badJSON},
	{`{"jobs": [],}`, badJSON},
	{`{"jobs": [}`, badJSON},
	{`{"jobs": [1 2]}`, badJSON},
	{`{"jobs" []}`, badJSON},
	{`{jobs: []}`, badJSON},
	{`{"jobs": [{"stacks": [[[0, 1`, badJSON},
	{`{"jobs": []}{"jobs": []}`, badJSON},
	{`{"jobs": []} x`, badJSON},
	{"{\"jobs\": []}\x00", badJSON},
	{`{'jobs': []}`, badJSON},
	{`/* c */{"jobs": []}`, badJSON},
	{`{"jobs": [], "x": NaN}`, badJSON},
	{`{"jobs": [], "x": -Infinity}`, badJSON},
	{`{"jobs": [], "x": tru}`, badJSON},
	{`{"jobs": [], "x": nul`, badJSON},
	{`{"jobs": [], "x": "` + "\xff" + `"}`, badJSON},
	{`{"jobs": [], "x": "` + "\xc3" + `"}`, badJSON},
	{`{"jobs": [], "x": "` + "\xed\xa0\x80" + `"}`, badJSON},
	{"{\"jobs\": [], \"x\": \"a\nb\"}", badJSON},
	{`{"jobs": [], "x": "\q"}`, badJSON},
	{`{"jobs": [], "x": "\u12g4"}`, badJSON},
	{`{"jobs": [], "x": "\u12`, badJSON},
	{`{"jobs": [], "x": "\`, badJSON},
	{`{"jobs": [], "x": "`, badJSON},
	{`{"jobs": [], "x": "\ud800\u12g4"}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, 010]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, 1.]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, .5]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, 1e]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, +1]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, --1]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, 0x10]]]}`, badJSON},
	{`{"memoryMap": [], "stacks": [[[-1, NaN]]]}`, badJSON},
	{`{"memoryMap": 5, "stacks": 5, "x": [}`, badJSON},
	{"\xff\xfe{\x00}\x00", badJSON},
	{`{"x": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, badJSON},

	{`[]`, "job 0 is invalid"},
	{`["jobs"]`, "job 0 is invalid"},
	{`5`, "job 0 is invalid"},
	{`null`, "job 0 is invalid"},
	{`true`, "job 0 is invalid"},
	{`"a jobs b"`, "job 0 is invalid"},
	{`{"jobs": null}`, "job 0 is invalid"},
	{`{"jobs": 7}`, "job 0 is invalid"},
	{`{"jobs": true}`, "job 0 is invalid"},
	{`{"jobs": {"a": 1}}`, "job 0 is invalid"},
	{`{"jobs": "ab"}`, "job 0 is invalid"},
	{`{"jobs": [null]}`, "job 0 is invalid"},
	{`{"jobs": [[]]}`, "job 0 is invalid"},
	{`{"jobs": [], "jobs": [3]}`, "job 0 is invalid"},
	{`{"jobs": [{"memoryMap": [], "stacks": [[]]}, 3]}`, "job 1 is invalid"},

	{`{}`, "job 0 is invalid: no stacks specified"},
	{`{"memoryMap": 5}`, "job 0 is invalid: no stacks specified"},
	{`{"stacks": 5}`, "job 0 is invalid: no memoryMap specified"},
	{`{"stacks": []}`, "job 0 is invalid: no memoryMap specified"},
	{`{"jobs": [{"memoryMap": [], "stacks": [[]]}, {"memoryMap": []}]}`, "job 1 is invalid: no stacks specified"},
	{`{"jobs": [{"memoryMap": [], "stacks": [[]]}, {"stacks": [[]]}]}`, "job 1 is invalid: no memoryMap specified"},

	{`{"memoryMap": {}, "stacks": [[]]}`, "job 0 has invalid modules: modules must be a list"},
	{`{"memoryMap": null, "stacks": [[]]}`, "job 0 has invalid modules: modules must be a list"},
	{`{"memoryMap": "x", "stacks": 5}`, "job 0 has invalid modules: modules must be a list"},
	{`{"stacks": [[[9, 9]]], "memoryMap": [["a", "b"], 1]}`, "job 0 has invalid modules: module index 1 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [[]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [["a"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [["/", "zz", "x", "y"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [{"a": "b"}], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [[null, "AB"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [[true, 5]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["a", []]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_id"},

	{`{"memoryMap": [], "stacks": {}}`, "job 0 has invalid stacks: stacks must be a list of lists"},
	{`{"memoryMap": [], "stacks": null}`, "job 0 has invalid stacks: stacks must be a list of lists"},
	{`{"memoryMap": [], "stacks": []}`, "job 0 has invalid stacks: no stacks specified"},
	{`{"memoryMap": [], "stacks": [[], {}]}`, "job 0 has invalid stacks: stack 1 is not a list"},
	{`{"memoryMap": [], "stacks": [[], [[-1, 1], "x"], 3]}`, "job 0 has invalid stacks: stack 1 frame 1 is not a list of two items"},
	{`{"memoryMap": [], "stacks": [[[]]]}`, "job 0 has invalid stacks: stack 0 frame 0 is not a list of two items"},
	{`{"memoryMap": [], "stacks": [[[0]]]}`, "job 0 has invalid stacks: stack 0 frame 0 is not a list of two items"},
	{`{"memoryMap": [], "stacks": [[["x", -9, 0]]]}`, "job 0 has invalid stacks: stack 0 frame 0 is not a list of two items"},
	{`{"memoryMap": [], "stacks": [[["0", -9]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index"},
	{`{"memoryMap": [["a", "A"]], "stacks": [[[0.0, 1]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index"},
	{`{"memoryMap": [["a", "A"]], "stacks": [[[true, 1]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_index"},
	{`{"memoryMap": [["a", "A"]], "stacks": [[[0, 1], [1, 1]]]}`, "job 0 has invalid stacks: stack 0 frame 1 has a module_index that isn't in modules"},
	{`{"memoryMap": [["a", "A"]], "stacks": [[], [[-2, 1]]]}`, "job 0 has invalid stacks: stack 1 frame 0 has a module_index that isn't in modules"},
	{`{"memoryMap": [], "stacks": [[[1000000000000000000000000000000, 1]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
	{`{"memoryMap": [], "stacks": [[[-1000000000000000000000000000000, 1]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
	{`{"memoryMap": [], "stacks": [[[9, -9]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
	{`{"stacks": [[[-1, 1], [3, 1]], [[-1, "x"]]], "memoryMap": []}`, "job 0 has invalid stacks: stack 0 frame 1 has a module_index that isn't in modules"},
	{`{"memoryMap": [], "stacks": [[[-1, -2]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, -100000000000000000000]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, 4.0]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, 1e3]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, "16"], [7, 7]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, null]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, true]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, {"a": [1]}]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"memoryMap": [], "stacks": [[[-1, ` + strings.Repeat("9", 4301) + `]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has an invalid module_offset"},
	{`{"jobs": [{"memoryMap": [], "stacks": [[[7, 1]]]}, {"memoryMap": [["/", 5]], "stacks": [[]]}]}`, "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
	{`{"memoryMap": [["a", "A"]], "memoryMap": 3, "stacks": [[]]}`, "job 0 has invalid modules: modules must be a list"},
	{`{"memoryMap": [["a", "A"]], "memoryMap": [], "stacks": [[[0, 1]]]}`, "job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"},
}

// strictRefusals are bodies that only mozilla.strict refuses.
var strictRefusals = [][2]string{
	{`{"memoryMap": [["` + strings.Repeat("a", 70_000) + `", "AB"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["a", "` + strings.Repeat("a", 70_000) + `"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_id"},
	{`{"memoryMap": [["/", "zz", "x"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [["a", "AB", "0f"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id"},
	{`{"memoryMap": [["a/b", "zz"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["a\n", "AB"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["\ud800", "AB"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["\udc00\ud800", "AB"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["a", "AB"], ["a", "AB\n"], ["/", ""]], "stacks": [[]]}`, "job 0 has invalid modules: module index 1 has an invalid debug_id"},
	{`{"memoryMap": [["[vdso]", "AB"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_filename"},
	{`{"memoryMap": [["a", "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"]], "stacks": [[]]}`, "job 0 has invalid modules: module index 0 has an invalid debug_id"},
}

func titled(title string) string {
	return `{"title":"` + title + `"}`
}

func TestRefusalsHaveTheTextsOfEliot(t *testing.T) {
	h, strict := door(mozilla.Config{}, demo), door(mozilla.Config{Strict: true}, demo)
	refused := func(h http.Handler, r [2]string) {
		w := do(h, "POST", "/symbolicate/v5", r[0])
		var got struct{ Title string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 400 || got.Title != r[1] {
			t.Errorf("%.150s\ngot  %d %s\nwant %s", r[0], w.Code, w.Body, r[1])
		}
	}
	for _, r := range refusals {
		refused(h, r)
		refused(strict, r)
	}
	for _, r := range strictRefusals {
		refused(strict, r)
		if w := do(h, "POST", "/symbolicate/v5", r[0]); w.Code != 200 {
			t.Errorf("not strict: %.150s\ngot  %d %s", r[0], w.Code, w.Body)
		}
	}
}

func TestACodeIDIsAString(t *testing.T) {
	for _, v := range []string{"5", "null", "[]"} {
		body := `{"memoryMap": [["a", "AB", ` + v + `]], "stacks": [[]]}`
		expect(t, door(mozilla.Config{}, demo), "/symbolicate/v5", body, 400, titled("job 0 has invalid modules: module index 0 has an invalid code_id"))
	}
	body := `{"memoryMap": [["a", "AB", "0f"]], "stacks": [[]], "version": 4}`
	expect(t, door(mozilla.Config{V4Profile: "tecken"}, demo), "/", body, 400, `{"error":"module index 0 does not have a debug_filename and debug_id"}`)
}

// Where reads end must not matter.
func TestRefusalsAreTheSameByteByByte(t *testing.T) {
	for _, r := range refusals {
		if len(r[0]) > 1000 {
			continue
		}
		_, err := mozilla.Decode(iotest.OneByteReader(strings.NewReader(r[0])), true, false, mozilla.Config{})
		if err == nil || err.Error() != r[1] {
			t.Errorf("%.150s\ngot  %v\nwant %s", r[0], err, r[1])
		}
	}
}

func TestV4IgnoresJobs(t *testing.T) {
	h := door(mozilla.Config{}, demo)
	for body, title := range map[string]string{
		`{"jobs": []}`:                       "job 0 is invalid: no stacks specified",
		`{"jobs": [{"memoryMap": []}]}`:      "job 0 is invalid: no stacks specified",
		`{"jobs": 5, "stacks": []}`:          "job 0 is invalid: no memoryMap specified",
		`[]`:                                 "job 0 is invalid",
		`{`:                                  badJSON,
		`{"memoryMap": [], "stacks": []}`:    "job 0 has invalid stacks: no stacks specified",
		`{"memoryMap": [1], "stacks": [[]]}`: "job 0 has invalid modules: module index 0 does not have a debug_filename and debug_id",
	} {
		expect(t, h, "/symbolicate/v4", body, 400, titled(title))
	}
}

func TestTeckenHasItsOwnTexts(t *testing.T) {
	h := door(mozilla.Config{V4Profile: "tecken"}, demo)
	for _, c := range [][2]string{
		{`{`, `Invalid JSON passed in`},
		{``, `Invalid JSON passed in`},
		{`[]`, `Not a dict`},
		{`null`, `Not a dict`},
		{`{"version": 5}`, `Missing key JSON "'stacks'"`},
		{`{"stacks": 1, "version": 5}`, `Missing key JSON "'memoryMap'"`},
		{`{"stacks": 1, "memoryMap": 1}`, `Expect version==4`},
		{`{"stacks": 1, "memoryMap": 1, "version": "4"}`, `Expect version==4`},
		{`{"stacks": 1, "memoryMap": 1, "version": 4.5}`, `Expect version==4`},
		{`{"stacks": 1, "memoryMap": 1, "version": 4}`, `modules must be a list`},
		{`{"stacks": 1, "memoryMap": [], "version": 4}`, `stacks must be a list of lists`},
		{`{"stacks": [[[0, 1]]], "memoryMap": [], "version": 4}`, `stack 0 frame 0 has a module_index that isn't in modules`},
		{`{"stacks": [[[0, 1.5]]], "memoryMap": [], "version": 4}`, `stack 0 frame 0 has a module_index that isn't in modules`},
		{`{"stacks": [[[-1, "1"]]], "memoryMap": [], "version": 4}`, `stack 0 frame 0 has an invalid module_offset`},
		{`{"stacks": [], "memoryMap": [["` + strings.Repeat("\u00fc", 1025) + `", ""]], "version": 4}`, `module index 0: module name too long`},
		{`{"stacks": [], "memoryMap": [["a\u0000", ""]], "version": 4}`, `module index 0: module_name contains null-byte`},
		{`{"stacks": [], "memoryMap": [["a", 5]], "version": 4}`, `module index 0 has an invalid debug_id`},
	} {
		b, _ := json.Marshal(map[string]string{"error": c[1]})
		for _, path := range []string{"/symbolicate/v4", "/"} {
			expect(t, h, path, c[0], 400, string(b))
		}
	}
	expect(t, h, "/", `{"stacks": [], "memoryMap": [["`+strings.Repeat("\u00fc", 1024)+`", ""]], "version": 4e0}`, 200,
		`{"symbolicatedStacks":[],"knownModules":[false]}`)
}

func TestFalsyIsNotDebug(t *testing.T) {
	for _, v := range []string{"false", "null", "0", "-0", "0.0", "0e5", `""`, "[]", "{}"} {
		if d, err := mozilla.Decode(strings.NewReader(`{"memoryMap": [], "stacks": [[]], "debug": `+v+`}`), false, false, mozilla.Config{}); err != nil || d.Debug {
			t.Errorf("%s: %+v, %v", v, d, err)
		}
	}
	for _, v := range []string{"true", "1", "-1", "0.5", "1e-9", `"no"`, "[0]", `{"a": {}}`} {
		if d, err := mozilla.Decode(strings.NewReader(`{"memoryMap": [], "stacks": [[]], "debug": `+v+`}`), false, false, mozilla.Config{}); err != nil || !d.Debug {
			t.Errorf("%s: %+v, %v", v, d, err)
		}
	}
	h := door(mozilla.Config{}, demo)
	for value, want := range map[string]bool{"": false, "0": false, "false": false, "False": false, "no": false, "true": true, "1": true, "yes": true, "x": true} {
		if got := strings.Contains(do(h, "POST", "/symbolicate/v5", `{"jobs": []}`, "Debug", value).Body.String(), "debug"); got != want {
			t.Errorf("Debug: %q: the block is there: %v", value, got)
		}
	}
}

// jobs, frames, stacks, modules: a body with so many of them.
func bodyOf(jobs, stacks, frames, modules int) string {
	var b strings.Builder
	b.WriteString(`{"jobs": [`)
	for j := range jobs {
		if j > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"memoryMap": [`)
		for m := range modules {
			fmt.Fprintf(&b, `%s["m%d.so", "AB"]`, strings.Repeat(",", min(m, 1)), m)
		}
		b.WriteString(`], "stacks": [`)
		for s := range stacks {
			b.WriteString(strings.Repeat(",", min(s, 1)) + `[` + strings.TrimSuffix(strings.Repeat(`[-1,0],`, frames), ",") + `]`)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

func TestLimitsAreExact(t *testing.T) {
	h := door(mozilla.Config{MaxJobs: 20, MaxFrames: 30, MaxModules: 40}, nil)
	for _, c := range []struct {
		what   string
		limit  int
		at     func(n int) string
		errors string
	}{
		{"jobs", 20, func(n int) string { return bodyOf(n, 1, 1, 0) }, ""},
		{"frames in one stack", 30, func(n int) string { return bodyOf(1, 1, n, 0) }, "frames"},
		{"frames in all stacks", 30, func(n int) string {
			return `{"jobs": [` + strings.TrimSuffix(strings.Repeat(`{"memoryMap":[],"stacks":[[[-1,0]]]},`, 10), ",") + `,{"memoryMap":[],"stacks":[[],[` +
				strings.TrimSuffix(strings.Repeat(`[-1,0],`, n-10), ",") + `]]}]}`
		}, "frames"},
		{"stacks", 30, func(n int) string { return bodyOf(1, n, 0, 0) }, "stacks"},
		{"modules", 40, func(n int) string { return bodyOf(1, 1, 0, n) }, "modules"},
	} {
		if c.errors == "" {
			c.errors = c.what
		}
		for n, status := range map[int]int{c.limit - 1: 200, c.limit: 200, c.limit + 1: 413, c.limit + 100: 413} {
			w := do(h, "POST", "/symbolicate/v5", c.at(n))
			if w.Code != status {
				t.Errorf("%d %s: got %d %s", n, c.what, w.Code, w.Body)
			}
			if want := titled(fmt.Sprintf("please limit number of %s in a single request to <= %d", c.errors, c.limit)); status == 413 && w.Body.String() != want {
				t.Errorf("%d %s: got %s", n, c.what, w.Body)
			}
		}
	}
	// The same modules in every job are distinct only once.
	if w := do(h, "POST", "/symbolicate/v5", bodyOf(20, 1, 1, 40)); w.Code != 200 {
		t.Errorf("the same modules again and again: %d %s", w.Code, w.Body)
	}
}

func TestReplacedMembersDoNotCount(t *testing.T) {
	frames := strings.TrimSuffix(strings.Repeat(`[0,0],`, 25), ",")
	body := `{"jobs": [{"stacks": [[` + frames + `]], "memoryMap": [["b", "B"]], "stacks": [[` + frames + `]], "memoryMap": [["a", "A"]]}]}`
	d, err := mozilla.Decode(strings.NewReader(body), true, false, mozilla.Config{MaxFrames: 30})
	if err != nil {
		t.Fatal(err)
	}
	if j := d.Jobs[0]; len(j.Stacks) != 1 || len(j.Stacks[0]) != 25 || len(j.Modules) != 1 || j.Stacks[0][24].Module != "a/A" {
		t.Errorf("got %+v", d)
	}
}

func TestNegativeLimitsAreUnlimited(t *testing.T) {
	h := door(mozilla.Config{MaxJobs: -1, MaxFrames: -1, MaxModules: -1}, nil)
	if w := do(h, "POST", "/symbolicate/v5", bodyOf(1500, 2, 3, 4)); w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestStrictLimitsJobsAsEliot(t *testing.T) {
	h := door(mozilla.Config{Strict: true, MaxJobs: 5}, nil)
	const title = `{"title":"please limit number of jobs in a single request to <= 10"}`
	for body, want := range map[string]int{
		bodyOf(9, 1, 1, 1):                           200,
		bodyOf(10, 1, 1, 1):                          200,
		bodyOf(11, 1, 1, 1):                          400,
		`{"jobs": [0,1,2,3,4,5,6,7,8,9,10]}`:         400,
		`{"jobs": "0123456789\u00fc"}`:               400,
		bodyOf(11, 1, 1, 1)[:80] + "\x00":            0,
		strings.TrimSuffix(bodyOf(11, 1, 1, 1), "}"): 0,
	} {
		w := do(h, "POST", "/symbolicate/v5", body)
		switch {
		case want == 0 && w.Body.String() != titled(badJSON):
			t.Errorf("%.100s: bad JSON comes first, got %s", body, w.Body)
		case want == 400 && w.Body.String() != title:
			t.Errorf("%.100s: got %s", body, w.Body)
		case want != 0 && w.Code != want:
			t.Errorf("%.100s: got %d", body, w.Code)
		}
	}
	expect(t, h, "/symbolicate/v5", `{"jobs": [0,1,2,3,4,5,6,7,8,9]}`, 400, titled("job 0 is invalid"))
}

func TestEmptyListOfJobsOfAnyTypeIsValid(t *testing.T) {
	h := door(mozilla.Config{}, nil)
	for _, v := range []string{`[]`, `{}`, `""`} {
		expect(t, h, "/symbolicate/v5", `{"jobs": `+v+`}`, 200, `{"results":[]}`)
	}
}

func TestUnreadableBodiesHaveTheErrorOfTheFront(t *testing.T) {
	d := mozilla.NewWith(mozilla.Config{}, mozilla.Deps{Log: quiet}, demo.run)
	h := api.New(api.Config{MaxBody: 50}, api.Options{Log: quiet, Now: now}, d.Routes())
	body := `{"jobs": [], "padding": "` + strings.Repeat("x", 50) + `"}`
	r, _ := http.NewRequest("POST", "/symbolicate/v5", io.MultiReader(strings.NewReader(body)))
	w := record(h, r)
	if w.Code != 413 || !strings.Contains(w.Body.String(), "the limit of a body is 50") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	w = do(h, "POST", "/symbolicate/v5", "xxxxx", "Content-Encoding", "gzip")
	if w.Code != 400 || !strings.Contains(w.Body.String(), "the body is not gzip") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
