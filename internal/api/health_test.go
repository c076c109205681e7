package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/waittest"
)

func TestHeartbeatReportsChecks(t *testing.T) {
	var broken error
	opt := options(io.Discard)
	opt.Checks = []api.Check{
		{Name: "disk", Run: func(context.Context) error { return broken }},
		{Name: "time", Run: func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				return errors.New("no deadline")
			}
			return nil
		}},
	}
	f := api.New(api.Config{}, opt)
	ask := func(path string, status int, body string) {
		t.Helper()
		if w := do(f, "GET", path, ""); w.Code != status || w.Body.String() != body {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	ask("/__heartbeat__", 200, `{"status":"ok","checks":{"disk":"ok","time":"ok"},"details":{}}`)
	ask("/readyz", 200, "ok\n")
	broken = errors.New("no space")
	ask("/__heartbeat__", 503, `{"status":"error","checks":{"disk":"error","time":"ok"},`+
		`"details":{"disk":{"status":"error","level":40,"messages":{"disk.failed":"no space"}}}}`)
	ask("/ready", 503, `{"title":"503 Service Unavailable: a check failed, see /__heartbeat__"}`)
	for _, path := range []string{"/__lbheartbeat__", "/healthz", "/live"} {
		ask(path, 200, "ok\n")
	}
	ask("/healthcheck", 200, "ok")
	if w := do(f, "POST", "/healthcheck", ""); w.Code != 405 || w.Body.Len() != 0 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /healthcheck: got %d %s, %v", w.Code, w.Body, w.Header())
	}
	ask("/__version__", 200, `{"version":"v1"}`)
	if w := do(api.New(api.Config{}, api.Options{Log: opt.Log, Now: opt.Now}), "GET", "/__version__", ""); w.Body.String() != "{}" {
		t.Errorf("without a version it is %s", w.Body)
	}
	ask("/__broken__", 500, `{"title":"500 Internal Server Error"}`)
	for _, path := range []string{"/healthcheck", "/healthz", "/live", "/ready", "/readyz"} {
		if w := do(f, "HEAD", path, ""); w.Code == 405 {
			t.Errorf("HEAD %s: got 405", path)
		}
	}
}

func TestVersionIsThatOfTheFileOrTheBuild(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "version.json"), filepath.Join(dir, "bad.json")
	text := `{"source": "https://example.com", "commit": "abc"}`
	for path, content := range map[string]string{good: text, bad: "{"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := api.ReadVersion(good); err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := api.ReadVersion(bad); err == nil || !strings.Contains(err.Error(), "is not JSON") {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := api.ReadVersion(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	own, err := api.ReadVersion("")
	var keys map[string]string
	if err != nil || json.Unmarshal(own, &keys) != nil || keys["build"] == "" {
		t.Errorf("the build says %s, %v", own, err)
	}
	for _, key := range []string{"source", "version", "commit", "build"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("no key %s in %s", key, own)
		}
	}
}

func TestShutdownCompletesRunningRequests(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	enter, leave := make(chan struct{}), make(chan struct{})
	f := newFront(api.Config{}, get("/work", func(w http.ResponseWriter, r *http.Request) {
		close(enter)
		<-leave
		say("done")(w, r)
	}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, ln) }()
	got := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + ln.Addr().String() + "/work")
		if err != nil {
			got <- err.Error()
			return
		}
		b, _ := io.ReadAll(res.Body)
		got <- string(b)
	}()
	<-enter
	if w := do(f, "GET", "/readyz", ""); w.Code != 200 {
		t.Errorf("before: /readyz says %d", w.Code)
	}
	stop()
	waittest.Until(t, "/readyz has status 503", func() bool { return do(f, "GET", "/readyz", "").Code == 503 })
	if w := do(f, "GET", "/readyz", ""); !strings.Contains(w.Body.String(), "stopping") {
		t.Errorf("while stopping: the body of /readyz is %s", w.Body)
	}
	waittest.Until(t, "new connections are refused", func() bool {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			return true
		}
		_ = c.Close()
		return false
	})
	close(leave)
	if text := <-got; text != "done" {
		t.Errorf("the request that ran got %q", text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestShutdownHasATimeLimit(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := &waittest.Log{}
	enter := make(chan struct{})
	f := api.New(api.Config{ShutdownTimeout: 50 * time.Millisecond}, options(log), []api.Route{
		get("/stuck", func(w http.ResponseWriter, r *http.Request) {
			close(enter)
			<-r.Context().Done()
		})})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, ln) }()
	send(t, "http://"+ln.Addr().String(), "GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n")
	<-enter
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits")
	}
	log.Await(t, "exceeded the time limit at shutdown")
	log.Await(t, `"status":499`)
}

func TestServeReturnsTheErrorOfAListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := newFront(api.Config{}).Serve(context.Background(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestSlowAndLargeHeadersAreCutOff(t *testing.T) {
	base := serve(t, api.Config{HeaderTimeout: 100 * time.Millisecond}, options(io.Discard), get("/x", say("x")))
	c := send(t, base, "GET /x HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	start := time.Now()
	_, _ = bufio.NewReader(c).ReadString(0)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("slow headers had %v", took)
	}
	c = send(t, base, "GET /x HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("x", 70<<10)+"\r\n\r\n")
	line, _ := bufio.NewReader(c).ReadString('\n')
	if !strings.Contains(line, " 431 ") {
		t.Errorf("large headers: got %q", line)
	}
}
