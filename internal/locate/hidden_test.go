package locate_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/trial/rig"
)

var (
	hidingUUID   = [16]byte([]byte("0123456789abcdef"))
	hidingModule = ident.Module{Type: ident.TypeMachO, DebugID: ident.NewDebugID(hidingUUID, 0), DebugFile: "App"}
)

// hiding is a file with a hidden name.
func hiding() []byte {
	return fixture.NewMachO(fixture.MachOARM64, 0, fixture.MachODSYM).UUID(hidingUUID).
		Segment("__TEXT", 0x1000, 0x1000, fixture.MachOSection{Name: "__text", Addr: 0x1100, Size: 0x100, Flags: fixture.MachOCode}).
		Symbol("__hidden#1_", 0x0f, 1, 0, 0x1100).Symtab().Bytes()
}

// hiddenName is what the hidden name is found to be, and whether names were found.
func hiddenName(t *testing.T, l *locate.Locator) (name string, names bool) {
	t.Helper()
	found, trail, err := l.Best(t.Context(), hidingModule, locate.Debug)
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
	return name, found.Aux() != [32]byte{}
}

// Names that Apple's store has hidden come from the sources, under the UUID that
// a property list tells, and change what is made of the file. They may come late.
func TestHiddenNamesComeFromTheSources(t *testing.T) {
	file := hiding()
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
	var c rig.Clock
	l := locateIn(t, locate.Config{}, &c, rig.Web(t, source.Config{Layout: source.Layout{Type: source.Unified}}, up.URL))
	find := func() (name string, names bool) {
		t.Helper()
		return hiddenName(t, l)
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
	c.Advance(2 * time.Hour)
	for range 2 {
		if name, names := find(); name != "symbol" || !names {
			t.Errorf("with the names it is %q, %v", name, names)
		}
	}
}

// A public file is one for all scopes, and names belong to the lookup: those that only
// one of them may see are not in the answers of others.
func TestPrivateNamesAreForTheirScope(t *testing.T) {
	over := func(id, suffix string, text []byte, public bool) source.Source {
		up := serve(t, nil)
		up.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, suffix) {
				http.NotFound(w, r)
				return
			}
			w.Write(text)
		})
		return rig.Web(t, source.Config{ID: id, IsPublic: public, Layout: source.Layout{Type: source.Unified}}, up.URL)[0]
	}
	for _, public := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} { // the file, the names
		var c rig.Clock
		sources := []source.Source{
			over("file", "/debuginfo", hiding(), public[0]),
			over("names", "/bcsymbolmap", []byte("BCSymbolMap Version: 2.0\nzero\n_symbol\n"), public[1]),
		}
		l := locateIn(t, locate.Config{}, &c, nil)
		for range 2 { // then from what is remembered
			if name, names := hiddenName(t, l.With("one", sources)); !names || name != "symbol" {
				t.Errorf("file and names public %v: %q, %v", public, name, names)
			}
			if name, names := hiddenName(t, l.With("another", sources[:1])); names || name == "symbol" {
				t.Errorf("file and names public %v: a scope without the names sees %q", public, name)
			}
		}
	}
}
