package locate_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// Names that Apple's store has hidden come from the sources, under the UUID that
// a property list tells, and change what is made of the file. They may come late.
func TestHiddenNamesComeFromTheSources(t *testing.T) {
	uuid := [16]byte([]byte("0123456789abcdef"))
	file := fixture.NewMachO(fixture.MachOARM64, 0, fixture.MachODSYM).UUID(uuid).
		Segment("__TEXT", 0x1000, 0x1000, fixture.MachOSection{Name: "__text", Addr: 0x1100, Size: 0x100, Flags: fixture.MachOCode}).
		Symbol("__hidden#1_", 0x0f, 1, 0, 0x1100).Symtab().Bytes()
	const original = "44444444555566667777888888888888"
	var mu sync.Mutex
	asked, there := map[string]int{}, false
	up := serve(t, nil)
	up.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch {
		case strings.HasSuffix(r.URL.Path, "6566/debuginfo"):
			w.Write(file)
		case there && strings.HasSuffix(r.URL.Path, "/uuidmap"):
			fmt.Fprint(w, `<plist><dict><key>DBGOriginalUUID</key><string>44444444-5555-6666-7777-888888888888</string></dict></plist>`)
		case there && r.URL.Path == "/"+original[:2]+"/"+original[2:]+"/bcsymbolmap":
			fmt.Fprint(w, "BCSymbolMap Version: 2.0\nzero\n_symbol\n")
		default:
			http.NotFound(w, r)
		}
	})
	client, err := web.NewClient(web.Config{MaxTries: 1}, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := web.New(client, source.Config{ID: "s", Type: source.HTTP, URL: source.NewURL(up.URL), Layout: source.Layout{Type: source.Unified}})
	if err != nil {
		t.Fatal(err)
	}
	var c clock
	l := locateIn(t, locate.Config{}, &c, []source.Source{s})
	m := ident.Module{Type: ident.TypeMachO, DebugID: ident.NewDebugID(uuid, 0), DebugFile: "App"}
	find := func() (name string, names bool) {
		t.Helper()
		found, trail, err := l.Best(t.Context(), m, locate.Debug)
		if err != nil {
			t.Fatal(err, trail)
		}
		defer found.Close()
		obj, _, err := found.File(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f := obj.Lookup(nil, 0x100); len(f) == 1 {
			name = string(obj.AppendText(nil, f[0].Func))
		}
		return name, found.Names != [32]byte{}
	}
	for range 2 {
		if name, names := find(); name != "__hidden#1_" && name != "_hidden#1_" || names {
			t.Errorf("without the names it is %q, %v", name, names)
		}
	}
	mu.Lock()
	for path, n := range asked {
		if strings.HasSuffix(path, "map") && n != 1 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	there = true
	mu.Unlock()
	c.offset.Add(int64(2 * time.Hour))
	for range 2 {
		if name, names := find(); name != "symbol" || !names {
			t.Errorf("with the names it is %q, %v", name, names)
		}
	}
}
