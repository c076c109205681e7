package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/rows"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/token"
)

const kettleID = "0F1E2D3C4B5A69788796A5B4C3D2E1F00"

// names has a function of kettle.so.
var names = filtertest.Names{kettleID: {0x1004: {{Function: []byte("boil"), Entry: 0x1000}}}}

// echo answers requests with themselves, but for one.
func echo(_ context.Context, _ string, body []byte) ([]byte, error) {
	switch {
	case bytes.Contains(body, []byte("busy")):
		return nil, &filter.StatusError{Status: 503, Reason: "busy"}
	case bytes.Contains(body, []byte(`"memoryMap": []`)):
		return nil, &filter.StatusError{Status: 400, Reason: "job 0 is invalid"}
	}
	return bytes.Clone(body), nil
}

// front returns a front with the door, whose clients have tokens.
func front() http.Handler {
	d := rows.New(rows.Deps{
		Grant: func(r *http.Request) (*token.Grant, error) {
			switch r.Header.Get("Authorization") {
			case "":
				return &token.Grant{}, nil
			case "Bearer lost":
				return nil, errors.New("the tokens are lost")
			}
			return nil, token.ErrUnknown
		},
		Run:        func(*http.Request, *token.Grant) *filter.Run { return &filter.Run{Names: names, Answer: echo} },
		MaxModules: 3, Log: slog.New(slog.DiscardHandler),
	})
	return api.New(api.Config{MaxBody: 8 << 20}, api.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}, d.Routes())
}

func post(h http.Handler, query, body, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/api/rows"+query, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The rows of the bodies in testdata, and their answers.
const (
	list    = `{"frames":[{"frame":0,"module":"kettle.so","module_offset":"0x0000000000001004","function":"boil","function_offset":"0x0000000000000004"}]}`
	quoted  = `"{\"frames\":[{\"frame\":0,\"module\":\"kettle.so\",\"module_offset\":\"0x0000000000001004\",\"function\":\"boil\",\"function_offset\":\"0x0000000000000004\"}]}"`
	unknown = `{\"error\":\"unknown row: must be a crash ping, a processed crash, a request, or a list of frames\"}`
	request = `{"memoryMap": [["kettle.so", "0F1E2D3C4B5A69788796A5B4C3D2E1F00"]], "stacks": [[[0, 4100]]]}`
)

func TestRowsAreAnsweredInTheirForm(t *testing.T) {
	h := front()
	for name, want := range map[string]string{
		"bigquery.json":  `{"replies":[` + quoted + `,null,` + list + `,"` + unknown + `"]}`,
		"snowflake.json": `{"data":[[0,` + quoted + `],[1,` + request + `],[2,{"error":"job 0 is invalid"}]]}`,
		"rows.ndjson": list + "\n\n" + `{"error":"invalid row: must be JSON"}` + "\n" +
			`"{\"frames\":[{\"frame\":0,\"module\":\"kettle.so\",\"module_offset\":\"0x0000000000000001\"}]}"` + "\n",
	} {
		body, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if w := post(h, "?replace=true", string(body), ""); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d, got\n%s, want\n%s", name, w.Code, w.Body, want)
		}
	}
}

func TestAnswersAreMembersOrReplaceAField(t *testing.T) {
	h := front()
	const row = `{"frames":[{"debug_file":"kettle.so","debug_id":"` + kettleID + `","offset":"0x1004"}]}`
	for _, c := range []struct{ query, body, want string }{
		{"", `{"calls":[[` + row + `]]}`, `{"replies":[` + strings.TrimSuffix(row, "}") + `,"symbolicated":` + list + `}]}`},
		{"?replace=true", "\ufeff" + row + "\n", list + "\n"},
		{"?replace=true", "\ufeff" + `{"calls":[[` + row + `]]}`, `{"replies":[` + list + `]}`},
		{"?replace=true&field=a.b", `{"a":{"b":` + row + `}}`, `{"a":{"b":` + list + `}}`},
		{"", `{"calls":[ ]}`, `{"replies":[]}`},
		{"", ` {"data": []}`, `{"data":[]}`},
		{"", "", ""},
		{"", `{"data":[1]}`, `{"error":"unknown row: must be a crash ping, a processed crash, a request, or a list of frames"}`},
	} {
		if w := post(h, c.query, c.body, ""); w.Code != 200 || w.Body.String() != c.want {
			t.Errorf("%s: %d, got %s, want %s", c.body, w.Code, w.Body, c.want)
		}
	}
}

