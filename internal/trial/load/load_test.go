// Package load_test puts a server under the kinds of load that clients can make: many
// requests, large ones, slow ones, idle connections. Meanwhile other clients must be
// answered in time, and the memory of the process must stay within its bound.
package load_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) {
	waittest.Parallel()
	os.Exit(trial.Main(m))
}

// templates is a symbol file of the shape that compilers of C++ make: long
// names of templates, calls inlined two deep, many lines. Each function takes
// about 460 bytes of it.
type templates struct {
	trial.Module
	funcs int
}

func newTemplates(n, funcs int) templates {
	return templates{trial.Module{File: fmt.Sprintf("libtemplates%d.so", n), ID: fmt.Sprintf("%032X0", 0xABC0000+n)}, funcs}
}

func (f templates) path() string { return "/" + f.File + "/" + f.ID + "/" + f.File + ".sym" }

const span = 0x80 // of a function

func (f templates) offset(i int) uint64 { return 0x1000 + uint64(i)*span + 0x35 }

// name is what a linker calls function i; tail tells it from all others.
func (f templates) name(i int) string {
	kinds := [...]string{"vector", "deque", "map", "optional", "tuple", "function", "shared_ptr"}
	return fmt.Sprintf("std::__1::%s<project::module%d::Class%d<int, std::__1::allocator<char> >, std::__1::less<void> >::operator()(unsigned long, project::Request<%d> const&) const %d",
		kinds[i%len(kinds)], i%251, i%4099, i%17, i)
}

func (f templates) ServeHTTP(w http.ResponseWriter, _ *http.Request) { f.writeTo(w) }

func (f templates) writeTo(w io.Writer) {
	out := bufio.NewWriterSize(w, 256<<10)
	fmt.Fprintf(out, "MODULE Linux x86_64 %s %s\n", f.ID, f.File)
	const files = 2000
	var b []byte
	origins := f.funcs/5 + 2
	for i := range files {
		fmt.Fprintf(out, "FILE %d /builds/worker/checkouts/project/source/module%d/detail/file%d.h\n", i, i%251, i)
	}
	for i := range origins {
		fmt.Fprintf(out, "INLINE_ORIGIN %d std::__1::__detail::helper%d<project::Class%d, 0ul>::apply(int)\n", i, i, i%4099)
	}
	for i := range f.funcs {
		at := 0x1000 + i*span
		fmt.Fprintf(out, "FUNC %x %x 0 %s\n", at, span, f.name(i))
		for k := range 4 {
			fmt.Fprintf(out, "INLINE 0 %d %d %d %x 18\nINLINE 1 %d %d %d %x 8\n",
				i%900+1, i%files, (i+k)%origins, at+0x20*k+8, i%800+1, i*7%files, (i+5*k+1)%origins, at+0x20*k+0x10)
		}
		for k := range 16 {
			b = strconv.AppendInt(b[:0], int64(at+8*k), 16)
			b = strconv.AppendInt(append(b, " 8 "...), int64((i+k)%3000+1), 10)
			b = strconv.AppendInt(append(b, ' '), int64((i*3+k)%files), 10)
			_, _ = out.Write(append(b, '\n')) // the other side may have left
		}
	}
	_ = out.Flush()
}

// serveTemplates starts a symbol server that has these.
func serveTemplates(t *testing.T, all ...templates) *trial.Upstream {
	t.Helper()
	up := trial.NewUpstream(t)
	for _, f := range all {
		up.Do(f.path(), f)
	}
	return up
}

