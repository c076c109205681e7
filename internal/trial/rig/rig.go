// Package rig puts the layers from sources to tables together, for tests of each of
// them. Everything ends with its test.
package rig

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
	"symbolon/internal/table"
)

// ID is the debug id of every Module.
const ID = "0123456789ABCDEF0123456789ABCDEF0"

// Module returns a module with the ID and a name.
func Module(name string) ident.Module {
	id, err := ident.ParseDebugID(ID)
	if err != nil {
		panic(err)
	}
	return ident.Module{DebugFile: name, DebugID: id, DebugIDText: ID}
}

// Clock is a clock that tests advance.
type Clock struct{ ahead atomic.Int64 }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Advance advances the clock.
func (c *Clock) Advance(by time.Duration) { c.ahead.Add(int64(by)) }

// Web returns sources of servers, with a configuration. Without an ID there they are
// s1, s2 and so on.
func Web(t testing.TB, cfg source.Config, urls ...string) []source.Source {
	t.Helper()
	client := web.NewClient(web.Config{MaxTries: 1}, time.Now, slog.New(slog.DiscardHandler))
	t.Cleanup(client.Close)
	var sources []source.Source
	for i, url := range urls {
		one := cfg
		one.ID, one.Type, one.URL = cmp.Or(cfg.ID, fmt.Sprint("s", i+1)), source.HTTP, source.NewURL(url)
		s, err := web.New(client, one)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	return sources
}

// Options configure Layers.
type Options struct {
	Dir     string           // of the cache; empty: a new one
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: none
	Sources []source.Source
	Memory  *bin.Budget
	Locate  locate.Config
	Table   table.Config
}

// Layers is a locator over sources and a disk cache, and its tables.
type Layers struct {
	Store   *disk.Store
	Locator *locate.Locator
	Tables  *table.Tables
	Close   func() // ends them before the end of the test
}

// Open returns new Layers.
func Open(t testing.TB, o Options) *Layers {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	store, err := disk.Open(disk.Config{}, o.Dir, o.Now, o.Log)
	if err != nil {
		t.Fatal(err)
	}
	l := &Layers{Store: store}
	l.Locator = locate.New(o.Locate, locate.Deps{
		Sources: o.Sources, Tier: store, Spool: func() (cache.Spool, error) { return store.Temp() }, Memory: o.Memory, Now: o.Now, Log: o.Log,
	})
	l.Tables = table.New(o.Table, table.Deps{Locator: l.Locator, Tier: store, Now: o.Now, Log: o.Log})
	l.Close = sync.OnceFunc(func() {
		l.Tables.Close()
		l.Locator.Close()
		store.Close()
	})
	t.Cleanup(l.Close)
	return l
}
