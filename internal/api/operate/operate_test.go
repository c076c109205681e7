package operate_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/operate"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

func TestOnlyModulesWithIDsAreForgotten(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	forgotten := 0
	access := api.NewAccess(api.AccessConfig{}, token.NewRing(nil, mem.New(), time.Now, log), nil)
	d := operate.New(operate.Deps{Grant: access.Grant, Log: log, Forget: func(context.Context, ident.Module) error {
		forgotten++
		return nil
	}})
	f := api.New(api.Config{}, api.Options{Log: log, Now: time.Now}, d.Routes())
	const id = `"debug_id":"6d1f0a5c-3b2e-4f71-8c9d-0e1f2a3b4c5d-1"`
	for body, want := range map[string]int{
		`{"modules":[{` + id + `}]}`: 1, `{"modules":[{` + id + `},{"code_id":"dfb85de4"}]}`: 2, `{"modules":[]}`: 0,
		`{` + id + `}`: -1, `{}`: -1, `null`: -1, `{"modules":null}`: -1, `{"modules":[{}]}`: -1, `{"modules":[{` + id + `},{"type":"elf"}]}`: -1,
	} {
		forgotten = 0
		r := httptest.NewRequest("POST", "http://localhost/api/forget", strings.NewReader(body))
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		refused := w.Code == 400 && strings.Contains(w.Body.String(), "must be {\\\"modules\\\": [")
		if refused != (want < 0) || !refused && w.Code != 200 || forgotten != max(want, 0) {
			t.Errorf("%s: got %d %s, forgotten %d", body, w.Code, w.Body, forgotten)
		}
	}
}
