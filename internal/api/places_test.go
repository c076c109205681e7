package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/api"
)

// counts answers with the length of the body.
var counts = api.Route{Methods: []string{"POST"}, Pattern: "/count", Handle: func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	fmt.Fprint(w, n, err)
}}

func TestSlowBodiesDoNotTakeAPlace(t *testing.T) {
	base := serve(t, api.Config{MaxInFlight: 1}, options(io.Discard), counts)
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nthe beginning")
	}
	time.Sleep(50 * time.Millisecond)
	res, err := http.Post(base+"/count", "", strings.NewReader("quick"))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 || string(body) != "5 <nil>" {
		t.Errorf("a quick request got %d %s", res.StatusCode, body)
	}
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
	large := api.Route{Methods: []string{"POST"}, Pattern: "/large", Handle: func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		for i := 0; i < 400 && err == nil; i++ {
			_, err = w.Write(make([]byte, 64<<10))
		}
	}}
	for name, sent := range map[string]int{"sending": 20_000, "reading": 50_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := serve(t, api.Config{MaxInFlight: 2}, options(io.Discard), large, counts)
			for range 2 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				fmt.Fprintf(conn, "POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n%s", make([]byte, sent))
			}
			time.Sleep(200 * time.Millisecond)
			if got := upload(t, base+"/count", 5); !strings.Contains(got, "503") {
				t.Fatalf("a full server says %s", got)
			}
			start := time.Now()
			for upload(t, base+"/count", 5) != "5 <nil>" {
				if time.Since(start) > 15*time.Second {
					t.Fatal("the places are still taken")
				}
				time.Sleep(50 * time.Millisecond)
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
	go upload(t, base+"/block", 400_000)
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
	go upload(t, base+"/block", 8_000_000)
	<-begun
	if got := upload(t, base+"/count", 150_000); got != "150000 <nil>" {
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
	if got := upload(t, base+"/count", 20); got != "20 <nil>" { // what fits does not wait
		t.Errorf("a small body: %s", got)
	}
	if got := upload(t, base+"/flow", 400_000); got != "400000 <nil>" { // it needs little, whatever it has
		t.Errorf("a large body that is not held: %s", got)
	}
	go func() { large <- upload(t, base+"/count", 400_000) }()
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
	for name, slow := range map[string]func(net.Conn){
		"sending": func(c net.Conn) {
			fmt.Fprintf(c, "POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n%s", make([]byte, 20_000))
		},
		"reading": func(c net.Conn) {
			fmt.Fprintf(c, "POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n%s", make([]byte, 400_000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := options(io.Discard)
			opt.Memory = 2 << 20
			large := api.Route{Methods: []string{"POST"}, Pattern: "/large", Handle: func(w http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				for i := 0; i < 400 && err == nil; i++ {
					_, err = w.Write(make([]byte, 64<<10))
				}
			}}
			base := serve(t, api.Config{}, opt, large, counts)
			conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			slow(conn)
			time.Sleep(100 * time.Millisecond)
			start := time.Now()
			if got := upload(t, base+"/count", 400_000); got != "400000 <nil>" {
				t.Errorf("who wanted memory got %q", got)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("after %v", took)
			}
		})
	}
}

func upload(t *testing.T, url string, n int) string {
	res, err := http.Post(url, "", bytes.NewReader(make([]byte, n)))
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
func TestRequestIsRefusedBeforeItsBody(t *testing.T) {
	guarded := counts
	guarded.Pattern, guarded.Admit = "/guarded", func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "good" {
			return true
		}
		api.Fail(w, r, http.StatusUnauthorized, "")
		return false
	}
	base := serve(t, api.Config{}, options(io.Discard), guarded)
	for _, more := range []string{"Content-Length: 1000000", "Content-Length: 100000", "Content-Length: 100000\r\nExpect: 100-continue", "Transfer-Encoding: chunked", "Content-Length: 0"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		start := time.Now()
		fmt.Fprintf(conn, "POST /guarded HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", more)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != http.StatusUnauthorized || time.Since(start) > 5*time.Second {
			t.Errorf("%q: %v, %v after %v", more, res, err, time.Since(start))
		} else if _, _ = io.Copy(io.Discard, res.Body); more != "Content-Length: 0" {
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("%q: the connection goes on: %v", more, err)
			}
		}
		conn.Close()
	}
	r, _ := http.NewRequest("POST", base+"/guarded", strings.NewReader("12345"))
	r.Header.Set("Authorization", "good")
	res, err := http.DefaultClient.Do(r)
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
		var busy *api.BodyError
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
		all.Go(func() { upload(t, base+"/growing", 200_000) })
	}
	all.Wait()
	if met.Load() != 1 || refused.Load() != 1 || time.Since(start) > 10*time.Second {
		t.Errorf("%d have more, %d are refused, after %v", met.Load(), refused.Load(), time.Since(start))
	}
}

func TestReservationsAreMetInTurn(t *testing.T) {
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
	base := serve(t, api.Config{}, opt, greedy)
	start := time.Now()
	for range 2 {
		all.Go(func() {
			if got := upload(t, base+"/greedy", 200_000); got != "200000 <nil>" {
				t.Error(got)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 || time.Since(start) > 10*time.Second {
		t.Errorf("%d at a time, after %v", most.Load(), time.Since(start))
	}
}
