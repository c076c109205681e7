package table_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/table"
	"symbolon/internal/unwind/rule"
)

// TestAnswersStayFreshUnderForgetAndRenew has several clients ask for modules
// while their files change, disappear and are forgotten. The clock is that of
// synctest, so lifetimes of days pass at once and the same seed has the same
// events.
func TestAnswersStayFreshUnderForgetAndRenew(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { askWhileFilesChange(t, seed) })
		})
	}
}

const (
	clients = 6
	steps   = 60 // of each client
)

func askWhileFilesChange(t *testing.T, seed uint64) {
	c, tier := openChangingFiles(t, seed)
	c.files.steady.Store(false)
	var wg sync.WaitGroup
	for client := range uint64(clients) {
		wg.Go(func() {
			c := &freshnessClient{t, c.files, c.loc, c.tables, rand.New(rand.NewPCG(seed, client+1))}
			for range steps {
				c.step()
			}
		})
	}
	wg.Wait()
	c.files.steady.Store(true)
	time.Sleep(49 * time.Hour)
	for _, f := range c.files.list {
		c.ask(f, locate.SymFirst, time.Hour)
		sleepTo(2*time.Hour, askAt) // the answer may have been a stale one, and has been renewed
		c.files.expectCurrent(f, c.ask(f, locate.SymFirst, time.Hour))
	}
	time.Sleep(time.Hour) // until all tables are built
	c.tables.Clear()
	if blobs, spools := tier.blobs.Load(), tier.spools.Load(); blobs != 0 || spools != 0 {
		t.Errorf("%d blobs and %d spools are open after all users released them", blobs, spools)
	}
}

// openChangingFiles returns a client of tables in a bubble of synctest, whose files
// do not change by themselves.
func openChangingFiles(t *testing.T, seed uint64) (*freshnessClient, *leakyTier) {
	files := &changingFiles{t: t, rand: rand.New(rand.NewPCG(seed, 0))}
	files.steady.Store(true)
	for i := range 3 {
		files.list = append(files.list, &changingFile{
			name: fmt.Sprint("m", i), there: []bool{true},
			vanishes: i == 2, active: map[fetchID]int{}, failures: map[bool]failure{},
		})
	}
	tier, log := &leakyTier{entries: map[tierKey]tierEntry{}, steady: &files.steady}, slog.New(slog.DiscardHandler)
	loc := locate.New(locate.Config{KeepOriginals: []string{"none", "all"}[seed%2]}, locate.Deps{
		Sources: []source.Source{files}, Tier: tier, Spool: tier.spool, Now: time.Now, Log: log,
	})
	t.Cleanup(loc.Close)
	tables := table.New(table.Config{}, table.Deps{Locator: loc, Tier: tier, Now: time.Now, Log: log, Memory: bin.NewBudget(1 << 30)})
	t.Cleanup(tables.Close)
	return &freshnessClient{t, files, loc, tables, files.rand}, tier
}

// Events of different kinds happen at different nanoseconds of a microsecond,
// and all waits are whole microseconds. So it is clear which came first.
const (
	askAt = iota
	forgetAt
	changeAt
)

// sleepTo sleeps about as long, until a nanosecond of a microsecond.
func sleepTo(wait time.Duration, nanosecond time.Duration) {
	end := time.Now().Add(wait).Truncate(time.Microsecond).Add(time.Microsecond + nanosecond)
	time.Sleep(time.Until(end))
}

type freshnessClient struct {
	t      *testing.T
	files  *changingFiles
	loc    *locate.Locator
	tables *table.Tables
	rand   *rand.Rand
}

