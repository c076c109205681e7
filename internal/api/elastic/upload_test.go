package elastic_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"symbolon/internal/api/elastic"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/token"
)

// TestUploadInvalidatesTheModulesOfItsIds has a file published again without telling
// the build id under which it is known.
func TestUploadInvalidatesTheModulesOfItsIds(t *testing.T) {
	h, _, announced := door(t, elastic.Config{}, mem.New())
	for i, more := range [][]string{{"Symbolon-Build-ID", "0123456789abcdef0123"}, nil} {
		if w := ask(h, ranges(t, fmt.Sprint("f", i)), more...); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if m := (*announced)[i]; m.CodeID != "0123456789abcdef0123" {
			t.Errorf("upload %d: %+v", i, m)
		}
	}
}

func TestUploadsOfDifferentKeysAreSeparate(t *testing.T) {
	b := mem.New()
	other, _, err := token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler)).Add(t.Context(), token.Token{Grant: token.Key("other", token.Upload)})
	if err != nil {
		t.Fatal(err)
	}
	h, _, announced := door(t, elastic.Config{}, b)
	for k := range 2 {
		for i, header := range []string{"ApiKey " + key, "Bearer " + other} {
			w := ask(h, ranges(t, fmt.Sprint("f", k, i)), "FilePart", fmt.Sprint(k), "FileParts", "2", "Authorization", header)
			if w.Code != http.StatusOK {
				t.Errorf("part %d of key %d: %d %s", k, i, w.Code, w.Body)
			}
		}
	}
	if len(*announced) != 2 {
		t.Errorf("%d files are published", len(*announced))
	}
	if w := ask(h, ranges(t, "g"), "FileParts", "2", "Authorization", "apikey "+key); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(h, ranges(t, "h"), "FileParts", "2", "Authorization", "Bearer  "+key+"="); w.Code != http.StatusConflict {
		t.Errorf("the same key, written otherwise: %d %s", w.Code, w.Body)
	}
}
