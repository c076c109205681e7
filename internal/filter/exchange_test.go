package filter_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
)

func TestWaitsForAServerEnd(t *testing.T) {
	half := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"results":`)
		_ = http.NewResponseController(w).Flush()
	}
	for name, c := range map[string]struct {
		stall, whole time.Duration // one of them is not reached
		answer       http.HandlerFunc
		want         string
	}{
		"without an answer": {200 * time.Millisecond, time.Hour, func(_ http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body) // or the end of the connection is not noticed
			<-q.Context().Done()
		}, "no data arrived for 200ms"},
		"half an answer": {200 * time.Millisecond, time.Hour, func(w http.ResponseWriter, q *http.Request) {
			half(w)
			<-q.Context().Done()
		}, "no data arrived for 200ms"},
		"an answer without an end": {time.Hour, 200 * time.Millisecond, func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				half(w)
			}
		}, "not finished within 200ms"},
	} {
		r := filtertest.Remote(t, c.answer)
		r.SetLimits(c.stall, c.whole)
		if _, err := r.Look(t.Context(), oneAddress(t)); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestErrorsOfServersAreShort(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a loop":   {func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, q.URL.Path, 307) }, "status 307: redirects more than 4 times"},
		"a page":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "invalid answer: must be an object of JSON"},
		"a list":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "[]") }, "invalid answer: must be an object of JSON"},
		"a number": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"results":1}`) }, "invalid answer: must be that of /symbolicate/v5"},
		"an error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, "\n<html><head>")
		}, `status 501: "Not Implemented"`},
		"another address": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(namedAnswer[4:], `"frame":0`, `"module_offset":"0x1011"`, 1))
		}, "invalid answer: must have the frames of the request"},
		"another frame": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(namedAnswer[4:], `"frame":0`, `"frame":1`, 1))
		}, "invalid answer: must have the frames of the request"},
	} {
		r := filtertest.Remote(t, c.answer)
		if _, err := r.Look(t.Context(), oneAddress(t)); err == nil || !strings.HasSuffix(err.Error(), ": "+c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestAFailedServerIsNotAskedForAMinute(t *testing.T) {
	asked := 0
	var failures strings.Builder
	r := filtertest.Remote(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusUnauthorized)
	})
	r.Log = &failures
	for range 2 {
		a, err := r.Look(t.Context(), oneAddress(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := errors.AsType[*filter.Unanswered](a.Missing(0)); !ok || len(a.Frames(0)) > 0 {
			t.Errorf("frames %v, missing: %v; want none, and the failure", a.Frames(0), a.Missing(0))
		}
		if _, err := r.Answer(t.Context(), "/symbolicate/v5", nil); !strings.Contains(err.Error(), "401") {
			t.Errorf("error %v, want the failure", err)
		}
	}
	if asked != 1 || strings.Count(failures.String(), "status 401") != 1 {
		t.Errorf("the server was asked %d times, with the failures %q; want one of each", asked, &failures)
	}
}

func TestRefusedRequestIsNotAFailureOfTheServer(t *testing.T) {
	r, asked := answers(t, "400 no", namedAnswer)
	var failures strings.Builder
	r.Log = &failures
	if _, err := r.Answer(t.Context(), "/symbolicate/v5", nil); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("error %v, want one with 400", err)
	}
	if a, err := r.Look(t.Context(), oneAddress(t)); err != nil || len(a.Frames(0)) != 2 || *asked != 2 || failures.Len() > 0 {
		t.Errorf("error %v and failures %q after %d requests, want frames after 2", err, &failures, *asked)
	}
}

func TestTextOfNamesStaysOnItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\x00b\n\r\x1b[31m\x7f": "a?b???[31m?", "caf\u00e9 \u00a0\u0100": "caf\u00e9 \u00a0\u0100", "\u009b31m": "??31m", "\u0085": "??", "\x9b": "\x9b", "": "",
	} {
		if got := string(filter.AppendText(nil, []byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
