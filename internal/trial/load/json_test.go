package load_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/trial"
)

// places are requests with a place for any value: of one of its members, or of an
// unknown one.
var places = map[string]string{
	"whole":     "%",
	"jobs":      `{"jobs":%}`,
	"job":       `{"jobs":[%]}`,
	"stacks":    `{"memoryMap":[],"stacks":%}`,
	"stack":     `{"memoryMap":[],"stacks":[%]}`,
	"frame":     `{"memoryMap":[],"stacks":[[%]]}`,
	"index":     `{"memoryMap":[],"stacks":[[[%,1]]]}`,
	"offset":    `{"memoryMap":[],"stacks":[[[0,%]]]}`,
	"third":     `{"memoryMap":[],"stacks":[[[0,1,%]]]}`,
	"memoryMap": `{"memoryMap":%,"stacks":[]}`,
	"module":    `{"memoryMap":[%],"stacks":[]}`,
	"name":      `{"memoryMap":[[%,"0"]],"stacks":[]}`,
	"id":        `{"memoryMap":[["a",%]],"stacks":[]}`,
	"extension": `{"extensions":%,"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]]}`,
	"debug":     `{"debug":%,"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]]}`,
	"version":   `{"version":%,"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]]}`,
	"unknown":   `{"x":%,"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]]}`,
	"in a job":  `{"jobs":[{"x":%,"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]]}]}`,
	"after":     `{"memoryMap":[],"stacks":[]}%`,
}

// refused demands that a body is refused by 400, in time that grows with its length and without much
// memory, and that the server is as well as before.
func refused(t *testing.T, c *client, name string, body []byte, headers ...string) {
	t.Helper()
	status, took, err := c.post(bytes.NewReader(body), nil, headers...)
	if status != http.StatusBadRequest || err != nil {
		t.Errorf("%s: %d, %v", name, status, err)
	}
	if took > 30*time.Second {
		t.Errorf("%s: refused after %v", name, took)
	}
}

// bare starts a server without sources, for bodies that are about to be
// refused, and demands that none of them has cost much memory.
func bare(t *testing.T) *client {
	t.Helper()
	s := trial.Start(t, trial.Options{Set: []string{"log.level=error", "mozilla.v4_profile=tecken"}})
	t.Cleanup(func() {
		if _, peak := s.Memory(); peak > 150<<20 && !trial.Race() {
			t.Errorf("the memory was %d MiB at most", peak>>20)
		}
	})
	return newClient(t, s)
}

func TestDeepBodiesAreRefusedQuickly(t *testing.T) {
	c := bare(t)
	const levels = 1_000_000
	for what, deep := range map[string]string{
		"arrays":          strings.Repeat("[", levels) + strings.Repeat("]", levels),
		"arrays, open":    strings.Repeat("[", levels),
		"objects":         strings.Repeat(`{"a":`, levels) + "0" + strings.Repeat("}", levels),
		"objects, named":  strings.Repeat(`{"stacks":`, levels/2),
		"both":            strings.Repeat(`[{"jobs":`, levels/2) + "0" + strings.Repeat("}]", levels/2),
		"arrays, wide":    strings.Repeat("[0,", levels),
		"closed too much": strings.Repeat("]", levels),
	} {
		for place, around := range places {
			refused(t, c, what+" as "+place, []byte(strings.Replace(around, "%", deep, 1)))
		}
	}
	for _, place := range []string{"extension", "debug", "version", "unknown", "in a job"} { // where a value of any kind may stand
		body := strings.Replace(places[place], "%", strings.Repeat("[", 1000)+strings.Repeat("]", 1000), 1)
		if status, _, err := c.post(strings.NewReader(body), nil); status != http.StatusOK || err != nil {
			t.Errorf("a thousand levels as %s: %d, %v", place, status, err)
		}
	}
	v4 := *c
	v4.url = strings.Replace(c.url, "v5", "v4", 1)
	refused(t, &v4, "v4", []byte(`{"memoryMap":[],"stacks":[],"version":4,"x":`+strings.Repeat("[", levels)+"}"))
}

func TestRepeatedMembersCostLittle(t *testing.T) {
	c := bare(t)
	one := `"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]],`
	body := "{" + strings.Repeat(one, 500_000) + strings.TrimSuffix(one, ",") + "}"
	n := 0
	if status, took, err := c.post(strings.NewReader(body), countFrames(&n)); status != http.StatusOK || err != nil || n != 1 || took > 10*time.Second {
		t.Errorf("%d, %v, %d frames after %v; the last member counts", status, err, n, took)
	}
	jobs := `{"jobs":[` + one[:len(one)-1] + `],` + strings.Repeat(`"jobs":[{`+one[:len(one)-1]+`}],`, 300_000) + `"jobs":[]}`
	refused(t, c, "jobs that are not objects, then valid ones, then none", []byte(jobs))
}