// stack is a request for n functions of one module, those from first on in
// steps of a prime.
func (f templates) stack(first, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"memoryMap":[["%s","%s"]],"stacks":[[`, f.File, f.ID)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[0,%d]", f.offset((first+i*7919)%f.funcs))
	}
	b.WriteString("]]}")
	return b.String()
}

// client is many clients of a server, each with a connection of its own.
type client struct {
	*http.Client
	url string
}

func newClient(t *testing.T, s *trial.Server) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{&http.Client{Transport: transport, Timeout: 50 * time.Second}, s.URL + "/symbolicate/v5"}
}

// post sends a body and hands what comes to use, or throws it away.
func (c *client) post(body io.Reader, use func(io.Reader) error, headers ...string) (status int, took time.Duration, err error) {
	r, err := http.NewRequest(http.MethodPost, c.url, body)
	if err != nil {
		return 0, 0, err
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	start := time.Now()
	resp, err := c.Do(r)
	if err != nil {
		return 0, time.Since(start), err
	}
	defer resp.Body.Close()
	if use == nil {
		use = func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }
	}
	err = use(resp.Body)
	return resp.StatusCode, time.Since(start), err
}

// asking makes requests one after another until stop is closed, or n of them,
// with a pause between them, and returns how long each took. Each must be
// answered by 200.
func (c *client) asking(t *testing.T, n int, pause time.Duration, stop <-chan struct{}, body func(i int) string) (all times) {
	t.Helper()
	for i := range n {
		select {
		case <-stop:
			return all
		case <-time.After(pause):
		}
		status, took, err := c.post(strings.NewReader(body(i)), nil)
		if err != nil || status != http.StatusOK {
			t.Errorf("request %d: %d, %v, after %v", i, status, err, took)
			return all
		}
		all = append(all, took)
	}
	return all
}

// times are how long requests took.
type times []time.Duration

// at is the time that a part of the requests did not take longer than.
func (l times) at(part float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[int(part*float64(len(sorted)-1))]
}

func (l times) String() string {
	return fmt.Sprintf("%d requests, p50 %v, p90 %v, p99 %v, most %v", len(l), l.at(0.5), l.at(0.9), l.at(0.99), l.at(1))
}

// notDelayed demands that requests took about as long as in quiet times. It
// looks at the slowest tenth, and leaves a busy machine some room.
func notDelayed(t *testing.T, quiet, now times) {
	t.Helper()
	t.Logf("quiet: %v; now: %v", quiet, now)
	slack := 60 * time.Millisecond
	if trial.Race() {
		slack = time.Second
	}
	if most := 3*quiet.at(0.9) + slack; len(now) == 0 || now.at(0.9) > most {
		t.Errorf("one in ten took more than %v; %v at most were expected", now.at(0.9), most)
	}
}

// parallel runs do n times at once.
func parallel(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// answer checks, as it passes, that an answer is JSON and counts the frames in
// it. A frame is an object at this depth of brackets; nothing larger than one
// is kept but what is around them.
type answer struct {
	depth  int
	frames int
	around bytes.Buffer
}

func (a *answer) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var frame []byte
	open, quoted, escaped := 0, false, false
	for {
		c, err := in.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		inside := open >= a.depth
		switch {
		case quoted:
			escaped, quoted = c == '\\' && !escaped, c != '"' || escaped
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			open++
		case c == '}' || c == ']':
			open--
		}
		if inside || open >= a.depth {
			frame = append(frame, c)
		} else {
			a.around.WriteByte(c)
		}
		if inside && open < a.depth {
			if !json.Valid(frame) {
				return fmt.Errorf("frame %d is not JSON: %.300s", a.frames, frame)
			}
			a.frames++
			frame = frame[:0]
			a.around.WriteByte('0')
		}
	}
	if !json.Valid(a.around.Bytes()) {
		return fmt.Errorf("the answer without its frames is not JSON: %.300s", a.around.Bytes())
	}
	return nil
}

// skipIfShort skips a test that takes seconds.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds, and -short was asked for")
	}
}

// countFrames only counts, which is quick.
func countFrames(n *int) func(io.Reader) error {
	return func(r io.Reader) error {
		mark, buf, kept := []byte(`"frame":`), make([]byte, 256<<10), 0
		for {
			k, err := r.Read(buf[kept:])
			*n += bytes.Count(buf[:kept+k], mark)
			if err != nil {
				if err == io.EOF {
					return nil
				}
				return err
			}
			kept = copy(buf, buf[max(0, kept+k-len(mark)+1):kept+k])
		}
	}
}
