package sentry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/sentry"
	"symbolon/internal/fault"
	"symbolon/internal/symbolicate"
	"symbolon/internal/waittest"
)

// gated is an engine that waits until the test opens the gate.
func gated(gate <-chan struct{}) sentry.Run {
	return func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		select {
		case <-gate:
			return demo().run(ctx, req)
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// ticket is the answer for a request that is not done.
type ticket struct {
	Status string `json:"status"`
	ID     string `json:"request_id"`
	Retry  int    `json:"retry_after"`
}

// submit sends a request that is not done at once.
func submit(t *testing.T, f *api.Front, query string) ticket {
	t.Helper()
	w := do(f, "POST", "/symbolicate?timeout=0"+query, `{}`)
	var got ticket
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		t.Fatalf("got %d %s, %v", w.Code, w.Body, err)
	}
	if got.Status != "pending" {
		t.Fatalf("status %q, want pending", got.Status)
	}
	if len(got.ID) != 36 {
		t.Fatalf("id %q, want a UUID", got.ID)
	}
	if got.Retry < 1 {
		t.Fatalf("retry after %d s, want at least 1", got.Retry)
	}
	return got
}

const empty = `{"status":"completed","stacktraces":[],"modules":[]}`

func TestAnswersCanBePolled(t *testing.T) { synctest.Test(t, answersCanBePolled) }

func answersCanBePolled(t *testing.T) {
	gate := make(chan struct{})
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, gated(gate))
	one := submit(t, f, "")
	if two := submit(t, f, ""); two.ID == one.ID {
		t.Error("two requests have one id")
	}
	for range 2 {
		if w := do(f, "GET", "/requests/"+one.ID+"?timeout=0&scope=any", ""); !strings.Contains(w.Body.String(), `"status":"pending","request_id":"`+one.ID+`"`) {
			t.Errorf("before it is done: %s", w.Body)
		}
	}
	start := time.Now()
	if w := do(f, "GET", "/requests/"+one.ID+"?timeout=1", ""); !strings.Contains(w.Body.String(), "pending") {
		t.Errorf("after the timeout: %s", w.Body)
	}
	if took := time.Since(start); took != time.Second {
		t.Errorf("the answer came after %v, want 1s", took)
	}
	close(gate)
	if w := do(f, "GET", "/requests/"+one.ID, ""); w.Body.String() != empty {
		t.Errorf("a client that waits: %s", w.Body)
	}
	for _, id := range []string{one.ID, strings.ToUpper(one.ID), strings.ReplaceAll(one.ID, "-", "")} {
		if w := do(f, "GET", "/requests/"+id, ""); w.Body.String() != empty || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s, once more: %s", id, w.Body)
		}
	}
	for _, path := range []string{"/requests/xyz", "/requests/", "/requests/00000000-1111-2222-3333-444444444444"} {
		if w := do(f, "GET", path, ""); w.Code != 404 || w.Body.Len() != 0 {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}

func TestClientSetsTheTimeout(t *testing.T) { synctest.Test(t, clientSetsTheTimeout) }

func clientSetsTheTimeout(t *testing.T) {
	gate := make(chan struct{})
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, gated(gate))
	start := time.Now()
	w := do(f, "POST", "/symbolicate?timeout=1", `{}`)
	if !strings.Contains(w.Body.String(), "pending") {
		t.Errorf("after the timeout: %s", w.Body)
	}
	if took := time.Since(start); took != time.Second {
		t.Errorf("the answer came after %v, want 1s", took)
	}
	for _, query := range []string{"timeout=soon", "timeout=-1", "timeout=", "timeout=1.5"} {
		if w := do(f, "POST", "/symbolicate?"+query, `{}`); w.Code != 400 {
			t.Errorf("%s: got %d", query, w.Code)
		}
	}
	close(gate)
	for _, query := range []string{"", "timeout=1000", "timeout=18446744073709551615", "wibble=1"} {
		if w := do(f, "POST", "/symbolicate?"+query, `{}`); w.Body.String() != empty {
			t.Errorf("%s: got %s", query, w.Body)
		}
	}
}

func TestDeliveredAnswersAreNotKept(t *testing.T) {
	f, d := door(t, sentry.Config{}, sentry.Deps{}, demo().run)
	for range 100 {
		if w := do(f, "POST", "/symbolicate", `{}`); w.Body.String() != empty {
			t.Fatal(w.Body)
		}
	}
	if answers, bytes := d.Held(); answers != 0 || bytes != 0 {
		t.Errorf("%d answers with %d bytes are kept", answers, bytes)
	}
}

