package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api"
)

// counts answers with the length of the body.
var counts = api.Route{Methods: []string{"POST"}, Pattern: "/count", Handle: func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	fmt.Fprint(w, n, err)
}}

// large answers with 25 MiB.
var large = post("/large", func(w http.ResponseWriter, r *http.Request) {
	_, err := io.Copy(io.Discard, r.Body)
	for i := 0; i < 400 && err == nil; i++ {
		_, err = w.Write(make([]byte, 64<<10))
	}
})

func TestSlowBodiesDoNotTakeAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, api.Config{MaxInFlight: 1}, options(io.Discard), counts)
		for range 20 {
			s.send("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nthe beginning")
		}
		synctest.Wait()
		if got := upload(t, s.client, frontURL+"/count", 5); got != "5 <nil>" {
			t.Errorf("a quick request got %s", got)
		}
	})
}

func TestBodiesOfAnySizeAreComplete(t *testing.T) {
	base := serve(t, api.Config{MaxInFlight: 1}, options(io.Discard), counts)
	for _, n := range []int{0, 1, 16<<10 - 1, 16 << 10, 16<<10 + 1, 1 << 20} {
		for name, body := range map[string]io.Reader{
			"announced": bytes.NewReader(make([]byte, n)), "chunked": io.MultiReader(bytes.NewReader(make([]byte, n))),
		} {
			res, err := http.Post(base+"/count", "", body)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := io.ReadAll(res.Body); string(got) != fmt.Sprint(n, " <nil>") {
				t.Errorf("%d bytes, %s: %s", n, name, got)
			}
		}
	}
}

func TestClientHasItsLimit(t *testing.T) {
	enter, leave := make(chan struct{}, 10), make(chan struct{})
	work := api.Route{Methods: []string{"POST"}, Pattern: "/work", Handle: func(http.ResponseWriter, *http.Request) {
		enter <- struct{}{}
		<-leave
	}}
	f := newFront(api.Config{MaxInFlight: 4, MaxPerClient: 2}, work)
	ask := func(client string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/work", nil)
		r.RemoteAddr = client
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	done := make(chan int, 4)
	let := func(client string) {
		go func() { done <- ask(client).Code }()
		<-enter
	}
	let("192.0.2.1:1")
	let("192.0.2.1:2")
	if w := ask("192.0.2.1:3"); w.Code != 429 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("the third of a client: %d, %v", w.Code, w.Header())
	}
	let("192.0.2.2:1")
	let("[2001:db8::1]:1")
	if w := ask("192.0.2.3:1"); w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("a full server: %d, %v", w.Code, w.Header())
	}
	close(leave)
	for range 4 {
		if got := <-done; got != 200 {
			t.Errorf("got %d", got)
		}
	}
	if w := ask("192.0.2.1:4"); w.Code != 200 {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// TestSlowClientsOfAFullServerAreCutOff fills all places with clients that stall,
// in the middle of what they send and of what they read.
func TestSlowClientsOfAFullServerAreCutOff(t *testing.T) {
	for name, sent := range map[string]int{"sending": 20_000, "reading": 50_000} {
		synctest.Test(t, func(t *testing.T) {
			s := serveInMemory(t, api.Config{MaxInFlight: 2}, options(io.Discard), large, counts)
			for range 2 {
				s.send("POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n" + strings.Repeat("x", sent))
			}
			synctest.Wait()
			if got := upload(t, s.client, frontURL+"/count", 5); !strings.Contains(got, "503") {
				t.Fatalf("%s: a full server says %s", name, got)
			}
			time.Sleep(2 * time.Second)
			if got := upload(t, s.client, frontURL+"/count", 5); got != "5 <nil>" {
				t.Errorf("%s: two seconds later the server says %s", name, got)
			}
		})
	}
}

// busy is a server whose memory for large requests is in use until release.
func busy(t *testing.T) (base string, release func()) {
	t.Helper()
	begun, end := make(chan struct{}), make(chan struct{})
	release = sync.OnceFunc(func() { close(end) })
	t.Cleanup(release)
	block := api.Route{Methods: []string{"POST"}, Pattern: "/block", Handle: func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-end
	}}
	opt := options(io.Discard)
	opt.Memory = 2 << 20
	flow := counts
	flow.Pattern, flow.MaxHeld = "/flow", 64<<10
	base = serve(t, api.Config{}, opt, block, counts, flow)
	go upload(t, http.DefaultClient, base+"/block", 400_000)
	<-begun
	return base, release
}

