package rows_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/rows"
)

const (
	xulID   = "A1B2C3D4E5F60718293A4B5C6D7E8F900"
	shortID = "94e4559d737bc9e7" // a build id
)

// names has an address of libxul.so with an inlined call, and one without.
var names = filtertest.Names{shortID: {0x20: {{Function: []byte("short"), Entry: 0x20}}}, xulID: {
	0x1973: {
		{Function: []byte("inner<int>(\"a\")"), File: []byte("/src/util.h"), Line: 31, Entry: 0x1960, Inlined: true},
		{Function: []byte("outer"), File: []byte("/src/main.c"), Line: 10, Entry: 0x1960},
	},
	0x20: {{Function: []byte("start"), Entry: 0x20}},
}}

// rewrite returns the result of a Filter and its counts. A second run must not
// change it.
func rewrite(t *testing.T, o rows.Options, input string) (string, rows.Counts) {
	t.Helper()
	once, counts := run(t, o, &filter.Run{Names: names, Answer: echo}, input)
	if !o.Chunks {
		if twice, _ := run(t, o, &filter.Run{Names: names, Answer: echo}, once); twice != once {
			t.Errorf("a second run changed\n%s\nto\n%s", once, twice)
		}
	}
	return once, counts
}

func run(t *testing.T, o rows.Options, r *filter.Run, input string) (string, rows.Counts) {
	t.Helper()
	var out bytes.Buffer
	counts, err := o.Filter(context.Background(), r, bufio.NewReaderSize(strings.NewReader(input), 16), bufio.NewWriter(&out))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), counts
}

// ping is a crash ping of desktop whose frames are a list.
func ping(frames string) string {
	return `{"crash_type":"SIGSEGV","crash_address":"0x0","crash_thread":0,"main_module":0,"modules":[{"base_address":"0x7f0000000000",` +
		`"end_address":"0x7f0000900000","filename":"libxul.so","code_id":"","debug_file":"libxul.so","debug_id":"` + xulID +
		`","version":"140.0"},{"filename":"gone.so"}],"threads":[{"frames":[` + frames + `]}]}`
}

const knownFrame = `{"ip":"0x7f0000001973","module_index":0,"trust":"cfi"}`

// knownAnswer is the answer to knownFrame.
const knownAnswer = `{"offset":"0x00007f0000001973","module":"libxul.so","module_offset":"0x0000000000001973","function":"inner<int>(\"a\")",` +
	`"function_offset":"0x0000000000000013","file":"/src/util.h","line":31},` +
	`{"offset":"0x00007f0000001973","module":"libxul.so","module_offset":"0x0000000000001973","function":"outer",` +
	`"function_offset":"0x0000000000000013","file":"/src/main.c","line":10}`

func answer(reason, frames string) string {
	return `{"reason":` + reason + `,"crashing_thread":0,"threads":[{"frames":[` + frames + `]}]}`
}

func TestCrashPingHasAnAnswer(t *testing.T) {
	other := `{"ip":"0x7f0000000020","module_index":0,"trust":"scan"}, {"ip":"7f0000000021","module_index":0},
		{"ip":"0x12","module_index":1}, {"ip":"0x10","module_index":0}, {"ip":"0x11"}, {"ip":"0x13","module_index":7}, {"ip":"x"}, {}, 7`
	line := strings.ReplaceAll(ping(knownFrame+","+other), "\n", "")
	want := answer(`"SIGSEGV"`, knownAnswer+
		`,{"offset":"0x00007f0000000020","module":"libxul.so","module_offset":"0x0000000000000020","function":"start","function_offset":"0x0000000000000000"}`+
		`,{"offset":"0x00007f0000000021","module":"libxul.so","module_offset":"0x0000000000000021"}`+
		`,{"offset":"0x0000000000000012","module":"gone.so"}`+
		`,{"offset":"0x0000000000000010","module":"libxul.so"}`+
		`,{"offset":"0x0000000000000011"},{"offset":"0x0000000000000013"}`+
		`,{"error":"invalid ip \"x\": must be hexadecimal digits"}`+
		`,{"error":"invalid frame: must have an ip"},{"error":"invalid frame: must have an ip"}`)
	if got, _ := rewrite(t, rows.Options{}, line+"\r\n"); got != line[:len(line)-1]+`,"symbolicated":`+want+"}\r\n" {
		t.Errorf("got %s", got)
	}
	if got, _ := rewrite(t, rows.Options{Replace: true}, line); got != want {
		t.Errorf("got %s", got)
	}
}