func TestRequestsAreRefusedWithTheReason(t *testing.T) {
	h := front()
	for _, c := range []struct {
		body, token string
		status      int
		message     string
	}{
		{`{"calls":[["{}","{}"]]}`, "", 400, "invalid row 0: must be a list of 1, with the row as the last element"},
		{`{"data":[[0,"{}"],7]}`, "", 400, "invalid row 1: must be a list of 2, with the row as the last element"},
		{`{"calls":[["{}"]`, "", 400, "invalid body: JSON, byte 16: malformed: unexpected end"},
		{"{}", "wrong", 401, token.ErrUnknown.Error()},
		{"{}", "lost", 500, "Internal Server Error"},
		{strings.Repeat(" ", 8<<20+1), "", 413, "413 Request Entity Too Large: the limit of a body is 8MiB"},
		{`{"calls":[[{"jobs":["busy"]}]]}`, "", 503, "busy"},
	} {
		w := post(h, "", c.body, c.token)
		var got struct{ ErrorMessage string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.status || got.ErrorMessage != c.message {
			t.Errorf("%.40s: got %d %s, want %d %q", c.body, w.Code, w.Body, c.status, c.message)
		}
	}
}

func TestModulesOfARequestAreLimited(t *testing.T) {
	row := func(file string) string {
		return `{"frames":[{"debug_file":"` + file + `","debug_id":"` + kettleID + `","offset":"0x1004"}]}` + "\n"
	}
	h := front()
	most := row("a") + row("b") + row("c") + row("a")
	if w := post(h, "", most, ""); w.Code != 200 {
		t.Errorf("3 modules: %d %s", w.Code, w.Body)
	}
	const want = `{"errorMessage":"please limit number of modules in a single request to <= 3"}`
	if w := post(h, "", most+row("d"), ""); w.Code != 413 || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("4 modules: %d %s, want 413 %s", w.Code, w.Body, want)
	}
}

// A row that fails after others were sent breaks the connection: the answer must not
// look complete.
func TestAnswerThatEndsEarlyBreaksTheConnection(t *testing.T) {
	s := httptest.NewServer(front())
	defer s.Close()
	row := `{"frames":[{"debug_file":"` + strings.Repeat("k", 1000) + `","debug_id":"` + kettleID + `","offset":"0x1004"}]}` + "\n"
	body := strings.Repeat(row, 5000) + `{"jobs":["busy"]}`
	resp, err := http.Post(s.URL+"/api/rows", "", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err = io.ReadAll(resp.Body); resp.StatusCode != 200 || err == nil {
		t.Errorf("got status %d and the error %v, want 200 and a broken answer", resp.StatusCode, err)
	}
}

func FuzzBody(f *testing.F) {
	for _, name := range []string{"bigquery.json", "snowflake.json", "rows.ndjson"} {
		body, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	h := front()
	f.Fuzz(func(t *testing.T, body string) {
		w := post(h, "", body, "")
		var asked struct{ Calls, Data, Replies []json.RawMessage }
		isJSON := json.Unmarshal([]byte(body), &asked) == nil
		n := len(asked.Calls) + len(asked.Data)
		if w.Code != 200 || !isJSON || w.Header().Get("Content-Type") != "application/json" {
			return
		}
		asked.Calls, asked.Data = nil, nil
		if err := json.Unmarshal(w.Body.Bytes(), &asked); err != nil {
			t.Fatalf("%q has the answer %q: %v", body, w.Body, err)
		}
		if got := len(asked.Replies) + len(asked.Data); got > n {
			t.Errorf("%q has %d rows, its answer %d: %q", body, n, got, w.Body)
		}
	})
}