func TestKeptAnswersAreLimited(t *testing.T) { synctest.Test(t, keptAnswersAreLimited) }

func keptAnswersAreLimited(t *testing.T) {
	gate := make(chan struct{})
	f, d := door(t, sentry.Config{AnswersMemory: 2000}, sentry.Deps{}, gated(gate))
	var ids []string
	for range 100 {
		ids = append(ids, submit(t, f, "").ID)
	}
	close(gate)
	for _, id := range ids {
		do(f, "GET", "/requests/"+id, "")
	}
	synctest.Wait() // each is kept just after it is done
	answers, bytes := d.Held()
	if answers < 5 {
		t.Errorf("%d answers are kept, want at least 5", answers)
	}
	if bytes <= 1000 || bytes > 2000 {
		t.Errorf("%d bytes are kept, want more than 1000 and at most 2000", bytes)
	}
	kept := 0
	for _, id := range ids {
		if w := do(f, "GET", "/requests/"+id, ""); w.Code == 200 {
			kept++
			if w.Body.String() != empty {
				t.Errorf("%s", w.Body)
			}
		}
	}
	if answers, _ := d.Held(); kept != answers {
		t.Errorf("%d of %d answers can be polled", kept, answers)
	}
}

func TestReadAnswersAreEvictedFirst(t *testing.T) {
	gates := make(chan chan struct{}, 3)
	f, d := door(t, sentry.Config{AnswersMemory: 150}, sentry.Deps{}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		return gated(<-gates)(ctx, req)
	})
	var ids []string
	for i := range 3 { // two of them have room
		gate := make(chan struct{})
		gates <- gate
		ids = append(ids, submit(t, f, "").ID)
		if i == 2 {
			do(f, "GET", "/requests/"+ids[1], "")
		}
		close(gate)
		waittest.Until(t, "its answer", func() bool { answers, _ := d.Held(); return answers == min(i+1, 2) })
	}
	get := func(id string) int { return do(f, "GET", "/requests/"+id, "").Code }
	waittest.Until(t, "room for the last one", func() bool { return get(ids[1]) == 404 })
	if get(ids[0]) != 200 || get(ids[2]) != 200 {
		t.Errorf("the first: %d, the last: %d", get(ids[0]), get(ids[2]))
	}
}

func TestPlacesAreLimited(t *testing.T) {
	gate := make(chan struct{})
	f, _ := door(t, sentry.Config{MaxConcurrentRequests: 16}, sentry.Deps{}, gated(gate))
	refused := func(query string) bool {
		w := do(f, "POST", "/symbolicate?timeout=0"+query, `{}`)
		if w.Code == 503 && (w.Body.String() != `{"detail":"maximum number of concurrent requests reached"}` || w.Header().Get("Retry-After") == "") {
			t.Errorf("the words are %s", w.Body)
		}
		return w.Code == 503
	}
	for i := range 14 {
		if refused("&scope=greedy") {
			t.Fatalf("request %d is refused", i)
		}
	}
	if !refused("&scope=greedy") {
		t.Error("one scope takes all places")
	}
	if refused("") || refused("&scope=other") {
		t.Error("the others find none")
	}
	if !refused("&scope=third") {
		t.Error("the number of requests is not limited")
	}
	close(gate)
	waittest.Until(t, "a free place", func() bool { return !refused("&scope=greedy") })

	for most, want := range map[int]int{1: 1, 2: 1, -1: 100} {
		gate := make(chan struct{})
		f, _ := door(t, sentry.Config{MaxConcurrentRequests: most}, sentry.Deps{}, gated(gate))
		n := 0
		for n < 100 && do(f, "POST", "/symbolicate?timeout=0", `{}`).Code == 200 {
			n++
		}
		if n != want {
			t.Errorf("of %d places one scope has %d", most, n)
		}
		close(gate)
	}
}