func TestAllShapesOfPingsHaveTheSameAnswer(t *testing.T) {
	android := strings.NewReplacer("crash_type", "crashType", "crash_address", "crashAddress", "crash_thread", "crashThread",
		"base_address", "baseAddress", "end_address", "endAddress", "code_id", "codeId", "debug_file", "debugFile", "debug_id", "debugId",
		"module_index", "moduleIndex").Replace(ping(knownFrame))
	extra := `{"status":"OK","crash_info":{"type":"SIGSEGV","address":"0x0","crashing_thread":1},"main_module":0,"modules":[{"base_addr":"0x7f0000000000",` +
		`"end_addr":"0x7f0000900000","filename":"libxul.so","debug_file":"/usr/lib/libxul.so","debug_id":"` + xulID +
		`"}],"unloaded_modules":[],"threads":[{"frames":[{"ip":"0x1"}]},{"frames":[` + knownFrame + `]}]}`
	noThread := strings.Replace(ping(knownFrame), `"crash_thread":0,`, "", 1)
	for name, doc := range map[string]string{"desktop": ping(knownFrame), "Android": android, ".extra": extra, "no thread": noThread} {
		want := strings.TrimSuffix(doc, "}") + `,"symbolicated":` + answer(`"SIGSEGV"`, knownAnswer) + "}"
		for _, around := range []string{"%s", `{"payload":{"stackTraces":%s,"n":1e2}, "x":[ ]}`, ` {"stack_traces" : %s }`} {
			line, want := fmt.Sprintf(around, doc), fmt.Sprintf(around, want)
			if got, _ := rewrite(t, rows.Options{}, line); got != want {
				t.Errorf("%s in %s: got\n%s, want\n%s", name, around, got, want)
			}
		}
	}
}

func TestPingWithoutFramesHasTheCrashAddress(t *testing.T) {
	const address = `{"offset":"0x00000000deadbeef"}`
	for doc, want := range map[string]string{
		`{"crash_type":null,"crash_address":"0xdeadbeef","modules":[],"threads":[]}`:                         answer("null", address),
		`{"crash_address":"0xdeadbeef","crash_thread":9,"threads":[{"frames":[{"ip":"0x1"}]}],"modules":[]}`: answer("null", address),
		`{"crash_address":"none","modules":7,"threads":{}}`:                                                  answer("null", ""),
		`{"crash_address":null,"threads":[[],{"frames":null}]}`:                                              answer("null", ""),
	} {
		if got, _ := rewrite(t, rows.Options{Replace: true}, doc); got != want {
			t.Errorf("%s: got %s, want %s", doc, got, want)
		}
	}
}

func TestMiddleOfLongStackIsOmitted(t *testing.T) {
	for _, c := range []struct {
		frames        []string
		want, omitted int
	}{
		{slices("0x1", 100), 100, 0},
		{slices("0x1", 101), 101, 1},
		{append(slices("0x1", 170), knownFrame), 101, 72},
		{append([]string{knownFrame}, slices("0x1", 99)...), 101, 1},
	} {
		got, _ := rewrite(t, rows.Options{Replace: true}, ping(strings.Join(c.frames, ",")))
		var a struct {
			Threads []struct {
				Frames []struct {
					Omitted int
					Offset  string
				}
			}
		}
		if err := json.Unmarshal([]byte(got), &a); err != nil {
			t.Fatal(err)
		}
		frames := a.Threads[0].Frames
		if len(frames) != c.want || c.omitted > 0 && frames[50].Omitted != c.omitted {
			t.Errorf("%d frames: got %d, want %d with %d omitted: %s", len(c.frames), len(frames), c.want, c.omitted, got)
		}
	}
}