// TestMediumRequestsDoNotWaitForLargeOnes lets giants take all that they may.
func TestMediumRequestsDoNotWaitForLargeOnes(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	block := api.Route{Methods: []string{"POST"}, Pattern: "/block", Handle: func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-end
	}}
	opt := options(io.Discard)
	opt.Memory = 64 << 20
	base := serve(t, api.Config{}, opt, block, counts)
	go upload(t, http.DefaultClient, base+"/block", 8_000_000)
	<-begun
	if got := upload(t, http.DefaultClient, base+"/count", 150_000); got != "150000 <nil>" {
		t.Errorf("a medium request: %s", got)
	}
	close(end)
}

// TestCompressedBodiesReserveTheirDecodedSize sends few bytes that become many while
// the memory is in use.
func TestCompressedBodiesReserveTheirDecodedSize(t *testing.T) {
	base, release := busy(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 900_000))
	_ = z.Close()
	r, err := http.NewRequest("POST", base+"/count", &packed)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Encoding", "gzip")
	done := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			done <- err.Error()
			return
		}
		body, _ := io.ReadAll(res.Body)
		done <- string(body)
	}()
	select {
	case got := <-done:
		t.Errorf("it did not wait: %s", got)
	case <-time.After(100 * time.Millisecond):
	}
	release()
	if got := <-done; got != "900000 <nil>" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestLargeBodiesWaitForMemory(t *testing.T) {
	base, release := busy(t)
	large := make(chan string, 1)
	if got := upload(t, http.DefaultClient, base+"/count", 20); got != "20 <nil>" { // what fits does not wait
		t.Errorf("a small body: %s", got)
	}
	if got := upload(t, http.DefaultClient, base+"/flow", 400_000); got != "400000 <nil>" { // it needs little, whatever it has
		t.Errorf("a large body that is not held: %s", got)
	}
	go func() { large <- upload(t, http.DefaultClient, base+"/count", 400_000) }()
	select {
	case got := <-large:
		t.Errorf("a large body did not wait: %s", got)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	if got := <-large; got != "400000 <nil>" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestSlowClientIsCutOffUnderMemoryPressure lets one client hold all of it, by sending or by
// reading slowly, while another one wants some.
func TestSlowClientIsCutOffUnderMemoryPressure(t *testing.T) {
	for name, sent := range map[string]int{"sending": 20_000, "reading": 400_000} {
		synctest.Test(t, func(t *testing.T) {
			opt := options(io.Discard)
			opt.Memory = 2 << 20
			s := serveInMemory(t, api.Config{}, opt, large, counts)
			s.send("POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n" + strings.Repeat("x", sent))
			synctest.Wait()
			start := time.Now()
			if got := upload(t, s.client, frontURL+"/count", 400_000); got != "400000 <nil>" {
				t.Errorf("%s: another client that needs memory got %q", name, got)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("%s: the other client waited %v", name, took)
			}
		})
	}
}

func upload(t *testing.T, client *http.Client, url string, n int) string {
	res, err := client.Post(url, "", bytes.NewReader(make([]byte, n)))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}

// A request that is not admitted gets the answer before its body is read, and the
// connection ends. Others are not affected.
func TestRequestIsRefusedBeforeItsBody(t *testing.T) { synctest.Test(t, requestIsRefusedBeforeItsBody) }

func requestIsRefusedBeforeItsBody(t *testing.T) {
	guarded := counts
	guarded.Pattern, guarded.Admit = "/guarded", func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "good" {
			return true
		}
		api.Fail(w, r, http.StatusUnauthorized, "")
		return false
	}
	s := serveInMemory(t, api.Config{}, options(io.Discard), guarded)
	for _, more := range []string{"Content-Length: 1000000", "Content-Length: 100000", "Content-Length: 100000\r\nExpect: 100-continue", "Transfer-Encoding: chunked", "Content-Length: 0"} {
		start := time.Now()
		in := bufio.NewReader(s.send("POST /guarded HTTP/1.1\r\nHost: x\r\n" + more + "\r\n\r\n"))
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%q: %v", more, err)
		}
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q: status %d, want 401", more, res.StatusCode)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q: the answer came after %v", more, took)
		}
		if _, _ = io.Copy(io.Discard, res.Body); more != "Content-Length: 0" {
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("%q: the connection goes on: %v", more, err)
			}
		}
	}
	r, _ := http.NewRequest("POST", frontURL+"/guarded", strings.NewReader("12345"))
	r.Header.Set("Authorization", "good")
	res, err := s.client.Do(r)
	if err != nil || res.StatusCode != http.StatusOK || res.Close {
		t.Fatalf("who is admitted: %v, %v", res, err)
	}
	res.Body.Close()
}