func TestFailedRequestsReleaseTheirPlace(t *testing.T) {
	fails := func(why error) sentry.Run {
		return func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
			known, look, err := demo().run(ctx, req)
			return known, &endless{look, 0, why}, err
		}
	}
	for name, c := range map[string]struct {
		run  sentry.Run
		want string
	}{
		"panic": {func(context.Context, *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
			panic("odd")
		}, `{"status":"internal_error"}`},
		"error":   {fails(errors.New("odd")), `{"status":"internal_error"}`},
		"timeout": {fails(fmt.Errorf("it took long: %w", context.DeadlineExceeded)), `{"status":"timeout"}`},
		"frames": {fails(symbolicate.ErrTooManyFrames),
			`{"status":"failed","message":"the answer has too many frames; ask for fewer addresses in a single request"}`},
	} {
		f, _ := door(t, sentry.Config{MaxConcurrentRequests: 1}, sentry.Deps{}, c.run)
		for range 2 { // the place is free again
			w := do(f, "POST", "/symbolicate", `{"stacktraces":[{"frames":[{"instruction_addr":"0x11000"}]}],
"modules":[{"type":"elf","code_id":"aa01","image_addr":"0x10000","image_size":65536}]}`)
			if got := fmt.Sprint(w.Code, " ", w.Body); got != "200 "+c.want {
				t.Errorf("%s: got %s, want 200 %s", name, got, c.want)
			}
		}
	}
}

// No other client has the id of the request.
func TestRequestEndsWithAClientThatHasNoID(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error)
	f, d := door(t, sentry.Config{MaxConcurrentRequests: 1}, sentry.Deps{}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		begun <- struct{}{}
		known, look, err := gated(nil)(ctx, req)
		ended <- err
		return known, look, err
	})
	server := httptest.NewServer(f)
	defer server.Close()
	for _, query := range []string{"", "?timeout=60"} {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			r, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/symbolicate"+query, strings.NewReader(`{}`))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
				_, err = http.DefaultClient.Do(r)
			}
			left <- err
		}()
		<-begun
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%q: the work ended with %v", query, err)
		}
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("%q: the client got %v", query, err)
		}
		waittest.Until(t, "its place", func() bool { return d.Running() == 0 })
	}
	if answers, _ := d.Held(); answers != 0 {
		t.Errorf("%d answers are kept", answers)
	}
}

func TestRequestWithAKnownIDOutlivesItsClient(t *testing.T) {
	gate := make(chan struct{})
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, gated(gate))
	id := submit(t, f, "").ID
	ctx, leave := context.WithCancel(t.Context())
	leave()
	func() {
		defer func() { _ = recover() }() // as a server does
		f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/requests/"+id, nil))
	}()
	close(gate)
	if w := do(f, "GET", "/requests/"+id, ""); w.Body.String() != empty {
		t.Errorf("got %s, want %s", w.Body, empty)
	}
}

func TestClosingEndsTheWork(t *testing.T) {
	f, d := door(t, sentry.Config{}, sentry.Deps{}, gated(nil))
	id := submit(t, f, "").ID
	d.Close()
	if w := do(f, "GET", "/requests/"+id, ""); w.Body.String() != `{"status":"internal_error"}` {
		t.Errorf("got %s", w.Body)
	}
}

// shelf is a store that several doors share.
type shelf struct {
	mu      sync.Mutex
	entries map[string][]byte
	broken  bool
	slow    time.Duration // for what is pending
}

func (s *shelf) Put(_ context.Context, id string, b []byte, _ time.Duration) error {
	if !bytes.Contains(b, []byte("\x28\xb5\x2f\xfd")) {
		time.Sleep(s.slow)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return fault.New(fault.Transport, "", "broken")
	}
	s.entries[id] = bytes.Clone(b)
	return nil
}

func (s *shelf) Get(_ context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.entries[id]
	switch {
	case s.broken:
		return nil, fault.New(fault.Transport, "", "broken")
	case !ok:
		return nil, fault.New(fault.NotFound, "", "it is not there")
	}
	return b, nil
}

func TestAnyNodeAnswersForAll(t *testing.T) { synctest.Test(t, anyNodeAnswersForAll) }

