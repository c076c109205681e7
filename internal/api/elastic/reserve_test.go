package elastic_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/elastic"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/waittest"
)

func TestMemoryIsReservedBeforeAPartIsRead(t *testing.T) {
	const mib = 1 << 20
	small, large := fixture.NewSymbfile(), fixture.NewSymbfile()
	for range 1000 {
		small.Table("the string of a table with one string")
	}
	large.Table(string(make([]byte, mib-100)))
	giant := fixture.NewSymbfile().Table("a").Table(string(make([]byte, 6*mib)))
	endless := append([]byte("symbfile"), bytes.Repeat([]byte{0xff}, 30)...)
	for name, c := range map[string]struct {
		part    []byte
		several bool
		want    int64 // the last reservation; zero: none was made
		before  int   // bytes that were read before it, at most
	}{
		"small messages":        {small.Bytes(), false, 0, 0},
		"of several":            {small.Bytes(), true, 0, 0},
		"a large one":           {large.Bytes(), false, 4*mib + 18*mib, 20},
		"a giant":               {giant.Bytes(), false, 96 * mib, 30},
		"zstd":                  {append([]byte("\x28\xb5\x2f\xfd"), 1, 2, 3), false, 96 * mib, 4},
		"cut":                   {small.Bytes()[:20], false, 0, 0},
		"cut, and goes on":      {small.Bytes()[:20], true, 96 * mib, 20},
		"a head that is cut":    {small.Bytes()[:9], true, 96 * mib, 9},
		"the middle of a file":  {small.Bytes()[30:], true, 96 * mib, len(small.Bytes())},
		"a magic that is short": {[]byte("symb"), true, 96 * mib, 4},
		"no number":             {endless, false, 96 * mib, 20},
		"nothing":               {nil, true, 0, 0},
	} {
		for how, src := range map[string]io.Reader{"at once": bytes.NewReader(c.part), "by byte": iotest.OneByteReader(bytes.NewReader(c.part)), "with the end": iotest.DataErrReader(bytes.NewReader(c.part))} {
			var out bytes.Buffer
			got, at := int64(0), 0
			scale := elastic.NewReserver(src, c.several, func(n int64) error {
				if n < got {
					t.Errorf("%s %s: %d after %d", name, how, n, got)
				}
				if got < n {
					got, at = n, out.Len()
				}
				return nil
			})
			_, err := io.Copy(struct{ io.Writer }{&out}, scale)
			if err != nil || !bytes.Equal(out.Bytes(), c.part) || got != c.want || at > c.before {
				t.Errorf("%s %s: %d reserved, after %d of %d bytes, want %d: %v", name, how, got, at, out.Len(), c.want, err)
			}
		}
	}
	full := errors.New("full")
	scale := elastic.NewReserver(bytes.NewReader(giant.Bytes()), false, func(int64) error { return full })
	if n, err := io.Copy(io.Discard, scale); err != full || n != 0 {
		t.Errorf("%d bytes read without a reservation, %v", n, err)
	}
}

// Clients that send large parts of small messages slowly are received side by side.
func TestSlowUploadsDoNotFillTheMemory(t *testing.T) { synctest.Test(t, slowUploadsDoNotFillTheMemory) }

func slowUploadsDoNotFillTheMemory(t *testing.T) {
	routes, _, _ := routes(t, elastic.Config{}, mem.New())
	front := api.New(api.Config{}, api.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Memory: 64 << 20}, routes)
	server, ln := &http.Server{Handler: front}, waittest.Listen()
	go server.Serve(ln)
	defer server.Close()
	part := symb(t, func(w *symbfile.Writer) (err error) {
		for i := 0; i < 50_000 && err == nil; i++ {
			err = w.Range(&symbfile.Range{VA: uint64(i) * 16, Length: 16, Func: fmt.Append(nil, "a function with a name ", i)})
		}
		return err
	})
	begin, conns := len(part)/10, []net.Conn{}
	for i := range 6 {
		conn, err := ln.DialContext(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /api/symbols-ranges HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey %s\r\nFileID: %032x\r\nContent-Length: %d\r\n\r\n%s", key, i+1, len(part), part[:begin])
		conns = append(conns, conn)
	}
	synctest.Wait()
	for i, conn := range slices.Backward(conns) { // who came first is done last
		_, err := conn.Write(part[begin:])
		if err == nil {
			_, err = http.ReadResponse(bufio.NewReader(conn), nil)
		}
		if err != nil {
			t.Errorf("%d of %d bytes: %v", i, len(part), err)
		}
	}
}
