package profiler_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/profiler"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// FuzzRequest sends any body to both paths of a door without modules: the answer is an
// error in JSON.
func FuzzRequest(f *testing.F) {
	missing := fault.New(fault.NotFound, "secret place", "no source has the file")
	d := profiler.New(profiler.Config{Enabled: true}, profiler.Deps{
		Log:   slog.New(slog.DiscardHandler),
		Grant: func(*http.Request) (*token.Grant, error) { return &token.Grant{}, nil },
		Run: func(_ context.Context, _ *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
			return nil, missing
		},
		Code: func(context.Context, *token.Grant, ident.Module) (*locate.Found, error) { return nil, missing },
	})
	front := api.New(api.Config{}, api.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}, d.Routes())
	// As the Firefox Profiler sends them.
	f.Add(`{"debugName":"heron","debugId":"304DFA51AB752B33DE963D91A41F5DB70","moduleOffset":"0x1178","file":"/home/you/heron.c"}`)
	f.Add(`{"debugName":"heron","debugId":"304DFA51AB752B33DE963D91A41F5DB70","name":"heron","codeId":"51fa4d3075ab332bde963d91a41f5db7","startAddress":"0x1170","size":"0x37","continueUntilFunctionEnd":false}`)
	f.Add(`{"debugId":"304DFA51AB752B33DE963D91A41F5DB70","startAddress":"0xffffffffffffffff","size":"0xffffffffffffffff","continueUntilFunctionEnd":true}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/source/v1", "/asm/v1"} {
			w := httptest.NewRecorder()
			front.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
			var got struct{ Error, Title string }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Error == "" || got.Error != got.Title || strings.Contains(got.Error, missing.Place) {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
			if w.Code != http.StatusOK && w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