func TestHugeNumbersAreNoAddresses(t *testing.T) {
	c := bare(t)
	for _, number := range []string{
		"1e999999999", "-1e999999999", "1E+400", "0.1", "-0.0", strings.Repeat("9", 4301), strings.Repeat("9", 1_000_000), "-" + strings.Repeat("9", 30<<20),
		"1e" + strings.Repeat("9", 1_000_000), "0." + strings.Repeat("0", 1_000_000) + "1", strings.Repeat("0", 1_000_000), "1" + strings.Repeat("_1", 10), "0x10", "NaN", "Infinity",
	} {
		for _, place := range []string{"index", "offset"} {
			refused(t, c, fmt.Sprintf("%.20s as %s", number, place), []byte(strings.Replace(places[place], "%", number, 1)))
		}
	}
	for _, number := range []string{"18446744073709551615", "18446744073709551616", strings.Repeat("9", 4300), "9223372036854775808"} {
		n := 0
		body := `{"memoryMap":[["a.so","0"]],"stacks":[[[0,` + number + `]]]}`
		if status, _, err := c.post(strings.NewReader(body), countFrames(&n)); status != http.StatusOK || n != 1 || err != nil {
			t.Errorf("%.30s is an offset: %d, %v, %d frames", number, status, err, n)
		}
	}
}

// A body of as much as is allowed, most of it nothing, is read to its end; one
// byte more is not.
func TestBodiesOfNothing(t *testing.T) {
	c := bare(t)
	const most = 64 << 20
	small := `{"memoryMap":[["a.so","0"]],"stacks":[[[0,1]]]}`
	n := 0
	blanks := strings.Repeat(" ", most/4) + strings.Repeat("\n", most/4) + strings.Repeat("\t", most/4) + strings.Repeat("\r", most/4)
	body := blanks[len(small):] + small
	status, took, err := c.post(strings.NewReader(body), countFrames(&n))
	if status != http.StatusOK || n != 1 || err != nil || took > 30*time.Second {
		t.Errorf("64 MiB with blanks: %d, %v, %d frames after %v", status, err, n, took)
	}
	status, _, _ = c.post(strings.NewReader(body+" "), nil) // the connection may be closed before all is sent
	if status != http.StatusRequestEntityTooLarge && status != 0 {
		t.Errorf("a byte more: %d", status)
	}
	refused(t, c, "blanks alone", bytes.Repeat([]byte(" "), most))
	refused(t, c, "a text without an end", append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), most-10)...))
	refused(t, c, "escapes without an end", append([]byte(`{"x":"`), bytes.Repeat([]byte(`\u0041`), most/6-10)...))
	refused(t, c, "a name without an end", append([]byte(`{"`), bytes.Repeat([]byte("x"), most-10)...))
}

func TestPackedBombsAreRefusedQuickly(t *testing.T) {
	c := bare(t)
	var gz, zs bytes.Buffer
	for _, pack := range []struct {
		open func(io.Writer) (io.WriteCloser, error)
		into *bytes.Buffer
	}{
		{func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) }, &gz},
		{func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }, &zs},
	} {
		w, err := pack.open(pack.into)
		if err != nil {
			t.Fatal(err)
		}
		blanks := bytes.Repeat([]byte(" "), 1<<20)
		for range 256 {
			if _, err := w.Write(blanks); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, bomb := range map[string]struct {
		coding string
		body   []byte
	}{
		"gzip": {"gzip", gz.Bytes()}, "zstd": {"zstd", zs.Bytes()},
		"many members": {"gzip", bytes.Repeat(trial.Gzipped(nil), 1_000_000)},
		"twice packed": {"gzip", trial.Gzipped(gz.Bytes())},
	} {
		start := time.Now()
		status, _, err := c.post(bytes.NewReader(bomb.body), nil, "Content-Encoding", bomb.coding)
		t.Logf("%s of %d KiB: %d after %v", name, len(bomb.body)>>10, status, time.Since(start))
		want := http.StatusRequestEntityTooLarge
		if name == "twice packed" {
			want = http.StatusBadRequest // it is unpacked once
		}
		if status != want || err != nil || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %d, %v after %v; want %d", name, status, err, time.Since(start), want)
		}
	}
}
