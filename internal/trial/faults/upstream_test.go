package faults_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/fixture"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// ill is a symbol server with one fault.
type ill struct {
	name    string
	does    func(trial.Sym) http.Handler                 // over plain HTTP
	address func(t *testing.T, syms ...trial.Sym) string // else: where it is
	kind    string                                       // as in module_errors
	reason  string                                       // a part of the detail; "|" between possible ones
	status  int
	asked   int // how often for one file; zero: the name does not matter
}

const tries = 2

// network bounds every step of a download, so that what hangs does not hang
// for long.
var network = []string{
	"network.connect_timeout=1500ms", "network.head_timeout=2s", "network.read_timeout=2s",
	"network.max_download_timeout=4s", "network.max_tries=2", "network.deny_list_threshold=-1",
}

// raw is a server that does this with every connection.
func raw(scheme string, do func(net.Conn)) func(*testing.T, ...trial.Sym) string {
	return func(t *testing.T, _ ...trial.Sym) string { return scheme + "://" + trial.NewListener(t, do) + "/" }
}

// hello reads the first message of a TLS client.
func hello(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }

func illnesses() []ill {
	whole := func(do func([]byte) http.Handler) func(trial.Sym) http.Handler {
		return func(sym trial.Sym) http.Handler { return do(sym.Bytes()) }
	}
	damaged := func(b []byte) []byte {
		b = trial.Gzipped(b)
		for i := range 20 {
			b[len(b)/2+i] ^= 0x5a
		}
		return b
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	return []ill{
		{name: "hangs before the head", does: whole(func(b []byte) http.Handler { return trial.Hang(b, -1) }),
			kind: "Timeout", reason: "no answer within 2s|not finished within 4s", asked: 2},
		{name: "hangs in the body", does: whole(func(b []byte) http.Handler { return trial.Hang(b, 1000) }),
			kind: "Timeout", reason: "no data arrived for 2s", status: 200, asked: 1},
		{name: "drips", does: whole(func(b []byte) http.Handler { return trial.Drip(b, 100*time.Millisecond) }),
			kind: "Timeout", reason: "not finished within 4s", status: 200, asked: 1},
		{name: "resets before the head", does: whole(func([]byte) http.Handler { return trial.Raw("", true) }),
			kind: "Transport", reason: "connection reset by the server|connection closed without an answer", asked: tries},
		{name: "resets in the body", does: whole(func(b []byte) http.Handler {
			return trial.Raw("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"+string(b[:1000]), true)
		}), kind: "Transport", reason: "connection reset by the server|the connection ended before the file did", status: 200, asked: tries},
		{name: "sends less than it says", does: whole(func(b []byte) http.Handler { return trial.Claim(b, len(b)+1) }),
			kind: "Transport", reason: "the connection ended before the file did", status: 200, asked: tries},
		{name: "sends a packed file with too small a length", does: whole(func(b []byte) http.Handler {
			z := trial.Gzipped(b)
			return trial.Raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(z)/2, z), false)
		}), kind: "Malformed", reason: "gzip: unexpected EOF", status: 200, asked: 1},
		{name: "sends a page", does: whole(func([]byte) http.Handler { return trial.Page() }),
			kind: "Malformed", reason: "not a breakpad file", status: 200, asked: 1},
		{name: "sends nothing", does: whole(func([]byte) http.Handler { return trial.File(nil) }),
			kind: "Malformed", reason: "empty file", status: 200, asked: 1},
		{name: "sends another file", does: whole(func([]byte) http.Handler { return trial.File(fixture.NewSym("x.so").Func(0x1000, 16, "f").Bytes()) }),
			kind: "Malformed", reason: "identity mismatch", status: 200, asked: 1},
		{name: "sends damaged gzip", does: whole(func(b []byte) http.Handler { return trial.Encoded(damaged(b)) }),
			kind: "Malformed", reason: "gzip: ", status: 200, asked: 1},
		{name: "sends half of a gzip", does: whole(func(b []byte) http.Handler { return trial.Encoded(half(trial.Gzipped(b))) }),
			kind: "Malformed", reason: "gzip: unexpected EOF", status: 200, asked: 1},
		{name: "sends a bomb", does: whole(func(b []byte) http.Handler { return trial.Bomb(b, 3) }),
			kind: "Malformed", reason: "unpacks to far more than its size", status: 200, asked: 1},
		{name: "redirects in a circle", does: whole(func([]byte) http.Handler { return trial.Loop() }),
			kind: "Transport", reason: "more than 5 redirects", status: 302, asked: 6},
		{name: "is too busy for an hour", does: whole(func([]byte) http.Handler { return trial.Status(429, "Retry-After", "3600") }),
			kind: "Transport", reason: "429 Too Many Requests; the server asks to come back after 20", status: 429, asked: 1},
		{name: "is out of order", does: whole(func([]byte) http.Handler { return trial.Status(503) }),
			kind: "Transport", reason: "503 Service Unavailable", status: 503, asked: tries},
		{name: "refuses us", does: whole(func([]byte) http.Handler { return trial.Status(403) }),
			kind: "Denied", reason: "403 Forbidden", status: 403, asked: 1},
		{name: "has an unknown name", address: func(*testing.T, ...trial.Sym) string { return "http://symbols.invalid/" },
			kind: "Transport|Timeout", reason: "no such host|the name of the host could not be looked up|no connection within 1.5s"},
		{name: "does not listen", address: func(*testing.T, ...trial.Sym) string { return "http://127.0.0.1:1/" },
			kind: "Transport", reason: "connection refused"},
		{name: "does not speak TLS", address: raw("https", func(c net.Conn) {
			hello(c)
			_, _ = io.WriteString(c, "220 mail.example.com ESMTP ready, say hello\r\n")
		}), kind: "Transport", reason: "the server does not speak TLS"},
		{name: "breaks off the handshake", address: raw("https", hello),
			kind: "Transport", reason: "connection closed without an answer|connection reset by the server"},
		{name: "refuses the handshake", address: raw("https", func(c net.Conn) {
			hello(c)
			_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) // a fatal alert: handshake failure
		}), kind: "Transport", reason: "the server refuses the TLS handshake"},
		{name: "hangs in the handshake", address: raw("https", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }),
			kind: "Timeout", reason: "no connection within 1.5s"},
		{name: "has an untrusted certificate", address: func(t *testing.T, syms ...trial.Sym) string {
			up := trial.NewStranger(t)
			for _, sym := range syms {
				up.Do(sym.Path(), sym)
			}
			return up.URL
		}, kind: "Transport", reason: "certificate is not trusted"},
	}
}

