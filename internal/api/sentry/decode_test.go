package sentry_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"symbolon/internal/api/sentry"
	"symbolon/internal/symbolicate"
)

// inFrame is a request with members in its only frame, and so on for the
// others.
func inFrame(members string) string {
	return `{"stacktraces":[{"frames":[{"instruction_addr":"0x10"` + members + `}]}]}`
}
func inModule(members string) string { return `{"modules":[{"type":"elf"` + members + `}]}` }

func TestRequestsAreValidated(t *testing.T) {
	f, _ := door(t, sentry.Config{AllowRequestSources: true, MaxFrames: 3, MaxModules: 2}, sentry.Deps{}, engine{}.run)
	for body, want := range map[string]int{
		`{}`:            200,
		` {"future":1}`: 200,
		`{} behind`:     200,
		``:              400, `{`: 400, `{"modules":[`: 400, "\ufeff{}": 400, "{\"platform\":\"\xff\"}": 400, `{"a":tru}`: 400,
		`[]`: 422, `12`: 422, `"x"`: 422, `null`: 422,

		`{"options":null,"scraping":null,"sources":null,"signal":null,"platform":null}`: 200,
		`{"stacktraces":null}`: 422, `{"modules":null}`: 422, `{"modules":{}}`: 422, `{"modules":[],"modules":[]}`: 422,
		`{"signal":11}`: 200, `{"signal":"11"}`: 422, `{"signal":-1}`: 422, `{"signal":4294967296}`: 422, `{"signal":1.0}`: 422,
		`{"platform":"plan9"}`: 200, `{"platform":9}`: 422,

		`{"options":{"dif_candidates":true,"apply_source_context":false,"extract_variables":true,"frame_order":"caller_first","x":1}}`: 200,
		`{"options":{"frame_order":"sideways"}}`: 422, `{"options":{"dif_candidates":null}}`: 422, `{"options":[{}]}`: 422,
		`{"scraping":{"enabled":true,"allowed_origins":["*"],"headers":{"a":"b"},"verify_ssl":false}}`: 200,
		`{"scraping":{"enabled":true}}`: 422, `{"scraping":{"enabled":true,"allowed_origins":"*","headers":{}}}`: 422,

		`{"sources":[]}`: 200, `{"sources":{}}`: 422, `{"sources":[5]}`: 422,
		`{"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/","name":"n"}]}`:                                                                    200,
		`{"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/","headers":{"bad header":"v","good":"v"}}]}`:                                       200,
		`{"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/","path":"/x","region":"r"}]}`:                                                      200,
		`{"sources":[{"id":"x","type":"gcs","bucket":"b","client_email":"a@b","bearer_token":"t"}]}`:                                                       200,
		`{"sources":[{"id":"x","type":"gcs","bucket":"b","client_email":"a@b"}]}`:                                                                          422,
		`{"sources":[{"id":"x","type":"ftp","url":"http://127.0.0.1:1/"}]}`:                                                                                422,
		`{"sources":[{"id":5,"type":"http","url":"http://127.0.0.1:1/"}]}`:                                                                                 422,
		`{"sources":[{"id":"x","type":"http"}]}`:                                                                                                           422,
		`{"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/","layout":"native"}]}`:                                                             422,
		`{"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/","headers":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) + `}]}`: 422,

		`{"stacktraces":[{"frames":[]}]}`: 200, `{"stacktraces":[{}]}`: 422, `{"stacktraces":[[]]}`: 422,
		`{"stacktraces":[{"frames":[{}]}]}`: 422, `{"stacktraces":[{"frames":[{"instruction_addr":1,"instruction_addr":1}]}]}`: 422,
		`{"stacktraces":[{"frames":[],"registers":{"pc":"0x1","sp":2},"thread_id":18446744073709551615,"thread_name":null,"is_requesting":null}]}`: 200,
		`{"stacktraces":[{"frames":[],"registers":{"pc":null}}]}`:                                                                                  422, `{"stacktraces":[{"frames":[],"registers":null}]}`: 422,
		`{"stacktraces":[{"frames":[],"thread_id":-1}]}`: 422,
		`{"stacktraces":[{"frames":[{"instruction_addr":1},{"instruction_addr":1},{"instruction_addr":1},{"instruction_addr":1}]}]}`: 413,
		`{"stacktraces":[{"frames":[]},{"frames":[]},{"frames":[]},{"frames":[]}]}`:                                                  413,
		`{"modules":[{"type":"a"},{"type":"a"},{"type":"a"}]}`:                                                                       413,

		inFrame(`,"adjust_instruction_addr":null,"function_id":null,"trust":"cfi","in_app":false,"lineno":4294967295`): 200,
		inFrame(`,"trust":"guess"`): 422, inFrame(`,"trust":null`): 422, inFrame(`,"lineno":-1`): 422, inFrame(`,"in_app":"yes"`): 422,
		inFrame(`,"pre_context":["a"],"post_context":[],"vars":{"a":"int"}`): 200,
		inFrame(`,"pre_context":null`):                                       422, inFrame(`,"pre_context":[1]`): 422, inFrame(`,"vars":[]`): 422,
		inFrame(`,"addr_mode":"abs"`): 200, inFrame(`,"addr_mode":"rel:18446744073709551615"`): 200,
		inFrame(`,"addr_mode":"rel"`): 422, inFrame(`,"addr_mode":"rel:"`): 422, inFrame(`,"addr_mode":"rel:x"`): 422,
		inFrame(`,"addr_mode":"rel:+1"`): 200, inFrame(`,"addr_mode":"rel:++1"`): 422, inFrame(`,"addr_mode":"rel:-1"`): 422, inFrame(`,"addr_mode":"REL:0"`): 422, inFrame(`,"addr_mode":null`): 422,
		inFrame(`,"function":"` + strings.Repeat("x", 1<<20+1) + `"`): 422,

		inModule(``): 200, `{"modules":[{}]}`: 422, `{"modules":[{"type":null}]}`: 422, `{"modules":[{"type":"new"}]}`: 200,
		inModule(`,"code_id":null,"debug_id":"nonsense","code_file":null,"debug_file":null,"debug_checksum":null,"image_size":null`): 200,
		inModule(`,"image_size":"0x10"`): 422, inModule(`,"image_size":-5`): 422, inModule(`,"code_id":5`): 422,
	} {
		if w := do(f, "POST", "/symbolicate", body); w.Code != want {
			t.Errorf("%.200q: got %d %.200s, want %d", body, w.Code, w.Body, want)
		} else if kind := w.Header().Get("Content-Type"); want != 200 && (!strings.HasPrefix(kind, "text/plain") || w.Body.Len() == 0) {
			t.Errorf("%.200q: it is said as %s: %s", body, kind, w.Body)
		}
	}
}

func TestDeepRequestsAreRejected(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for body, want := range map[string]string{
		`{"x":` + nested(9_999) + `}`:                                   "",
		`{"x":` + nested(10_000) + `}`:                                  "nested deeper than 10000 levels",
		`{"x":` + strings.Repeat(`{"a":`, 100_000):                      "nested deeper than 10000 levels",
		`{"x":` + nested(9_999) + `]}`:                                  "the body is not JSON",
		inFrame(`,"vars":{"a":` + nested(65) + `}`):                     "at most 64 levels",
		`{"sources":[{"id":"x","type":"http","a":` + nested(65) + `}]}`: "at most 64 levels",
	} {
		switch _, err := sentry.Ask(strings.NewReader(body), sentry.Config{}); {
		case want == "" && err != nil:
			t.Errorf("%.60q: %v", body, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.60q: %v, want %q", body, err, want)
		}
	}
}

func TestFormsOfAddresses(t *testing.T) {
	for text, want := range map[string]uint64{
		`0`: 0, `16`: 16, `18446744073709551615`: 1<<64 - 1, `-1`: 1<<64 - 1, `-9223372036854775808`: 1 << 63, `9999999999999999999`: 9999999999999999999,
		`"0x10"`: 16, `"0X1F"`: 31, `"0xffffffffffffffff"`: 1<<64 - 1, `"0x000000000000000000010"`: 16, `"31"`: 31, `"\u0030x1f"`: 31, `"+31"`: 31, `"0x+1f"`: 31,
	} {
		body := `{"stacktraces":[{"frames":[{"instruction_addr":` + text + `,"addr_mode":"rel:0"}]}],"modules":[{"type":"elf"}]}`
		req, err := sentry.Ask(strings.NewReader(body), sentry.Config{})
		if err != nil || req.Frames[0].Addr != want {
			t.Errorf("%s is %v, %v", text, req, err)
		}
	}
	for _, text := range []string{
		`""`, `"0x"`, `"main"`, `"7f3a"`, `"0xzz"`, `"0x1ffffffffffffffff"`, `18446744073709551616`, `-9223372036854775809`, `12.0`, `1e3`, `null`, `true`, `[]`, `"-1"`,
		`"+"`, `"++1"`, `"0x+"`, `"0x++1"`, `"+0x1"`,
	} {
		if _, err := sentry.Ask(strings.NewReader(`{"stacktraces":[{"frames":[{"instruction_addr":`+text+`}]}]}`), sentry.Config{}); err == nil {
			t.Errorf("%s is taken for an address", text)
		}
	}
}

func TestIndexesOfModulesAreRepeated(t *testing.T) {
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, engine{}.run)
	for _, index := range []string{"7", "2147483648", "4294967296", "18446744073709551615"} {
		w := do(f, "POST", "/symbolicate", inFrame(`,"addr_mode":"rel:`+index+`"`))
		if !strings.Contains(w.Body.String(), `"addr_mode":"rel:`+index+`"`) {
			t.Errorf("rel:%s: got %d %s", index, w.Code, w.Body)
		}
	}
}

func TestContentTypes(t *testing.T) {
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, engine{}.run)
	for kind, want := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "application/vnd.api+json": 200, "": 415, "text/plain": 415, "text/json": 415, "application": 415,
	} {
		if w := doAs(f, "POST", "/symbolicate", kind, `{}`); w.Code != want {
			t.Errorf("%q: got %d", kind, w.Code)
		}
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	f, _ := door(t, sentry.Config{MaxBody: 100}, sentry.Deps{}, engine{}.run)
	if w := do(f, "POST", "/symbolicate", `{"platform":"`+strings.Repeat("x", 100)+`"}`); w.Code != 413 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

// The address that each frame asks for.
func TestFramesFindTheirModule(t *testing.T) {
	const a, b, c = symbolicate.Aligned, symbolicate.Before, symbolicate.Exact
	modules := `"modules":[{"type":"pe","image_addr":"0x3000","image_size":4096},{"type":"elf","image_addr":"0x1000"},{"type":"wasm"},
		{"type":"pe_dotnet","image_addr":"0x9000","image_size":16},{"type":"elf","image_addr":"0xfffffffffffff000"}]`
	// sized: 2 at 0-1000, 1 at 1000-3000, 0 at 3000-4000, 3 at 9000-9010, 4 from …f000 on
	for stack, want := range map[string]string{
		`{"frames":[{"instruction_addr":"0x1000"},{"instruction_addr":"0x2fff"}]}`:                                     fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: a, Addr: 0x1000}, {Module: 1, Step: b, Addr: 0x2fff}}),
		`{"frames":[{"instruction_addr":"0x3fff"},{"instruction_addr":"0x4000"},{"instruction_addr":"0x4001"}]}`:       fmt.Sprint([]symbolicate.Frame{{Module: 0, Step: a, Addr: 0x3fff}, {Module: 0, Step: b, Addr: 0x4000}, {Module: -1}}),
		`{"frames":[{"instruction_addr":"0x4000","adjust_instruction_addr":false}]}`:                                   fmt.Sprint([]symbolicate.Frame{{Module: -1}}),
		`{"frames":[{"instruction_addr":"0x1000"},{"instruction_addr":"0x1000","adjust_instruction_addr":false}]}`:     fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: b, Addr: 0x1000}, {Module: 1, Step: a, Addr: 0x1000}}),
		`{"frames":[{"instruction_addr":"0x10","addr_mode":"rel:1"},{"instruction_addr":"0x10","addr_mode":"rel:9"}]}`: fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: a, Addr: 0x1010}, {Module: -1}}),
		`{"frames":[{"instruction_addr":"0x10","addr_mode":"rel:2"},{"instruction_addr":"0x10","addr_mode":"rel:2"}]}`: fmt.Sprint([]symbolicate.Frame{{Module: 2, Step: c, Addr: 0x10}, {Module: 2, Step: c, Addr: 0x10}}),
		`{"frames":[{"instruction_addr":"0x5","addr_mode":"rel:3","function_id":"0x6"}]}`:                              fmt.Sprint([]symbolicate.Frame{{Module: 3, Step: c, Addr: 0x06000006<<32 | 5}}),
		`{"frames":[{"instruction_addr":"0xffffffffffffffff"}]}`:                                                       fmt.Sprint([]symbolicate.Frame{{Module: 4, Step: a, Addr: 1<<64 - 1}}),
		`{"frames":[{"instruction_addr":"0x1000"}],"registers":{"rip":"0x1000"}}`:                                      fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: a, Addr: 0x1000}}),
		`{"frames":[{"instruction_addr":"0x1000"}],"registers":{"rip":"0x1001","rsp":1}}`:                              fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: b, Addr: 0x1000}}),
		`{"frames":[{"instruction_addr":"0x1000"}],"registers":{"pc":"0x1001","lr":1,"pc":"0x1000"}}`:                  fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: a, Addr: 0x1000}}),
		`{"frames":[{"instruction_addr":"0x1000","adjust_instruction_addr":null}],"registers":{"x":1}}`:                fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: a, Addr: 0x1000}}),
	} {
		body := `{"signal":11,"stacktraces":[` + stack + `],` + modules + `}`
		req, err := sentry.Ask(strings.NewReader(body), sentry.Config{})
		if err != nil {
			t.Fatal(stack, err)
		}
		if got := fmt.Sprint(req.Frames); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", stack, got, want)
		}
		if fmt.Sprint(req.Bases) != fmt.Sprint([]uint64{0x3000, 0x1000, 0, 0, 0xfffffffffffff000}) {
			t.Errorf("bases %x", req.Bases)
		}
	}
	// Outermost first, the last frame is the innermost one; and only some
	// signals leave the first address unsure.
	for body, want := range map[string]string{
		`{"options":{"frame_order":"caller_first"},`:            fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: b, Addr: 0x1000}, {Module: 1, Step: b, Addr: 0x1001}}),
		`{"signal":6,"options":{"frame_order":"caller_first"},`: fmt.Sprint([]symbolicate.Frame{{Module: 1, Step: b, Addr: 0x1000}, {Module: 1, Step: a, Addr: 0x1001}}),
	} {
		if !strings.Contains(body, "signal") {
			body = `{"signal":11,` + body[1:]
		}
		req, err := sentry.Ask(strings.NewReader(body+`"stacktraces":[{"registers":{"rip":1},"frames":[{"instruction_addr":"0x1000"},{"instruction_addr":"0x1001"}]}],`+modules+`}`), sentry.Config{})
		if err != nil || fmt.Sprint(req.Frames) != want {
			t.Errorf("%s: got %v, %v", body, req, err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(stacks50()[:3000]), false)
	f.Add([]byte(inFrame(`,"function":"_ZN3foo3barEi","trust":"scan","pre_context":["a"],"vars":{"a":{"b":[1]}},"addr_mode":"rel:0","function_id":7`)), true)
	f.Add([]byte(`{"signal":11,"stacktraces":[{"registers":{"rip":"0x1"},"frames":[{"instruction_addr":1,"symbol":"a\"\ud800"}]}],"modules":[{"type":"pe_dotnet","image_size":5}],"options":{"frame_order":"caller_first","dif_candidates":true}}`), false)
	f.Add([]byte(`{"sources":[{"id":"x","type":"http","url":"http://a/","headers":{"a b":"c"}}],"scraping":{"enabled":true,"allowed_origins":[],"headers":{}}}`), true)
	f.Fuzz(func(t *testing.T, body []byte, slow bool) {
		var src io.Reader = strings.NewReader(string(body))
		if slow {
			src = iotest.OneByteReader(src)
		}
		var out strings.Builder
		if sentry.Encode(src, constantRun, &out) != nil {
			return
		}
		if !json.Valid([]byte(out.String())) {
			t.Fatalf("%q: the answer is not JSON: %s", body, out.String())
		}
	})
}
