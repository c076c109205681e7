package symbolicate_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
)

// A source, a cache, a locator, its tables, and the engine over them.
func ExampleEngine() {
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	files := mem.New()
	_, err := files.Put(ctx, "kettle/0F1E2D3C4B5A69788796A5B4C3D2E1F00/kettle.sym", strings.NewReader(
		"MODULE Linux x86_64 0F1E2D3C4B5A69788796A5B4C3D2E1F00 kettle\nFUNC 1000 20 0 boil\n"), bucket.Attrs{})
	check(err)
	from, err := tree.New(source.Config{ID: "files", Type: source.Filesystem, Path: "."}, files, source.NewDecoder(bin.Limit{}, nil), time.Now)
	check(err)

	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	store, err := disk.Open(disk.Config{}, dir, time.Now, log)
	check(err)
	defer store.Close()
	locator := locate.New(locate.Config{}, locate.Deps{
		Sources: []source.Source{from}, Tier: store, Spool: func() (cache.Spool, error) { return store.Temp() }, Now: time.Now, Log: log,
	})
	defer locator.Close()
	tables := table.New(table.Config{}, table.Deps{Locator: locator, Tier: store, Now: time.Now, Log: log})
	defer tables.Close()

	id, err := ident.ParseDebugID("0F1E2D3C4B5A69788796A5B4C3D2E1F00")
	check(err)
	result, err := symbolicate.New(symbolicate.Config{}, tables, time.Now).Run(ctx, &symbolicate.Request{
		Modules: []ident.Module{{DebugFile: "kettle", DebugID: id}},
		Frames:  []symbolicate.Frame{{Module: 0, Addr: 0x1008}, {Module: 0, Addr: 0x9000}},
	})
	check(err)
	defer result.Release()
	for i := range 2 {
		frames, err := result.Frames(i)
		check(err)
		for _, frame := range frames {
			name, _ := result.AppendText(nil, 0, frame.Func)
			fmt.Printf("%d: %s\n", i, name)
		}
	}
	// Output: 0: boil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
