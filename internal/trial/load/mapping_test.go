//go:build !race

package load_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
)

// largeMapping is a mapping of nearly as many lines as one may have.
func largeMapping(size int) []byte {
	b := append(make([]byte, 0, size+64), `{"/a.cpp":{"/a.cs":{"5":7`...)
	for file := 0; len(b) < size; file++ {
		b = append(b, `}},"/`...)
		b = strconv.AppendInt(b, int64(file), 10)
		b = append(b, `.cpp":{"/a.cs":{"0":0`...)
		for line := 1; line < 1_000_000 && len(b) < size; line++ {
			b = append(b, `,"`...)
			b = strconv.AppendInt(b, int64(line), 10)
			b = append(b, `":1234`...)
		}
	}
	return append(b, "}}}"...)
}

// TestLargeMappingsStayWithinTheCeiling has requests at the same time for modules that
// all have a mapping of the largest size.
func TestLargeMappingsStayWithinTheCeiling(t *testing.T) {
	skipIfShort(t)
	const requests, modules, most = 3, 2, 260 << 20
	mapping := largeMapping(63 << 20)
	up := trial.NewUpstream(t)
	up.Do("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.ReplaceAll(strings.TrimPrefix(r.URL.Path[:strings.LastIndexByte(r.URL.Path, '/')], "/"), "/", "")
		switch {
		case strings.HasSuffix(r.URL.Path, "/breakpad"):
			fmt.Fprintf(w, "MODULE Mac x86_64 %s0 a\nFILE 0 /a.cpp\nFUNC 1000 10 0 f\n1000 10 5 0\n", strings.ToUpper(id))
		case strings.HasSuffix(r.URL.Path, "/il2cpp"):
			_, _ = w.Write(mapping) // who gives up closes the connection
		default:
			http.NotFound(w, r)
		}
	}))
	s := trial.Start(t, trial.Options{
		Config: "sources: [{id: a, type: http, url: '" + up.URL + "', layout: {type: unified}}]\n", Set: []string{"memory=256MiB", "log.level=warn"},
	})
	idle, _ := s.Memory()
	start := time.Now()
	parallel(requests, func(k int) {
		var mods, frames []string
		for m := range modules {
			mods = append(mods, fmt.Sprintf(`{"type":"macho","debug_id":"%08x-0000-0000-0000-000000000001","image_addr":"%#x","image_size":65536}`, k*modules+m+1, (m+1)<<20))
			frames = append(frames, fmt.Sprintf(`{"instruction_addr":"%#x"}`, (m+1)<<20+0x1004))
		}
		body := `{"stacktraces":[{"frames":[` + strings.Join(frames, ",") + `]}],"modules":[` + strings.Join(mods, ",") + `]}`
		resp, err := http.Post(s.URL+"/symbolicate", "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if n := strings.Count(string(text), `"abs_path":"/a.cs","lineno":7`); err != nil || n != modules {
			t.Errorf("%d of %d modules are mapped, %v: %.600s", n, modules, err, text)
		}
	})
	now, peak := s.Memory()
	t.Logf("%d mappings of %d MB after %v: %d MiB idle, %d MiB now, %d MiB at most", requests*modules, len(mapping)/1e6, time.Since(start), idle>>20, now>>20, peak>>20)
	if peak > most {
		t.Errorf("it took %d MiB", peak>>20)
	}
}