// canary is a secret that must be seen nowhere.
const canary = "canary-3f9a71"

// secretly is an address with secrets in it.
func secretly(t *testing.T, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.RawQuery = url.UserPassword("symbolon", canary), "token="+canary
	return u.String()
}

// TestIllSymbolServers has one service ask two dozen ill symbol servers, each
// for two files. One of the files is on a healthy server too, that is asked
// after the ill one.
func TestIllSymbolServers(t *testing.T) {
	healthy := trial.NewUpstream(t)
	well := trial.NewSym(1, 500)
	healthy.Do(well.Path(), well)
	type patient struct {
		ill
		id         string
		up         *trial.Upstream // nil for those that have an address
		only, both trial.Sym       // files of the ill server alone, and of both
		answers    [2]trial.Answer
	}
	var patients []*patient
	var config strings.Builder
	config.WriteString("sources:\n")
	for i, c := range illnesses() {
		p := &patient{ill: c, id: fmt.Sprintf("ill%d", i), only: trial.NewSym(100+i, 500), both: trial.NewSym(200+i, 500)}
		healthy.Do(p.both.Path(), p.both)
		address := ""
		if c.does != nil {
			p.up = trial.NewUpstream(t)
			p.up.Do(p.only.Path(), c.does(p.only))
			p.up.Do(p.both.Path(), c.does(p.both))
			address = p.up.URL
		} else {
			address = c.address(t, p.only, p.both)
		}
		fmt.Fprintf(&config, "- {id: %s, type: http, url: %q, filters: {filetypes: [breakpad], path_patterns: [%q, %q]}}\n", p.id, secretly(t, address), p.only.File, p.both.File)
		patients = append(patients, p)
	}
	fmt.Fprintf(&config, "- {id: healthy, type: http, url: %q, filters: {filetypes: [breakpad]}}\n", healthy.URL)
	s := trial.Start(t, trial.Options{Config: config.String(), Set: network, Env: []string{"NO_PROXY=*", "no_proxy=*"}})
	if wrong := s.Ask(well, 1); wrong != "" {
		t.Fatal(wrong)
	}

	// All at once, as most of them only take time; the second answer is from
	// memory.
	var asking sync.WaitGroup
	for _, p := range patients {
		asking.Go(func() {
			modules := []trial.Module{p.only.Module, well.Module, p.both.Module}
			frames := append(append(p.only.Frames(0, 3), well.Frames(1, 4)...), p.both.Frames(2, 5)...)
			for i := range p.answers {
				p.answers[i] = s.V5(modules, frames...)
			}
		})
	}
	asking.Wait()
	for _, p := range patients {
		t.Run(p.name, func(t *testing.T) {
			for _, a := range p.answers {
				if a.Text(0) != "" || a.Found(p.only.Module) {
					t.Errorf("the module of the ill server: %s", a.Text(0))
				}
				if a.Text(1) != well.Answer(4) || a.Text(2) != p.both.Answer(5) {
					t.Errorf("the other modules: %q, %q: %s", a.Text(1), a.Text(2), a.Reasons(p.both.Module))
				}
				if got := a.Reasons(p.only.Module); !either(got, p.kind, ": "+p.id+": ") || !either(got, p.reason, "") {
					t.Errorf("the answer says: %s", got)
				}
				if strings.Contains(a.Body, canary) {
					t.Errorf("a secret is in the answer: %s", a.Body)
				}
			}
			if p.asked > 0 && (p.up.Count(p.only.Path()) != p.asked || p.up.Count(p.both.Path()) != p.asked) {
				t.Errorf("it was asked %d and %d times, not %d", p.up.Count(p.only.Path()), p.up.Count(p.both.Path()), p.asked)
			}
			for _, sym := range []trial.Sym{p.only, p.both} {
				x := s.Explain(sym.Module)
				if len(x.Tried) != 2 || x.Tried[1].Source != "healthy" {
					t.Fatalf("explain: %+v", x)
				}
				if want := sym == p.both; x.Found != want || x.Tried[1].Chosen != want {
					t.Fatalf("explain: found %v, the other source is chosen %v, want %v", x.Found, x.Tried[1].Chosen, want)
				}
				first := x.Tried[0]
				if first.Source != p.id || first.Location == "" {
					t.Errorf("explain: source %q at %q, want source %q", first.Source, first.Location, p.id)
				}
				if !either(first.Verdict, strings.ToLower(p.kind), "") {
					t.Errorf("explain: verdict %q, want %q", first.Verdict, p.kind)
				}
				if !either(first.Detail, p.reason, "") {
					t.Errorf("explain: detail %q, want %q", first.Detail, p.reason)
				}
				if !first.Cached {
					t.Error("explain: the verdict is not cached")
				}
				lines := told(s, first.Location)
				if len(lines) != 1 {
					t.Fatalf("the log has %d lines: %q", len(lines), lines)
				}
				if !strings.Contains(lines[0], p.id) || !either(lines[0], p.reason, "") {
					t.Errorf("the log has not the source %s and the reason %q: %s", p.id, p.reason, lines[0])
				}
				if p.status != 0 && !strings.Contains(lines[0], fmt.Sprintf("status=%d", p.status)) {
					t.Errorf("the log has not the status %d: %s", p.status, lines[0])
				}
			}
		})
	}
	if strings.Contains(s.Log(), canary) {
		t.Error("a secret is in the log")
	}
}