// slices returns n frames.
func slices(ip string, n int) (list []string) {
	for range n {
		list = append(list, `{"ip":"`+ip+`"}`)
	}
	return list
}

func TestListOfFramesHasAnAnswer(t *testing.T) {
	list := `{"id":7,"frames":[{"debug_file":"libxul.so","debug_id":"` + xulID + `","offset":"0x1973"},{"module":"libxul.so","id":"` + xulID +
		`","offset":32},{"module":"libxul.so","id":"` + xulID + `","offset":"0x1"},{"module":"b.so","offset":"0x1"},{"module":"b.so","offset":[]},{"module":"c.so","id":"` + shortID + `","offset":32}]}`
	const place = `"module":"libxul.so","module_offset":"0x0000000000001973","function":`
	want := `{"frames":[{"frame":0,` + place + `"inner<int>(\"a\")","function_offset":"0x0000000000000013","file":"/src/util.h","line":31},` +
		`{"frame":0,` + place + `"outer","function_offset":"0x0000000000000013","file":"/src/main.c","line":10},` +
		`{"frame":1,"module":"libxul.so","module_offset":"0x0000000000000020","function":"start","function_offset":"0x0000000000000000"},` +
		`{"frame":2,"module":"libxul.so","module_offset":"0x0000000000000001"},{"frame":3,"module":"b.so","module_offset":"0x0000000000000001"},` +
		`{"frame":4,"error":"invalid frame: must have an offset of at most 64 bits"},` +
		`{"frame":5,"module":"c.so","module_offset":"0x0000000000000020","function":"short","function_offset":"0x0000000000000000"}]}`
	if got, _ := rewrite(t, rows.Options{Replace: true}, list); got != want {
		t.Errorf("got %s", got)
	}
	if got, _ := rewrite(t, rows.Options{}, list); got != strings.TrimSuffix(list, "}")+`,"symbolicated":`+want+"}" {
		t.Errorf("got %s", got)
	}
}

func TestFieldIsRewritten(t *testing.T) {
	doc := ping(knownFrame)
	quoted := func(s string) string {
		text, _ := json.Marshal(s)
		return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text))
	}
	want := answer(`"SIGSEGV"`, knownAnswer)
	for _, c := range []struct{ field, row string }{
		{"stack_traces", `{"document_id":"\u0061", "stack_traces":%s,"os": null}`},
		{"a.b", `{"a":{"c":1,"b":%s},"b":2}`},
		{"metrics.object.crash.stack_traces", `{"metrics":{"object":{"crash.stack_traces":%s}}}`},
	} {
		o := rows.Options{Field: c.field, Replace: true}
		if got, _ := rewrite(t, o, fmt.Sprintf(c.row, doc)); got != fmt.Sprintf(c.row, want) {
			t.Errorf("%s: got %s", c.field, got)
		}
		if got, _ := rewrite(t, o, fmt.Sprintf(c.row, quoted(" "+doc))); got != fmt.Sprintf(c.row, quoted(" "+want)) {
			t.Errorf("%s in a string: got %s", c.field, got)
		}
		for _, same := range []string{"null", `""`, `"null"`, "7", `[ ]`} {
			row := fmt.Sprintf(c.row, same)
			if got, n := rewrite(t, o, row); got != row || n.Failed != 0 {
				t.Errorf("%s: got %s, %d failed", row, got, n.Failed)
			}
		}
	}
}

