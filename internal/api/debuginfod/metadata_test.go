package debuginfod_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"symbolon/internal/api/debuginfod"
	"symbolon/internal/token"
)

// searching returns dependencies with a search.
func searching(search func(ctx context.Context, q debuginfod.Query, yield func(debuginfod.File) bool) error) debuginfod.Deps {
	d := deps()
	d.Search = func(ctx context.Context, _ *token.Grant, q debuginfod.Query, yield func(debuginfod.File) bool) error {
		return search(ctx, q, yield)
	}
	return d
}

func TestMetadataIsThatOfTheProtocol(t *testing.T) {
	names := func(_ context.Context, q debuginfod.Query, yield func(debuginfod.File) bool) error {
		for _, name := range []string{"kiln", "kiln", "kiln.debug"} {
			if q.IsName == nil || q.IsName(name) {
				yield(debuginfod.File{Type: "executable", BuildID: buildID, Name: name})
			}
		}
		return nil
	}
	kiln := `{"type":"executable","buildid":"` + buildID + `","file":"kiln"}`
	debug := strings.Replace(kiln, `"kiln"`, `"kiln.debug"`, 1)
	f := front(debuginfod.Config{}, searching(names))
	for _, c := range []struct {
		query  string
		status int
		want   string
	}{
		{"key=file&value=/usr/bin/kiln", 200, `{"results":[` + kiln + `],"complete":true}`},
		{"key=glob&value=" + url.QueryEscape("/usr/bin/k*n?debu[a-g]"), 200, `{"results":[` + debug + `],"complete":true}`},
		{"key=buildid&value=" + buildID, 200, `{"results":[` + kiln + `,` + debug + `],"complete":true}`},
		{"key=file&value=other", 200, `{"results":[],"complete":true}`},
		{"key=buildid&value=xyz", 400, "invalid value: must be a build id in hexadecimal digits"},
		{"key=glob&value=%5B", 400, "invalid value: must be a pattern with *, ?, [a-z] and [!a-z]"},
		{"key=file", 400, "invalid value: must have 1 to 4096 bytes"},
		{"key=file&value=" + strings.Repeat("x", 4097), 400, "invalid value: must have 1 to 4096 bytes"},
		{"key=other&value=x", 400, "invalid key: must be glob, file or buildid"},
	} {
		if w := do(f, "GET", "/metadata?"+c.query); w.Code != c.status || w.Body.String() != c.want {
			t.Errorf("%.80s: got %d %s, want %d %s", c.query, w.Code, w.Body, c.status, c.want)
		}
	}
	if w := do(f, "GET", "/metadata?key=file&value=x", "Authorization", "Bearer revoked"); w.Code != 401 {
		t.Errorf("an invalid token: got %d, want 401", w.Code)
	}
}

// decode returns the number of results of an answer, and whether it is complete.
func decode(t *testing.T, text []byte) (n int, isComplete bool) {
	t.Helper()
	var answer struct {
		Results  []debuginfod.File
		Complete bool
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err, string(text))
	}
	return len(answer.Results), answer.Complete
}

func TestLongAnswersOfMetadataAreIncomplete(t *testing.T) {
	many := func(_ context.Context, _ debuginfod.Query, yield func(debuginfod.File) bool) error {
		for i := 0; yield(debuginfod.File{Name: fmt.Sprint(i)}); i++ {
		}
		return nil
	}
	w := do(front(debuginfod.Config{}, searching(many)), "GET", "/metadata?key=glob&value=*")
	if n, isComplete := decode(t, w.Body.Bytes()); n != 1000 || isComplete {
		t.Errorf("got %d results, complete %v; want 1000 of more", n, isComplete)
	}
}

func TestSearchesForMetadataEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ debuginfod.Query, yield func(debuginfod.File) bool) error {
			yield(debuginfod.File{Name: "kiln"})
			<-ctx.Done()
			return ctx.Err()
		}
		f := front(debuginfod.Config{}, searching(slow))
		complete := make(chan bool)
		for range 2 { // one searches, the other one waits for it
			go func() {
				_, isComplete := decode(t, do(f, "GET", "/metadata?key=glob&value=*").Body.Bytes())
				complete <- isComplete
			}()
		}
		if a, b := <-complete, <-complete; a || b {
			t.Error("an answer without all results is complete")
		}
	})
}

func TestFailingSearchIsNotAnEmptyOne(t *testing.T) {
	failing := func(context.Context, debuginfod.Query, func(debuginfod.File) bool) error {
		return errors.New("the bucket is down")
	}
	w := do(front(debuginfod.Config{DisableReset: true}, searching(failing)), "GET", "/metadata?key=glob&value=*")
	if w.Code != 500 {
		t.Errorf("got %d %s, want 500", w.Code, w.Body)
	}
}