// told are the warnings about one place.
func told(s *trial.Server, location string) []string {
	var lines []string
	for _, line := range warnings(s) {
		if strings.Contains(line, location) {
			lines = append(lines, line)
		}
	}
	return lines
}

// either tells whether text has one of the alternatives, followed by after.
func either(text, alternatives, after string) bool {
	for one := range strings.SplitSeq(alternatives, "|") {
		if strings.Contains(text, one+after) {
			return true
		}
	}
	return false
}

// TestServerThatIsBusyForAMomentIsWaitedFor answers 429 once, with a time.
func TestServerThatIsBusyForAMomentIsWaitedFor(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	sym := trial.NewSym(1, 100)
	var asked atomic.Int64
	var early atomic.Bool
	var first time.Time
	up.Do(sym.Path(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			first = time.Now()
			trial.Status(429, "Retry-After", "1").ServeHTTP(w, r)
			return
		}
		early.Store(time.Since(first) < time.Second)
		sym.ServeHTTP(w, r)
	}))
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	if wrong := s.Ask(sym, 1); wrong != "" || asked.Load() != 2 || early.Load() {
		t.Errorf("%s; asked %d times, too early: %v", wrong, asked.Load(), early.Load())
	}
	if lines := warnings(s); len(lines) > 0 {
		t.Errorf("log: %q", lines)
	}
}