func anyNodeAnswersForAll(t *testing.T) {
	gate := make(chan struct{})
	store := &shelf{entries: map[string][]byte{}}
	one, d := door(t, sentry.Config{AnswersMemory: 1}, sentry.Deps{Store: store}, gated(gate))
	two, _ := door(t, sentry.Config{}, sentry.Deps{Store: store}, gated(gate))
	id := submit(t, one, "").ID
	other := submit(t, one, "").ID
	waittest.Until(t, "the announcement", func() bool {
		return strings.Contains(do(two, "GET", "/requests/"+id+"?timeout=0", "").Body.String(), `"status":"pending","request_id":"`+id+`"`)
	})
	go func() {
		time.Sleep(100 * time.Millisecond)
		close(gate)
	}()
	if w := do(two, "GET", "/requests/"+id, ""); w.Body.String() != empty {
		t.Errorf("a client that waits at another node: %s", w.Body)
	}
	// An answer that does not fit into the memory of its node is in the store.
	waittest.Until(t, "room", func() bool { answers, _ := d.Held(); return answers <= 1 })
	for _, id := range []string{id, other} {
		waittest.Until(t, "the answer", func() bool { return do(one, "GET", "/requests/"+id, "").Body.String() == empty })
	}
	if w := do(two, "GET", "/requests/00000000-1111-2222-3333-444444444444", ""); w.Code != 404 {
		t.Errorf("an unknown id: %d", w.Code)
	}
	store.mu.Lock()
	store.broken = true
	store.mu.Unlock()
	if w := do(two, "GET", "/requests/"+id, ""); w.Code != 503 {
		t.Errorf("without the store: %d", w.Code)
	}
	if w := do(two, "POST", "/symbolicate", `{}`); w.Body.String() != empty {
		t.Errorf("without the store: %s", w.Body)
	}
}

