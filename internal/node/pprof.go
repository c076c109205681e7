package node

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"
)

// maxStacks bounds the text of all stacks.
const maxStacks = 16 << 20

// serveProfile serves profiles of the process under the names of net/http/pprof, which
// would add 440 KB to the binary: "profile" takes samples for ?seconds=30, "heap" has
// the memory, both for "go tool pprof"; "goroutine" has all stacks as text.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	switch r.PathValue("name") {
	case "profile":
		seconds, err := strconv.Atoi(cmp.Or(r.FormValue("seconds"), "30"))
		if err == nil {
			err = pprof.StartCPUProfile(w)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
		defer cancel()
		<-ctx.Done()
		pprof.StopCPUProfile()
	case "heap":
		_ = pprof.WriteHeapProfile(w) // the client may be gone
	case "goroutine":
		text := make([]byte, maxStacks)
		_, _ = w.Write(text[:runtime.Stack(text, true)])
	default:
		http.Error(w, "unknown profile: must be profile, heap or goroutine", http.StatusNotFound)
	}
}