func (c *freshnessClient) step() {
	f := c.files.list[c.rand.IntN(len(c.files.list))]
	purpose := locate.SymFirst
	if !f.vanishes { // tables of each purpose remember failures of their own
		purpose = []locate.Purpose{locate.SymFirst, locate.Debug, locate.Unwind}[c.rand.IntN(3)]
	}
	wait := time.Duration(c.rand.Int64N(int64(20 * time.Minute)))
	if c.rand.IntN(4) > 0 {
		wait /= 1000 // about as long as a fetch
	}
	switch n := c.rand.IntN(20); {
	case n < 9:
		sleepTo(wait, askAt)
		c.ask(f, purpose, []time.Duration{time.Millisecond, time.Hour}[c.rand.IntN(2)])
	case n == 9:
		sleepTo(wait, askAt)
		_, _ = c.tables.Prefetch(c.t.Context(), f.module())
	case n < 12:
		sleepTo(wait, askAt)
		c.read(f)
	case n < 15:
		sleepTo(wait, changeAt)
		c.files.change(f, c.rand.IntN(3) > 0)
	default: // as one who uploads a file does
		sleepTo(wait, changeAt)
		c.files.change(f, c.rand.IntN(3) > 0)
		sleepTo(0, forgetAt)
		c.files.noteForget(f)
		if err := c.loc.Invalidate(c.t.Context(), f.module()); err != nil {
			c.t.Error(err)
		}
		c.files.endForget(f)
		sleepTo(0, askAt)
		c.ask(f, purpose, time.Hour)
	}
}

// ask returns the version of the answer, or -1 if the deadline passed.
func (c *freshnessClient) ask(f *changingFile, purpose locate.Purpose, timeout time.Duration) int {
	began, oldest := time.Now(), c.files.oldest(f)
	ctx, cancel := context.WithTimeout(c.t.Context(), timeout)
	defer cancel()
	ask := c.names
	if purpose == locate.Unwind {
		ask = c.rules
	}
	version, report, found := ask(ctx, f, purpose)
	if found {
		c.files.expectAnswer(f, version, oldest)
		return version
	}
	if report.Late {
		return -1
	}
	for _, tried := range report.Tried {
		var asked int64
		if tried.Fault == nil || tried.Location == "" {
			continue
		}
		if _, err := fmt.Sscanf(tried.Fault.Detail, "version %d at %d", &version, &asked); err != nil {
			c.t.Fatalf("%s: %v", f.name, tried.Fault)
		}
		if end := time.Unix(0, asked).Add(lifeOf(tried.Fault.Kind)); !end.After(began) {
			c.t.Errorf("%s: got a failure that expired %v before", f.name, began.Sub(end))
		}
	}
	if version < oldest {
		c.t.Errorf("%s: got failure %d of before a forget, want %d or later", f.name, version, oldest)
	}
	return version
}

// names returns the version in the name of the function.
func (c *freshnessClient) names(ctx context.Context, f *changingFile, purpose locate.Purpose) (version int, report table.Report, found bool) {
	h, report, known := c.tables.Ready(f.module(), purpose)
	if h == nil && !known {
		h, report = c.tables.Symbols(ctx, f.module(), purpose)
	}
	if h == nil {
		return -1, report, false
	}
	defer h.Close()
	frames := h.Lookup(nil, 0x1000)
	if len(frames) != 1 {
		c.t.Fatalf("%s: got %d frames, want 1", f.name, len(frames))
	}
	return versionOf(c.t, []byte(text(h, frames[0].Func))), report, true
}

// rules returns the version in the unwind information.
func (c *freshnessClient) rules(ctx context.Context, f *changingFile, _ locate.Purpose) (version int, report table.Report, found bool) {
	r, report := c.tables.Unwind(ctx, f.module())
	if r == nil {
		return -1, report, false
	}
	defer r.Close()
	cpu := rule.For(ident.ArchX86_64)
	var callee rule.Registers
	callee.Set(cpu.SP, 0x8000)
	caller, outcome, why := r.Row(0x1000).Eval(cpu, &callee, stack{}, false, rule.Windows{})
	if outcome != rule.Found {
		c.t.Fatalf("%s: %s: %s", f.name, outcome, why)
	}
	return int(caller.CFA - 0x8000), report, true
}

// read opens the file itself, as one does who downloads it.
func (c *freshnessClient) read(f *changingFile) {
	oldest := c.files.oldest(f)
	found, _, err := c.loc.Best(c.t.Context(), f.module(), locate.SymFirst)
	if err != nil {
		return
	}
	defer found.Close()
	if f.vanishes {
		return // a failure of File is the caller's to remember
	}
	obj, _, err := found.File(c.t.Context())
	if err != nil {
		c.t.Error(err)
		return
	}
	c.files.expectAnswer(f, versionOf(c.t, obj.AppendText(nil, obj.Lookup(nil, 0x1000)[0].Func)), oldest)
}