func TestLargeAnswersAreWhole(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"stacktraces":[{"frames":[`)
	for i := range 60_000 {
		fmt.Fprintf(&body, `%s{"instruction_addr":%d}`, strings.Repeat(",", min(i, 1)), 0x7f0000001000+i)
	}
	body.WriteString(`]}],"modules":[{"type":"elf","code_file":"x","image_addr":"0x7f0000000000"}]}`)
	gate := make(chan struct{})
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		<-gate
		return constantRun(ctx, req)
	})
	pending := do(f, "POST", "/symbolicate?timeout=0", body.String())
	var told ticket
	_ = json.Unmarshal(pending.Body.Bytes(), &told)
	close(gate)
	posted, polled := do(f, "POST", "/symbolicate", body.String()), do(f, "GET", "/requests/"+told.ID, "")
	if !json.Valid(posted.Body.Bytes()) || posted.Body.Len() < 16<<20 || posted.Body.String() != polled.Body.String() {
		t.Errorf("%d and %d bytes", posted.Body.Len(), polled.Body.Len())
	}
}

func TestAnswersInLines(t *testing.T) {
	srv := httptest.NewServer(func() http.Handler {
		f, _ := door(t, sentry.Config{}, sentry.Deps{}, demo().run)
		return f
	}())
	defer srv.Close()
	body := `{"signal":6,"stacktraces":[{"frames":[{"instruction_addr":"0x11000"}]},{"frames":[]}],"modules":[{"type":"elf","code_id":"aa01","image_addr":65536},{"type":"pe"}]}`
	r, _ := http.NewRequest("POST", srv.URL+"/symbolicate", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson, application/json")
	answer, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got []string
	for dec := json.NewDecoder(answer.Body); dec.More(); {
		var line struct {
			Type, Status string
			Index        int
			Signal       int
			Stacktrace   struct{ Frames []any }
			Module       map[string]any
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(line.Type, line.Index, line.Status, line.Signal, len(line.Stacktrace.Frames), line.Module["debug_status"]))
	}
	want := "[stacktrace00 1 <nil> stacktrace10 0 <nil> module00 0found module10 0unused status0completed6 0 <nil>]"
	if fmt.Sprint(got) != want || answer.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLinesMustBeAccepted(t *testing.T) {
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, demo().run)
	const lines, whole = "application/x-ndjson", "application/json"
	for accept, want := range map[string]string{
		"application/x-ndjson":                          lines,
		"Application/X-NDJSON ; Q=0.5 , */*;q=0.1":      lines,
		"application/json;q=0.9, application/x-ndjson":  lines,
		"application/json\napplication/x-ndjson":        lines, // in two headers
		"application/x-ndjson;charset=utf-8;q=1":        lines,
		"application/x-ndjson;q=0, application/json":    whole,
		"application/x-ndjson;q=0.000":                  whole,
		"application/x-ndjson;q=none":                   whole,
		"application/x-ndjson;q=0.1, application/json":  whole,
		"application/x-ndjson-foo":                      whole,
		"text/application/x-ndjson":                     whole,
		"application/json;profile=application/x-ndjson": whole,
		"*/*": whole,
		"":    whole,
	} {
		r := httptest.NewRequest("POST", "/symbolicate", strings.NewReader(`{"stacktraces":[],"modules":[]}`))
		r.Header.Set("Content-Type", "application/json")
		for line := range strings.SplitSeq(accept, "\n") {
			r.Header.Add("Accept", line)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want {
			t.Errorf("%q: %d %s, want %s", accept, w.Code, got, want)
		}
	}
}

func TestFirstLinesAreSentBeforeTheLast(t *testing.T) {
	gate := make(chan struct{})
	f, _ := door(t, sentry.Config{}, sentry.Deps{}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		known, look, err := constantRun(ctx, req)
		return known, &slow{Lookups: look, at: len(req.Frames) - 1, gate: gate}, err
	})
	srv := httptest.NewServer(f)
	defer srv.Close()
	r, _ := http.NewRequest("POST", srv.URL+"/symbolicate", strings.NewReader(stacks50()))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	answer, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	dec := json.NewDecoder(answer.Body)
	n := 0
	for ; dec.More(); n++ {
		var line map[string]any
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if n == 20 {
			close(gate) // only now the last frame can be looked up
		}
	}
	if n != 50+3+1 {
		t.Errorf("%d lines", n)
	}
}

// slow are lookups with one that waits.
type slow struct {
	sentry.Lookups
	at   int
	gate chan struct{}
}

func (s *slow) Addr(i int) (uint64, bool) {
	if i == s.at {
		<-s.gate
	}
	return s.Lookups.Addr(i)
}

// A store that is slow to take what is pending must have the answer in the end.
func TestSlowStoreKeepsTheAnswer(t *testing.T) { synctest.Test(t, slowStoreKeepsTheAnswer) }

func slowStoreKeepsTheAnswer(t *testing.T) {
	gate := make(chan struct{})
	store := &shelf{entries: map[string][]byte{}, slow: 200 * time.Millisecond}
	f, d := door(t, sentry.Config{}, sentry.Deps{Store: store}, gated(gate))
	other, _ := door(t, sentry.Config{}, sentry.Deps{Store: store}, gated(gate))
	id := submit(t, f, "").ID
	close(gate)
	waittest.Until(t, "the answer", func() bool { answers, _ := d.Held(); return answers == 1 })
	time.Sleep(300 * time.Millisecond)
	if w := do(other, "GET", "/requests/"+id+"?timeout=0", ""); w.Body.String() != empty {
		t.Errorf("the store has %s", w.Body)
	}
}

func TestMemoryOfRunningRequestsIsLimited(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"stacktraces":[{"frames":[`)
	for i := range 400_000 {
		body.WriteString(strings.Repeat(",", min(i, 1)) + `{"instruction_addr":1}`)
	}
	body.WriteString(`]}]}`)
	gate := make(chan struct{})
	f, d := door(t, sentry.Config{}, sentry.Deps{}, gated(gate))
	n := 0
	for n < 50 && do(f, "POST", "/symbolicate?timeout=0", body.String()).Code == 200 {
		n++
	}
	if n < 10 || n > 20 {
		t.Errorf("%d requests of 8 MB are at work", n)
	}
	if w := do(f, "POST", "/symbolicate?timeout=0", `{}`); w.Code != 200 {
		t.Errorf("a small one: %d", w.Code)
	}
	close(gate)
	waittest.Until(t, "an end", func() bool { return d.Running() == 0 })
	if w := do(f, "POST", "/symbolicate", body.String()); w.Code != 200 {
		t.Errorf("after them: %d", w.Code)
	}
	if plain := d.Plain(); plain != 0 {
		t.Errorf("%d bytes of answers are still counted", plain)
	}
}

func TestAnswersAreCountedUntilTheyAreFreed(t *testing.T) {
	f, d := door(t, sentry.Config{}, sentry.Deps{}, constantRun)
	for range 3 {
		do(f, "POST", "/symbolicate", stacks50())
		do(f, "POST", "/symbolicate?timeout=0", stacks50())
		ctx, leave := context.WithCancel(t.Context())
		leave()
		r := httptest.NewRequestWithContext(ctx, "POST", "/symbolicate?timeout=5", strings.NewReader(stacks50()))
		r.Header.Set("Content-Type", "application/json")
		func() {
			defer func() { _ = recover() }()
			f.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	waittest.Until(t, "nothing", func() bool { return d.Running() == 0 && d.Plain() == 0 })
}