func TestARowWithoutTheFieldHasNoAnswer(t *testing.T) {
	for row, failed := range map[string]int{`{"frames":[]}`: 1, `{"a":{"c":1}}`: 1, `{"a":7}`: 1, `{"a":null}`: 0, `{"a":{"b":null}}`: 0} {
		if got, n := rewrite(t, rows.Options{Field: "a.b"}, row); got != row || n.Failed != failed {
			t.Errorf("%s: got %s, %d failed, want %d", row, got, n.Failed, failed)
		}
	}
	if got, _ := rewrite(t, rows.Options{Field: "a.b", Strict: true}, `{"frames":[]}`); !strings.HasPrefix(got, `{"error":"unknown row`) {
		t.Errorf("with errors as answers: got %s", got)
	}
}

func TestUnknownRowsAreCopied(t *testing.T) {
	for input, failed := range map[string]int{
		"": 0, "\n\n \t\r\n": 0, "null\n": 0, "[1, 2]": 0, "{}\n": 1, `{"a" : [ 1.50 , {"b":"\u00e9\/"} ] }` + "\n": 1,
		"[  12.3] oops\n": 0, "\xff\xfe\x00{\n\"": 0, `{"modules":[` + "\n": 0, `{"threads":1}`: 1,
		strings.Repeat(`{"payload":`, 400) + strings.Repeat("}", 400):       0,
		strings.Repeat(`{"payload":`, 400) + "1" + strings.Repeat("}", 400): 1,
		strings.Repeat(`[`, 600) + "\n":                                     0,
	} {
		got, n := rewrite(t, rows.Options{}, input)
		if got != input {
			t.Errorf("%.80q: got %.80q", input, got)
		}
		if n.Failed != failed {
			t.Errorf("%.80q: got %d failed, want %d", input, n.Failed, failed)
		}
	}
}