// TestMoreThanWasSaidIsNotRead sends more bytes than Content-Length has: the
// file is what was promised.
func TestMoreThanWasSaidIsNotRead(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	sym := trial.NewSym(1, 100)
	extra := string(sym.Bytes()) + "FUNC 0 ffffff 0 intruder\n0 ffffff 1 1\n"
	up.Do(sym.Path(), trial.Claim([]byte(extra), len(sym.Bytes())))
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	a := s.V5([]trial.Module{sym.Module}, append(sym.Frames(0, 0, 99), trial.Frame{Module: 0, Offset: 0x10})...)
	if a.Text(0) != sym.Answer(0) || a.Text(1) != sym.Answer(99) || a.Text(2) != "" {
		t.Errorf("answer: %s", a.Body)
	}
}

// TestOneThatHangsDelaysNobody asks for other modules, in the same request and
// in others, while one module hangs.
func TestOneThatHangsDelaysNobody(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	warm, cold, hangs := trial.NewSym(1, 500), trial.NewSym(2, 500), trial.NewSym(3, 500)
	up.Do(warm.Path(), warm)
	up.Do(cold.Path(), cold)
	up.Do(hangs.Path(), trial.Hang(hangs.Bytes(), 1000))
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{"network.read_timeout=20s", "symbolicate.module_deadline=2s"}})
	if wrong := s.Ask(warm, 1); wrong != "" {
		t.Fatal(wrong)
	}
	mixed := make(chan trial.Answer, 1)
	go func() {
		mixed <- s.V5([]trial.Module{hangs.Module, warm.Module}, append(hangs.Frames(0, 1), warm.Frames(1, 2)...)...)
	}()
	waittest.Until(t, "the server hangs", func() bool { return up.Count(hangs.Path()) == 1 })
	start := time.Now()
	for i := range 20 {
		if wrong := s.Ask(warm, i); wrong != "" {
			t.Error(wrong)
		}
	}
	if wrong := s.Ask(cold, 7); wrong != "" {
		t.Error(wrong)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("21 other requests took %v", took)
	}
	select {
	case <-mixed:
		t.Error("the request did not wait for its module")
	default:
	}
	a := <-mixed
	if a.Text(1) != warm.Answer(2) || a.Text(0) != "" || !strings.Contains(a.Reasons(hangs.Module), "not ready within ") {
		t.Errorf("the request with the module that hangs: %s", a.Body)
	}
	if a.Took < 1500*time.Millisecond || a.Took > 5*time.Second {
		t.Errorf("it took %v", a.Took)
	}
}
