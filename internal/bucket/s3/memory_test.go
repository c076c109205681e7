package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"

	"symbolon/internal/bucket"
)

func TestALargeUploadTakesTheMemoryOfItsParts(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		switch r.Method {
		case http.MethodPost:
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
		case http.MethodPut:
			w.Header().Set("ETag", fmt.Sprint(n))
		}
	})
	b := open(t, config(s.URL, ""))
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := allocated()
	if _, err := b.Put(t.Context(), "k", io.LimitReader(zeros{}, 64<<20), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	// It takes a part or two. The race detector has pools lose some of what they hold.
	if took := allocated() - before; took > 64<<20 {
		t.Errorf("an upload of 64 MB allocated %d MB", took>>20)
	}
}