func versionOf(t *testing.T, function []byte) (version int) {
	if _, err := fmt.Sscanf(string(function), "version_%d", &version); err != nil {
		t.Error(err)
	}
	return version
}

func lifeOf(k fault.Kind) time.Duration {
	if k == fault.Transport {
		return time.Minute
	}
	return time.Hour
}

// changingFiles is a source whose files change, and which checks how it is used.
type changingFiles struct {
	t      *testing.T
	list   []*changingFile
	steady atomic.Bool // the server does not fail, and the tier loses nothing
	mu     sync.Mutex
	rand   *rand.Rand
}

// changingFile is one file. Its versions are numbered, and contain their number.
type changingFile struct {
	name     string
	there    []bool // by version: whether the file is there
	vanishes bool
	fetches  int

	forgets   int // begun so far
	forgotten time.Time
	valid     int // the version at the last forget that ended
	active    map[fetchID]int
	failures  map[bool]failure // the last one, by whether the fetch was conditional
}

// failure is a fetch that failed, and when the next one may begin.
type failure struct{ began, until time.Time }

// fetchID names fetches that must not run at the same time.
type fetchID struct {
	conditional bool
	forgets     int
}

func (f *changingFile) module() ident.Module {
	return ident.Module{DebugFile: f.name, DebugID: ident.NewDebugID([16]byte{f.name[1]}, 0)}
}

func (s *changingFiles) change(f *changingFile, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.there = append(f.there, there || !f.vanishes)
}

func (s *changingFiles) noteForget(f *changingFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.forgets++
	f.forgotten = time.Now()
}

func (s *changingFiles) endForget(f *changingFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.valid = len(f.there) - 1
}

func (s *changingFiles) oldest(f *changingFile) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.valid
}

// expectAnswer checks that a version is not older than a forget, unless the file
// was not there since then: a table answers until there is another file.
func (s *changingFiles) expectAnswer(f *changingFile, version, oldest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := oldest; version < oldest && i < len(f.there); i++ {
		if !f.there[i] {
			return
		}
	}
	if version < oldest {
		s.t.Errorf("%s: got version %d of before a forget, want %d or later", f.name, version, oldest)
	}
}

func (s *changingFiles) expectCurrent(f *changingFile, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(f.there) - 1; f.there[last] && version != last {
		s.t.Errorf("%s: got version %d after all lifetimes, want %d", f.name, version, last)
	}
}

func (s *changingFiles) ID() string       { return "s" }
func (s *changingFiles) Identity() string { return "changing" }

func (s *changingFiles) Candidates(_ context.Context, m ident.Module, kinds []string) ([]source.Candidate, error) {
	for _, kind := range kinds {
		if kind == source.Breakpad {
			return []source.Candidate{{Source: "s", Kind: kind, Location: "/" + m.DebugFile, Key: m.DebugFile, Path: m.DebugFile}}, nil
		}
	}
	return nil, nil
}

