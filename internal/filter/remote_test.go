package filter_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/ident"
)

// answers is a server that sends these answers, a status and a body each.
func answers(t *testing.T, list ...string) (r *filter.Remote, asked *int) {
	t.Helper()
	asked = new(int)
	return filtertest.Remote(t, func(w http.ResponseWriter, _ *http.Request) {
		status, body, _ := strings.Cut(list[min(*asked, len(list)-1)], " ")
		*asked++
		if status == "503" {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else if status == "400" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, body)
	}), asked
}

const (
	namedAnswer = `200 {"results":[{"stacks":[[{"frame":0,"function":"outer","function_offset":"0x10","file":"a.c","line":7,` +
		`"inlines":[{"function":"inner","file":"b.c","line":3}]}]],"found_modules":{"a.so/0123456789ABCDEF0123456789ABCDEF0":true}}]}`
	emptyAnswer = `200 {"results":[{"stacks":[[]],"found_modules":{}}]}`
)

func oneAddress(t *testing.T) *filter.Query {
	t.Helper()
	id, err := ident.ParseDebugID("0123456789ABCDEF0123456789ABCDEF0")
	if err != nil {
		t.Fatal(err)
	}
	return &filter.Query{Modules: []ident.Module{{DebugFile: "a.so", DebugID: id}}, Addresses: []filter.Address{{Addr: 0x1010}}}
}

func TestServerIsAskedAgainWhileItIsBusy(t *testing.T) {
	r, asked := answers(t, "503 busy", namedAnswer)
	a, err := r.Look(t.Context(), oneAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	list := a.Frames(0)
	if len(list) != 2 || string(list[0].Function) != "inner" || !list[0].Inlined || string(list[1].Function) != "outer" || list[1].Entry != 0x1000 {
		t.Errorf("frames are %+v, want inner and outer at 0x1000", list)
	}
	if *asked != 2 {
		t.Errorf("the server was asked %d times, want 2", *asked)
	}
}

func TestRefusedRequestsAreNotRepeated(t *testing.T) {
	r, asked := answers(t, "400 no")
	if _, err := r.Look(t.Context(), oneAddress(t)); err == nil || !strings.Contains(err.Error(), "400") || *asked != 1 {
		t.Errorf("error %v after %d requests, want one with 400 after 1", err, *asked)
	}
}

// A client that follows such a redirect sends no body, and is refused with 405.
func TestRedirectsWithoutTheBodyAreReported(t *testing.T) {
	named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, strings.TrimPrefix(namedAnswer, "200 "))
	}))
	defer named.Close()
	for status, want := range map[int]string{301: "redirects to another URL", 302: "redirects to another URL", 307: "", 308: ""} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, named.URL+q.URL.Path, status)
		}))
		defer s.Close()
		r, err := filter.NewRemote(s.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = r.Look(t.Context(), oneAddress(t)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d: error %v, want %q", status, err, want)
		}
	}
}

func TestAnswerWithoutTheFramesIsAnError(t *testing.T) {
	r, _ := answers(t, emptyAnswer)
	if _, err := r.Look(t.Context(), oneAddress(t)); err == nil || !strings.Contains(err.Error(), "invalid answer") {
		t.Errorf("error %v, want an invalid answer", err)
	}
}

// The image of such a program does not begin at 0, as a server would take it to do.
func TestAddressesOfFixedProgramsAreNotAsked(t *testing.T) {
	r, asked := answers(t, namedAnswer)
	q := oneAddress(t)
	q.Addresses[0].Space = filter.Fixed
	a, err := r.Look(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if *asked != 0 || len(a.Frames(0)) > 0 || a.Missing(0) == nil {
		t.Errorf("%d requests, frames %v, missing: %v; want none, and a reason", *asked, a.Frames(0), a.Missing(0))
	}
}

func TestAnswersOfServersAreOneLineOfJSON(t *testing.T) {
	r, _ := answers(t, "200 {\"a\":\n 1}\n", "200 <html>")
	if text, err := r.Answer(t.Context(), "/symbolicate/v5", nil); string(text) != `{"a":1}` || err != nil {
		t.Errorf("got %q and the error %v, want the answer on one line", text, err)
	}
	if _, err := r.Answer(t.Context(), "/symbolicate/v5", nil); err == nil || !strings.Contains(err.Error(), "invalid answer") {
		t.Errorf("error %v, want an invalid answer", err)
	}
}

func TestSecretsInTheAddressOfAServerAreNotTold(t *testing.T) {
	for _, address := range []string{"ftp://user:secret@x", "http://x/?key=secret", "http://x/#secret", "http://user:secret@x:port", "secret"} {
		if _, err := filter.NewRemote(address, ""); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want one without the address", address, err)
		}
	}
	for _, answer := range []string{"400 no", "200 <html>", emptyAnswer} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, password, _ := r.BasicAuth(); password != "secret" {
				t.Errorf("the password is %q", password)
			}
			status, body, _ := strings.Cut(answer, " ")
			if status == "400" {
				w.WriteHeader(http.StatusBadRequest)
			}
			_, _ = io.WriteString(w, body)
		}))
		defer s.Close()
		r, err := filter.NewRemote(strings.Replace(s.URL, "://", "://user:secret@", 1), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Look(t.Context(), oneAddress(t)); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: error %v, want one with the address without its password", answer, err)
		}
	}
}