// Only one request at a time may wait for its second reservation. Others are
// refused; otherwise all of them together could exceed the budget.
func TestOneRequestAtATimeReservesMore(t *testing.T) {
	var all, inside sync.WaitGroup
	var met, refused atomic.Int32
	inside.Add(2)
	growing := post("/growing", func(w http.ResponseWriter, r *http.Request) {
		if err := api.Reserve(r, 500_000); err != nil {
			t.Error(err)
		}
		inside.Done()
		inside.Wait()
		var busy *api.Refusal
		switch err := api.Reserve(r, 900_000); {
		case err == nil:
			met.Add(1)
		case errors.As(err, &busy) && busy.Status == http.StatusServiceUnavailable:
			refused.Add(1)
		default:
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})
	growing.MaxHeld = 100_000
	opt := options(io.Discard)
	opt.Memory = 2 << 20 // half of it is for large requests
	base := serve(t, api.Config{}, opt, growing)
	start := time.Now()
	for range 2 {
		all.Go(func() { upload(t, http.DefaultClient, base+"/growing", 200_000) })
	}
	all.Wait()
	if met.Load() != 1 || refused.Load() != 1 || time.Since(start) > 10*time.Second {
		t.Errorf("%d have more, %d are refused, after %v", met.Load(), refused.Load(), time.Since(start))
	}
}

func TestReservationsAreMetInTurn(t *testing.T) { synctest.Test(t, reservationsAreMetInTurn) }

func reservationsAreMetInTurn(t *testing.T) {
	var all, inside sync.WaitGroup
	var now, most atomic.Int32
	inside.Add(2)
	greedy := post("/greedy", func(w http.ResponseWriter, r *http.Request) {
		inside.Done()
		inside.Wait()
		if err := api.Reserve(r, 900_000); err != nil {
			t.Error(err)
			return
		}
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(50 * time.Millisecond)
		now.Add(-1)
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, " ", err)
	})
	greedy.MaxHeld = 400_000
	opt := options(io.Discard)
	opt.Memory = 2 << 20 // half of it is for large requests
	s := serveInMemory(t, api.Config{}, opt, greedy)
	start := time.Now()
	for range 2 {
		all.Go(func() {
			if got := upload(t, s.client, frontURL+"/greedy", 200_000); got != "200000 <nil>" {
				t.Error(got)
			}
		})
	}
	all.Wait()
	if n := most.Load(); n != 1 {
		t.Errorf("%d reservations at a time, want 1", n)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("both took %v", took)
	}
}