func (s *changingFiles) Fetch(_ context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	f := s.list[c.Path[1]-'0']
	began := time.Now()
	s.mu.Lock()
	fetch := fetchID{c.Validator != "", f.forgets}
	f.fetches++
	if f.active[fetch]++; f.active[fetch] > 1 {
		s.t.Errorf("%s: %d fetches at the same time (conditional: %v)", f.name, f.active[fetch], fetch.conditional)
	}
	// A lookup in progress at a forget is repeated, with a failure of seconds after it.
	last := f.failures[fetch.conditional]
	if began.Before(last.until) && f.forgotten.Add(time.Minute).Before(last.began) {
		s.t.Errorf("%s: fetched %v before its failure expires (conditional: %v)", f.name, last.until.Sub(began), fetch.conditional)
	}
	version := len(f.there) - 1
	there, broken := f.there[version], f.vanishes && !s.steady.Load() && s.rand.IntN(4) == 0
	wait := time.Duration(s.rand.Int64N(int64(3*time.Second))) / time.Duration([]int{1, 10_000}[s.rand.IntN(2)])
	if broken { // an answer of before may stay
		f.there = append(f.there, false, there)
	}
	s.mu.Unlock()
	sleepTo(wait, askAt)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.active[fetch]--
	delete(f.failures, fetch.conditional)
	kind := fault.NotFound
	switch {
	case broken:
		kind = fault.Transport
	case there && c.Validator == fmt.Sprint(version):
		return source.Attempt{Same: true, Validator: c.Validator}, nil
	case there:
		_, err := io.WriteString(w, "MODULE Linux x86_64 "+f.module().DebugID.Breakpad()+" "+f.name+"\nFUNC 1000 10 0 version_"+fmt.Sprint(version)+
			"\nSTACK CFI INIT 1000 10 .cfa: $rsp "+fmt.Sprint(version)+" + .ra: .cfa ^\n")
		return source.Attempt{Validator: fmt.Sprint(version)}, err
	}
	until := began.Add(lifeOf(kind))
	if fetch.conditional { // the file that is known is used for ten more minutes
		until = began.Add(10 * time.Minute)
	}
	f.failures[fetch.conditional] = failure{began, until}
	return source.Attempt{}, fault.New(kind, "", "version %d at %d", version, began.UnixNano())
}

// leakyTier is a tier in memory that counts open blobs and spools, and loses
// entries now and then.
type leakyTier struct {
	blobs, spools atomic.Int64
	mu            sync.Mutex
	entries       map[tierKey]tierEntry
	puts          int
	steady        *atomic.Bool
}

type tierKey struct {
	kind cache.Kind
	key  cache.Key
}

type tierEntry struct {
	content []byte
	fault   *fault.Error
	until   time.Time
}

func (t *leakyTier) Get(_ context.Context, kind cache.Kind, key cache.Key) (cache.Blob, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[tierKey{kind, key}]
	switch {
	case e.fault != nil && e.until.After(time.Now()):
		return nil, cache.Remembered(e.fault, e.until)
	case !ok || e.fault != nil:
		return nil, nil
	}
	return t.open(e.content), nil
}

// open returns a blob or spool that is counted until it is closed.
func (t *leakyTier) open(content []byte) cache.Blob {
	t.blobs.Add(1)
	return &countedBlob{bin.Bytes(content), sync.OnceFunc(func() { t.blobs.Add(-1) })}
}

func (t *leakyTier) Put(_ context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	var content bytes.Buffer
	if err := fill(&content); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries[tierKey{kind, key}] = tierEntry{content: content.Bytes()}
	// A lost meta may have replaced a failure, which then is not remembered.
	vanishes := kind == cache.Meta && bytes.Contains(content.Bytes(), []byte(`"m2"`))
	if t.puts++; t.puts%3 == 0 && !vanishes && !t.steady.Load() {
		delete(t.entries, tierKey{kind, key})
	}
	return t.open(content.Bytes()), nil
}

func (t *leakyTier) Remember(_ context.Context, kind cache.Kind, key cache.Key, f *fault.Error, life time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries[tierKey{kind, key}] = tierEntry{fault: f, until: time.Now().Add(life)}
}

func (t *leakyTier) Forget(_ context.Context, kind cache.Kind, key cache.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.entries, tierKey{kind, key})
}

func (t *leakyTier) spool() (cache.Spool, error) {
	t.spools.Add(1)
	return &countedSpool{close: sync.OnceFunc(func() { t.spools.Add(-1) })}, nil
}

type countedBlob struct {
	bin.Source
	close func()
}

func (b *countedBlob) Close() error { b.close(); return nil }

type countedSpool struct {
	content []byte
	close   func()
}

func (s *countedSpool) Write(p []byte) (int, error) {
	s.content = append(s.content, p...)
	return len(p), nil
}
func (s *countedSpool) Size() int64  { return int64(len(s.content)) }
func (s *countedSpool) Close() error { s.close(); return nil }
func (s *countedSpool) ReadAt(p []byte, off int64) (int, error) {
	return bin.Bytes(s.content).ReadAt(p, off)
}

// tables returns the number of stored tables.
func (t *leakyTier) tables() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k := range t.entries {
		if k.kind == cache.Symcache {
			n++
		}
	}
	return n
}
