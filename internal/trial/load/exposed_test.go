package load_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// listening are the addresses at which a process listens, TCP and UDP, of both
// versions of IP.
func listening(t *testing.T, s *trial.Server) (all []string) {
	t.Helper()
	own := map[string]bool{} // sockets by inode
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.PID()))
	if err != nil || len(links) == 0 {
		t.Skip("open sockets are read from /proc, which only Linux has")
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			own[strings.Trim(strings.TrimPrefix(to, "socket:"), "[]")] = true
		}
	}
	for kind, state := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", s.PID(), kind))
		if err != nil {
			continue // a machine without IPv6
		}
		for _, line := range strings.Split(string(table), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != state || !own[f[9]] {
				continue
			}
			all = append(all, kind+" "+address(t, f[1]))
		}
	}
	return all
}

// address reads one of /proc/net: words in the order of the machine, in hex,
// and the port.
func address(t *testing.T, text string) string {
	host, _, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}

// defaultAddress is the address of a server without --listen.
const defaultAddress = "127.0.0.1:3021"

func TestNothingListensBeyondLoopback(t *testing.T) {
	opt := trial.Options{}
	if l, err := net.Listen("tcp", defaultAddress); err == nil { // it is free
		l.Close()
		opt.Shell = `shift 3; set -- serve "$@"` // without the --listen of this test
	}
	s := trial.Start(t, opt)
	if opt.Shell != "" && s.URL != "http://"+defaultAddress {
		t.Errorf("it is reached at %s", s.URL)
	}
	if got := listening(t, s); !slices.Equal(got, []string{"tcp 127.0.0.1"}) {
		t.Errorf("it listens at %v", got)
	}
	out, errs, _ := s.Run("config", "print")
	if !strings.Contains(out, defaultAddress) {
		t.Errorf("the default is another address: %s %s", out, errs)
	}
}

// Clients of the port may read and change nothing: changes need the control
// socket, which belongs to the user of the server.
func TestNothingIsChangedByHTTP(t *testing.T) {
	sym := trial.NewSym(1, 100)
	up := trial.NewUpstream(t)
	up.Do(sym.Path(), sym)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	if wrong := s.Ask(sym, 7); wrong != "" {
		t.Fatal(wrong)
	}
	waittest.Until(t, "the table is built", func() bool { return s.Metric("table_builds_total") == 1 })
	stat := func() string {
		out, errs, code := s.Run("cache", "ls", "--json", "--data", s.Data)
		if code != 0 || !strings.Contains(out, "symcache") {
			t.Fatalf("cache ls: %s %s", out, errs)
		}
		return out
	}
	before := stat()
	for _, path := range []string{
		"/api/forget", "/api/purge", "/api/upload", "/cache", "/explain", "/prefetch", "/config", "/reload", "/shutdown", "/quit",
		"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", sym.Path(), "/", "/metrics", "/healthz", "/symbolicate/v5", "/symbolicate/v4", "/__broken__",
	} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "MKCOL", "MOVE", "PROPFIND", "CONNECT", "TRACE"} {
			if method == "POST" && (strings.HasPrefix(path, "/symbolicate/") || path == "/api/forget") {
				continue // a question, and what has a test of its own
			}
			r, err := http.NewRequest(method, s.URL+path, strings.NewReader(`{"Verb":"purge","All":true}`))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Errorf("%s %s: %v", method, path, err)
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, resp.StatusCode)
			}
		}
	}
	if status, _ := s.Get("/debug/pprof/"); status != http.StatusNotFound {
		t.Errorf("profiles are served: %d", status)
	}
	if after := stat(); after != before {
		t.Errorf("the cache was\n%s\nand is\n%s", before, after)
	}
	info, err := os.Stat(filepath.Join(s.Data, "control.sock"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("the control socket: %v, %v", info.Mode(), err)
	}
}
