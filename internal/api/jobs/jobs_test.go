package jobs_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api/jobs"
)

func open(t *testing.T, cfg jobs.Config) *jobs.Jobs {
	t.Helper()
	s := jobs.New(cfg, jobs.Deps{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Close)
	return s
}

// submit runs a job that is answered after some time, and returns its id.
func submit(t *testing.T, s *jobs.Jobs, scope string, after time.Duration) string {
	t.Helper()
	j := s.Begin(scope, 1)
	if j == nil {
		t.Fatal("Begin: no place")
	}
	w := httptest.NewRecorder()
	s.Run(w, httptest.NewRequest("POST", "/", nil), j, 0, func() {
		time.Sleep(after)
		a := s.NewAnswer()
		_, _ = io.WriteString(a, `"done"`)
		a.End()
		s.Finish(j, a)
	})
	var pending struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &pending); err != nil || pending.ID == "" {
		t.Fatalf("Run: %s, %v", w.Body, err)
	}
	return pending.ID
}

// poll returns the status and the body of a poll by a client that sees one scope.
func poll(t *testing.T, s *jobs.Jobs, scope, id string, wait time.Duration) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	sees := func(of string) bool { return of == scope }
	if err := s.Poll(w, httptest.NewRequest("GET", "/", nil), sees, id, wait); err != nil {
		t.Fatal(err)
	}
	return w.Code, w.Body.String()
}

func TestAnswerIsKeptForItsRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, jobs.Config{MaxRunning: 8, Memory: 1 << 20, Retention: time.Minute})
		id := submit(t, s, "a", 10*time.Second)
		if status, body := poll(t, s, "a", id, time.Minute); status != 200 || body != `"done"` {
			t.Errorf("poll that waits: %d %s", status, body)
		}
		if status, _ := poll(t, s, "b", id, 0); status != 404 {
			t.Errorf("poll from another scope: %d", status)
		}
		time.Sleep(time.Minute - time.Millisecond)
		if status, body := poll(t, s, "a", id, 0); status != 200 || body != `"done"` {
			t.Errorf("poll before the end of the retention: %d %s", status, body)
		}
		time.Sleep(2 * time.Millisecond)
		if status, _ := poll(t, s, "a", id, 0); status != 404 {
			t.Errorf("poll after the retention: %d", status)
		}
		if u := s.Usage(); u != (jobs.Usage{}) {
			t.Errorf("usage at the end: %+v", u)
		}
	})
}

func TestRetryAfterGrowsWithTheAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, jobs.Config{MaxRunning: 8, Memory: 1 << 20, Retention: time.Minute})
		id := submit(t, s, "a", 10*time.Minute)
		for _, c := range []struct {
			wait time.Duration
			want string
		}{{0, "1"}, {10 * time.Second, "5"}, {5 * time.Minute, "30"}} {
			want := `{"status":"pending","request_id":"` + id + `","retry_after":` + c.want + "}"
			if _, body := poll(t, s, "a", id, c.wait); body != want {
				t.Errorf("after %v: %s, want %s", c.wait, body, want)
			}
		}
		time.Sleep(10 * time.Minute)
	})
}

func TestOneScopeLeavesPlacesToOthers(t *testing.T) {
	s := open(t, jobs.Config{MaxRunning: 8})
	for range 7 {
		if s.Begin("a", 1) == nil {
			t.Fatal("Begin: no place among seven of eight")
		}
	}
	if s.Begin("a", 1) != nil {
		t.Error("one scope has all places")
	}
	last := s.Begin("b", 1)
	if last == nil {
		t.Fatal("Begin: no place for another scope")
	}
	if s.Begin("c", 1) != nil {
		t.Error("there are nine jobs in eight places")
	}
	s.Drop(last)
	if s.Begin("c", 1) == nil {
		t.Error("Begin: no place after Drop")
	}
}
