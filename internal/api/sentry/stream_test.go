package sentry_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// staged are the answers of the demo whose modules are decided in this order. At
// the last stage the first of them is lost.
type staged struct {
	sentry.Lookups
	known  []symbolicate.Module
	stages [][]int32
	losing int // a frame
}

func (s *staged) Next() (modules []int32, more bool) {
	modules, s.stages = s.stages[0], s.stages[1:]
	return slices.Clone(modules), len(s.stages) > 0
}

func (s *staged) Frames(i int) ([]sym.Frame, error) {
	if i == s.losing {
		s.known[0].Found, s.known[0].Report.Fault = false, fault.New(fault.Timeout, "", "it is lost")
		return nil, nil
	}
	return s.Lookups.Frames(i)
}

// linesOf are the lines of an answer, in short.
func linesOf(t *testing.T, f http.Handler, body string) []string {
	t.Helper()
	r := httptest.NewRequest("POST", "/symbolicate", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	var out []string
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		out = append(out, short(t, lines.Bytes()))
	}
	return out
}

// endless are the answers of the demo up to a frame that is one too many.
type endless struct {
	sentry.Lookups
	last int
	why  error
}

func (l *endless) Frames(i int) ([]sym.Frame, error) {
	if i >= l.last {
		return nil, l.why
	}
	return l.Lookups.Frames(i)
}

// TestIncompleteLinesBreakTheConnection has an answer end in the middle of a line: it
// is cut off, and the status told; if a part of it is out, the connection ends.
func TestIncompleteLinesBreakTheConnection(t *testing.T) {
	for _, c := range []struct {
		frames, last int
		why          error
		want         []string
	}{
		{10, 5, symbolicate.ErrTooManyFrames, []string{"stack 0 [{symbolicated}]", "failed"}},
		{10, 5, context.DeadlineExceeded, []string{"stack 0 [{symbolicated}]", "timeout"}},
		{3000, 2990, symbolicate.ErrTooManyFrames, nil},
		{3000, 2990, context.DeadlineExceeded, nil},
	} {
		f, _ := door(t, sentry.Config{}, sentry.Deps{}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
			known, look, err := demo().run(ctx, req)
			return known, &endless{look, c.last, c.why}, err
		})
		frames := strings.Repeat(`{"instruction_addr":"0x11000"},`, c.frames)
		body := `{"stacktraces":[{"frames":[{"instruction_addr":"0x11000"}]},{"frames":[` + frames[:len(frames)-1] + `]}],
"modules":[{"type":"elf","code_id":"aa01","image_addr":"0x10000","image_size":65536}]}`
		got, broken := []string(nil), any(nil)
		func() {
			defer func() { broken = recover() }()
			got = linesOf(t, f, body)
		}()
		if !slices.Equal(got, c.want) || (broken == http.ErrAbortHandler) != (c.want == nil) {
			t.Errorf("%d of %d frames, %v: %v, got %q, want %q", c.last, c.frames, c.why, broken, got, c.want)
		}
	}
}

// TestLinesDoNotWaitForLinks has a server of source files that answers when the
// client has the line before.
func TestLinesDoNotWaitForLinks(t *testing.T) {
	read := make(chan struct{})
	deps := sentry.Deps{Fetch: func(context.Context, string, map[string]bin.Secret, bool) ([]byte, error) {
		select {
		case <-read:
			return []byte("one\ntwo\n"), nil
		case <-time.After(time.Minute):
			return nil, fault.New(fault.Timeout, "", "the line before was not read")
		}
	}}
	f, _ := door(t, sentry.Config{}, deps, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		known, look, err := demo().run(ctx, req)
		return known, &staged{look, known, [][]int32{{0}, {1}}, -1}, err
	})
	server := httptest.NewServer(f)
	defer server.Close()
	const body = `{"stacktraces":[{"frames":[{"instruction_addr":"0x11000"}]},{"frames":[{"instruction_addr":"0x50000"}]},{"frames":[{"instruction_addr":"0x14000"}]}],
"modules":[{"type":"elf","code_id":"aa01","image_addr":"0x10000","image_size":65536},{"type":"pe","image_addr":"0x50000","image_size":65536}]}`
	r, err := http.NewRequest("POST", server.URL+"/symbolicate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	if !lines.Scan() || short(t, lines.Bytes()) != "stack 0 [{symbolicated}]" {
		t.Fatalf("the first line is %s", lines.Text())
	}
	close(read)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"context_line":"two"`) {
		t.Errorf("the second line is %s", lines.Text())
	}
}

func short(t *testing.T, text []byte) string {
	t.Helper()
	var line struct {
		Type, Status string
		Index        int
		Stacktrace   struct{ Frames []struct{ Status string } }
		Module       struct {
			Status string `json:"debug_status"`
		}
	}
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	switch line.Type {
	case "stacktrace":
		return fmt.Sprint("stack ", line.Index, " ", line.Stacktrace.Frames)
	case "module":
		return fmt.Sprint("module ", line.Index, " ", line.Module.Status)
	}
	return line.Status
}

// TestLinesFollowTheModules has modules that are decided one after the other. A
// stack trace comes with the last of its modules, and one that is lost after
// its line has another line.
func TestLinesFollowTheModules(t *testing.T) {
	const body = `{"stacktraces":[{"frames":[{"instruction_addr":"0x11000"}]},{"frames":[{"instruction_addr":"0x11000"},{"instruction_addr":"0x50000"}]},{"frames":[]},
{"frames":[{"instruction_addr":"0x30000"}]},{"frames":[{"instruction_addr":"0x11000"}]}],
"modules":[{"type":"elf","code_id":"aa01","image_addr":"0x10000","image_size":65536},{"type":"pe","image_addr":"0x50000","image_size":65536},{"type":"pe"}]}`
	const quick = "{symbolicated}"
	for _, c := range []struct {
		stages [][]int32
		losing int
		want   []string
	}{
		{[][]int32{{0, 1, 2}}, -1, []string{"stack 0 [" + quick + "]", "stack 1 [" + quick + " {missing}]", "stack 2 []", "stack 3 [{unknown_image}]",
			"stack 4 [" + quick + "]", "module 0 found", "module 1 missing", "module 2 unused", "completed"}},
		{[][]int32{nil, {0}, {1, 2}}, -1, []string{"stack 2 []", "stack 3 [{unknown_image}]", "stack 0 [" + quick + "]", "stack 4 [" + quick + "]",
			"module 0 found", "stack 1 [" + quick + " {missing}]", "module 1 missing", "module 2 unused", "completed"}},
		{[][]int32{{2}, {0}, {1}, nil}, 1, []string{"stack 2 []", "stack 3 [{unknown_image}]", "module 2 unused", "stack 0 [" + quick + "]", "stack 4 [" + quick + "]",
			"module 0 found", "stack 1 [{missing} {missing}]", "module 1 missing", "module 0 timeout", "completed"}},
	} {
		f, _ := door(t, sentry.Config{}, sentry.Deps{}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
			known, look, err := demo().run(ctx, req)
			return known, &staged{look, known, c.stages, c.losing}, err
		})
		if got := linesOf(t, f, body); !slices.Equal(got, c.want) {
			t.Errorf("%v\ngot  %q\nwant %q", c.stages, got, c.want)
		}
	}
}