func TestByteOrderMarkIsCopied(t *testing.T) {
	o := rows.Options{}
	filtered := func(in string) string {
		var out strings.Builder
		w := bufio.NewWriter(&out)
		if _, err := o.Filter(t.Context(), &filter.Run{Names: names}, bufio.NewReader(strings.NewReader(in)), w); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	row := ping(knownFrame) + "\n"
	if got, want := filtered("\ufeff"+row), "\ufeff"+filtered(row); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestForceMakesTheAnswerAgain(t *testing.T) {
	doc := ping(knownFrame)
	line := strings.TrimSuffix(doc, "}") + `,"symbolicated": {"old":1} , "z":1}`
	want := strings.Replace(line, `{"old":1}`, answer(`"SIGSEGV"`, knownAnswer), 1)
	if got, _ := run(t, rows.Options{}, &filter.Run{Names: names, Force: true}, line); got != want {
		t.Errorf("got %s", got)
	}
}

// upper is a filter of text.
func upper(_ context.Context, _ *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
	text, err := io.ReadAll(in)
	out.WriteString(strings.ToUpper(string(text)))
	return err
}

func TestTextIsRewritten(t *testing.T) {
	calls := 0
	o := rows.Options{Text: func(ctx context.Context, r *filter.Run, in *bufio.Reader, out *bufio.Writer) error {
		calls++
		return upper(ctx, r, in, out)
	}}
	const input = "one\ntwo\r\n \"three\\n\\\"4\\\"\" \n\"\\u0041\"\nfive"
	if got, _ := run(t, o, &filter.Run{Names: names}, input); got != "ONE\nTWO\r\n \"THREE\\n\\\"4\\\"\" \n\"\\u0041\"\nFIVE" {
		t.Errorf("got %q", got)
	}
	if calls != 4 {
		t.Errorf("got %d calls, want one for lines that follow each other and for each string", calls)
	}
	o.Field = "m"
	if got, _ := run(t, o, &filter.Run{Names: names}, `{"a":"a","m":"m"}`); got != `{"a":"a","m":"M"}` {
		t.Errorf("got %q", got)
	}
}

func TestChunkHasAsManyRows(t *testing.T) {
	o := rows.Options{Chunks: true, Strict: true, Replace: true, Field: "s", Text: upper}
	row := `{"s":` + ping(knownFrame) + "}\n"
	want := `{"s":` + answer(`"SIGSEGV"`, knownAnswer) + "}\n"
	got, n := run(t, o, &filter.Run{Names: names}, "2\n"+row+"{\n0\n4\n"+`{"s":null}`+"\n"+`{"s":{}}`+"\n"+`{"s":"a\nb"}`+"\n"+row)
	want += `{"error":"invalid row: must be JSON"}` + "\n" + `{"s":null}` + "\n" +
		`{"s":{"error":"unknown row: must be a crash ping, a processed crash, a request, or a list of frames"}}` + "\n" + `{"s":"A\nB"}` + "\n" + want
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if n != (rows.Counts{Rows: 6, Failed: 2}) {
		t.Errorf("counted %+v", n)
	}
	for _, input := range []string{"x\n", "-1\n", "1", "2\n{}\n", row} {
		if _, err := o.Filter(context.Background(), &filter.Run{Names: names}, bufio.NewReader(strings.NewReader(input)), bufio.NewWriter(io.Discard)); err == nil {
			t.Errorf("%q is accepted", input)
		}
	}
}

func TestLongRowIsCopied(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", 33<<20) + `"}` + "\n"
	row := ping(knownFrame) + "\n"
	want, _ := run(t, rows.Options{}, &filter.Run{Names: names}, row)
	if got, n := run(t, rows.Options{}, &filter.Run{Names: names}, row+long+row); got != want+long+want || n.Rows != 3 {
		t.Errorf("got %d bytes of %d rows, want %d", len(got), n.Rows, len(want+long+want))
	}
	got, _ := run(t, rows.Options{Chunks: true, Strict: true}, &filter.Run{Names: names}, "3\n"+row+long+row)
	if want += `{"error":"invalid row: must be shorter than 33554432 bytes"}` + "\n" + want; got != want {
		t.Errorf("got %.2000s", got)
	}
}

func TestRowsAreWrittenWhenNoMoreAreReceived(t *testing.T) {
	for _, chunks := range []bool{false, true} {
		in, send := io.Pipe()
		receive, out := io.Pipe()
		done := make(chan error)
		go func() {
			o := rows.Options{Chunks: chunks}
			_, err := o.Filter(context.Background(), &filter.Run{Names: names}, bufio.NewReader(in), bufio.NewWriter(out))
			done <- err
		}()
		lines := bufio.NewReader(receive)
		for range 3 {
			row := ping(knownFrame) + "\n"
			if chunks {
				row = "1\n" + row
			}
			go io.WriteString(send, row)
			if line, err := lines.ReadString('\n'); !strings.Contains(line, "outer") {
				t.Fatalf("got %s, %v", line, err)
			}
		}
		send.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestStackWalkersFramesAreNamedInPlace(t *testing.T) {
	const modules = `"modules":[{"filename":"libxul.so","debug_file":"libxul.so","debug_id":"` + xulID + `","base_addr":"0x7f0000000000"},` +
		`{"filename":"libxul.so","debug_id":"","base_addr":"0x10000"}, {"filename":"b.so"}]`
	const threads = `"threads": [ {"frame_count":3,"frames":[
		{"frame": 0,"function":null, "file" :null,"inlines":null,"line":null,"function_offset":null,"module":"libxul.so","module_offset":"0x0000000000001973","offset":"0x00007f0000001973","missing_symbols":true},
		{"module":"libxul.so","module_offset":"0x20"}, {"module":"libxul.so","module_offset":"0x1973","function":"known"},
		{"module":"libxul.so","module_offset":"0x1973","offset":"0x11973"}, {"module":"libxul.so","module_offset":"0x77"}, {"module":"b.so","module_offset":"0x1"}, {"module":null,"offset":"0x1"}, 5]}, null, {} ]`
	const crashing = `"crashing_thread":{"threads_index":0,"frames":[{"module":"libxul.so","module_offset":"0x20"}]}`
	named := strings.NewReplacer(
		`"function":null, "file" :null,"inlines":null,"line":null,"function_offset":null`, `"function":"outer", "file" :"/src/main.c",`+
			`"inlines":[{"function":"inner<int>(\"a\")","file":"/src/util.h","line":31}],"line":10,"function_offset":"0x0000000000000013"`,
		`"missing_symbols":true`, `"missing_symbols":false`,
		`{"module":"libxul.so","module_offset":"0x20"}`,
		`{"module":"libxul.so","module_offset":"0x20","function":"start","function_offset":"0x0000000000000000","missing_symbols":false}`)
	lines := func(doc string) string { return "{\r\n" + strings.ReplaceAll(doc[1:], "},", "},\r\n") + "\r\n" }
	for _, doc := range []string{
		`{"uuid":"x","json_dump":{"status":"OK",` + modules + `,` + threads + `,` + crashing + `}, "y":1}`,
		`{"json_dump":{` + crashing + `,` + threads + `,` + modules + `}}`,
		`{"thread_count":1,` + modules + `,` + threads + `}`,
	} {
		doc := strings.ReplaceAll(doc, "\n", "")
		if got, _ := rewrite(t, rows.Options{}, doc); got != named.Replace(doc) {
			t.Errorf("got\n%s, want\n%s", got, named.Replace(doc))
		}
		got, n := run(t, rows.Options{Document: true}, &filter.Run{Names: names}, lines(doc))
		if want := lines(named.Replace(doc)); got != want || n.Rows != 1 {
			t.Errorf("got %d rows:\n%s, want one:\n%s", n.Rows, got, want)
		}
	}
}

func TestDocumentOnSeveralLinesIsARow(t *testing.T) {
	row := ping(knownFrame)
	answer, _ := run(t, rows.Options{}, &filter.Run{Names: names}, row)
	answer = strings.TrimPrefix(answer, row[:len(row)-1])
	for input, want := range map[string]string{
		"{\n" + row[1:len(row)-1] + "\n}\n":                "{\n" + row[1:len(row)-1] + "\n" + answer + "\n",
		"\ufeff{\r\n" + row[1:] + "\r\n":                   "\ufeff{\r\n" + row[1:len(row)-1] + answer + "\r\n",
		"{\n\"a\":1}\n{\n}\n":                              "{\n\"a\":1}\n{\n}\n",
		"{\n\"x\":\"" + strings.Repeat("y\n", 17<<20) + "": "{\n\"x\":\"" + strings.Repeat("y\n", 17<<20) + "",
	} {
		if got, _ := run(t, rows.Options{Document: true}, &filter.Run{Names: names}, input); got != want {
			t.Errorf("got %.2000q, want %.2000q", got, want)
		}
	}
}

// echo answers a request with its path and itself.
func echo(_ context.Context, path string, body []byte) ([]byte, error) {
	switch {
	case bytes.Contains(body, []byte(`"refuse"`)):
		return nil, &filter.StatusError{Status: 400, Reason: `job 0 is "invalid"`}
	case bytes.Contains(body, []byte(`"fail"`)):
		return nil, &filter.StatusError{Status: 401, Reason: "invalid token"}
	}
	return fmt.Appendf(nil, `{"path":%q,"asked":%s}`, path, body), nil
}

func TestRequestsAreAnsweredByTheirInterface(t *testing.T) {
	for request, path := range map[string]string{
		`{"memoryMap":[["a","b"]],"stacks":[ ]}`:   "/symbolicate/v5",
		`{"memoryMap":[],"stacks":[],"version":5}`: "/symbolicate/v5",
		`{"jobs":[7]}`: "/symbolicate/v5",
		`{"memoryMap":[],"stacks":[], "version" : 4}`:       "/symbolicate/v4",
		`{"stacktraces":[{"frames":[]}],"modules":[]}`:      "/symbolicate",
		`{"jobs":[{"memoryMap":[],"stacks":[]},"refuse" ]}`: "",
	} {
		want, failed := fmt.Sprintf(`{"path":%q,"asked":%s}`, path, request), 0
		if path == "" {
			want, failed = `{"error":"job 0 is \"invalid\""}`, 1
		}
		got, n := run(t, rows.Options{Replace: true}, &filter.Run{Names: names, Answer: echo}, request+"\n"+request)
		if got != want+"\n"+want || n.Failed != 2*failed {
			t.Errorf("%s: %d failed, got\n%s, want twice\n%s", request, n.Failed, got, want)
		}
		member := strings.TrimSuffix(request, "}") + `,"symbolicated":` + want + "}"
		if got, _ := rewrite(t, rows.Options{}, request); got != member {
			t.Errorf("%s: got\n%s, want\n%s", request, got, member)
		}
	}
}

func TestRequestsAreAnsweredInTheirOrder(t *testing.T) {
	var in, want strings.Builder
	for i := range 100 {
		fmt.Fprintf(&in, "{\"jobs\":[%d]}\n%s\n", i, ping(knownFrame))
		fmt.Fprintf(&want, "{\"path\":\"/symbolicate/v5\",\"asked\":{\"jobs\":[%d]}}\n%s\n", i, answer(`"SIGSEGV"`, knownAnswer))
	}
	if got, _ := run(t, rows.Options{Replace: true}, &filter.Run{Names: names, Answer: echo}, in.String()); got != want.String() {
		t.Errorf("got %.300s", got)
	}
}

func TestRequestsWithoutAnAnswerEndTheRun(t *testing.T) {
	o := rows.Options{}
	_, err := o.Filter(t.Context(), &filter.Run{Names: names, Answer: echo}, bufio.NewReader(strings.NewReader(`{"jobs":["fail"]}`)), bufio.NewWriter(io.Discard))
	if err == nil || !strings.Contains(err.Error(), "invalid token") {
		t.Errorf("got the error %v, want one with \"invalid token\"", err)
	}
}

func TestRowsAreRecognized(t *testing.T) {
	long := ping(knownFrame + strings.Repeat(","+knownFrame, 2000))
	for head, want := range map[string]bool{
		ping(knownFrame): true, "\n " + ping(knownFrame) + "\nx": true, long[:64<<10]: true, `{"payload":{"stackTraces":` + ping(knownFrame) + "}}": true,
		`{"x":1,"stack_traces":"{\"mod`: true, `"a log"` + "\n": true, `{"frames":[{"id":"","offset":1}]}`: true, `{"a":1,"symbolicated":{}}`: true,
		"\ufeff" + ping(knownFrame): true, "{\n" + ping(knownFrame)[1:]: true, "{\r\n" + long[1:64<<10]: true,
		`{"uuid":"x","json_dump":{"mod`: true, `{"jobs":[{"memoryMap":[`: true, `{"memoryMap":[],"stacks":[`: true, `{"stacktraces":[],"modules":[]}`: true,
		"{\n  \"crash_info\": {},\n  \"crashing_thread\": {": true, `{"jobs":[{"name":"x"}],"stacks":[]}`: false, "{\n\"a\":1}\n" + ping(knownFrame): false,
		"": false, "{": false, "{}": false, "[1]": false, "text\n" + ping(knownFrame): false, `{"frames":[{"id":""}]}`: false, `"a`: false,
	} {
		if got := rows.Is([]byte(head)); got != want {
			t.Errorf("%.80q: got %v", head, got)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(ping(knownFrame)+"\n", "", false, false)
	f.Add("1\n"+`{"s":"{\"frames\":[{\"id\":\"\",\"offset\":\"1\"}]}"}`, "s", true, true)
	f.Add(`{"payload":{"stackTraces":{"crash_info":{"address":"0x1","crashing_thread":0},"threads":[],"modules":[{}]}}}`, "", true, false)
	f.Add(`{"jobs":[{"memoryMap":[["a","`+xulID+`"]],"stacks":[[[0,32],[-1,-1]]]}]}`, "", false, false)
	f.Add(`{"version":4,"memoryMap":[["a","`+xulID+`"]],"stacks":[[[0,32]]]}`, "", false, true)
	f.Add(`{"stacktraces":[{"frames":[{"instruction_addr":"0x10020"},{}]}],"modules":[{"debug_id":"`+xulID+`","image_addr":"0x10000"}]}`, "", false, false)
	f.Add(`{"json_dump":{"modules":[{"filename":"a","debug_id":"`+xulID+`"}],"threads":[{"frames":[{"module":"a","module_offset":"0x20"}]}]}}`, "", false, false)
	f.Fuzz(func(t *testing.T, input, field string, replace, chunks bool) {
		rows.Is([]byte(input))
		o := rows.Options{Field: field, Replace: replace, Chunks: chunks, Strict: chunks}
		var out bytes.Buffer
		counts, err := o.Filter(context.Background(), &filter.Run{Names: names, Answer: echo}, bufio.NewReader(strings.NewReader(input)), bufio.NewWriter(&out))
		if err != nil {
			return
		}
		if got := strings.Count(out.String(), "\n"); !chunks && got != strings.Count(input, "\n") {
			t.Errorf("%q has %d ends of lines, its result %q has %d", input, strings.Count(input, "\n"), &out, got)
		}
		before, after := strings.SplitAfter(input, "\n"), strings.SplitAfter(out.String(), "\n")
		for i := 0; !chunks && i < min(len(before), len(after)); i++ {
			if json.Valid([]byte(before[i])) && !json.Valid([]byte(after[i])) {
				t.Errorf("%q became %q", before[i], after[i])
			}
		}
		if counts.Failed > counts.Rows {
			t.Errorf("%q: counted %+v", input, counts)
		}
	})
}

// TestAddressesAreCountedAsOftenAsRowsHaveThem has rows with the same frames, which are
// looked up once.
func TestAddressesAreCountedAsOftenAsRowsHaveThem(t *testing.T) {
	const frames = `{"frames":[{"debug_file":"libxul.so","debug_id":"` + xulID + `","offset":"0x1973"},` +
		`{"debug_file":"gone.so","debug_id":"11112222333344445555666677778888A","offset":"0x10"},{"debug_file":"gone.so","debug_id":"11112222333344445555666677778888A","offset":"0x10"}]}` + "\n"
	r := &filter.Run{Names: names, Answer: echo}
	run(t, rows.Options{}, r, strings.Repeat(frames, 100))
	if got, want := r.Counts(), (filter.Counts{Addresses: 300, Named: 100}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if list := r.Missing(); len(list) != 1 || list[0].Addresses != 200 {
		t.Errorf("missing modules: %+v, want 200 addresses of one", list)
	}
}

func TestAddressesOfAnUnidentifiedModuleAreCountedOnce(t *testing.T) {
	r := &filter.Run{Names: names}
	run(t, rows.Options{}, r, strings.Repeat(`{"threads":[{"frames":[{"ip":"0x1010","module_index":0},{"ip":"0x1020","module_index":0}]}],`+
		`"crash_info":{"crashing_thread":0},"modules":[{"filename":"a.so","base_addr":"0x1000","end_addr":"0x2000"}]}`+"\n", 3))
	if list := r.Missing(); len(list) != 1 || list[0].Addresses != 6 {
		t.Errorf("missing modules: %+v, want 6 addresses of one", list)
	}
}

func TestModulesOfARowAreItsOwn(t *testing.T) {
	alone := `{"crash_address":"0x0","threads":[{"frames":[` + knownFrame + `]}]}` + "\n"
	want, _ := run(t, rows.Options{}, &filter.Run{Names: names}, alone)
	before := ping(knownFrame) + "\n"
	got, _ := run(t, rows.Options{}, &filter.Run{Names: names}, before+alone)
	if !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("got %s after another row, want %s", got, want)
	}
}
