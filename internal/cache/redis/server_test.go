//go:build unix

package redis_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/cache/redis"
	"symbolon/internal/cache/redistest"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

// server is a redis-server of the test.
type server struct {
	*redistest.Server
	t    testing.TB
	args []string
}

// start starts a server with the arguments of its command line, such as
// "--maxmemory".
func start(t testing.TB, args ...string) *server {
	t.Helper()
	all := append([]string{"--save", "", "--maxmemory", "200mb", "--maxmemory-policy", "allkeys-lru"}, args...)
	return &server{redistest.Start(t, all...), t, args}
}

func (s *server) url() string { return "redis://" + s.Addr() }

// ask sends a command as another client, and returns the answer as text.
func (s *server) ask(args ...string) string {
	s.t.Helper()
	var c rueidis.Client
	waittest.Until(s.t, "the server takes a client", func() (ok bool) {
		var err error
		c, err = rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Addr()}, Password: s.password(), ForceSingleClient: true, DisableCache: true})
		return err == nil
	})
	defer c.Close()
	m, err := c.Do(context.Background(), c.B().Arbitrary(args...).Build()).ToMessage()
	if err != nil && !rueidis.IsRedisNil(err) {
		s.t.Fatalf("%v: %v", args, err)
	}
	if list, err := m.AsStrSlice(); err == nil {
		return strings.Join(list, "\n")
	}
	if n, err := m.AsInt64(); err == nil {
		return itoa(int(n))
	}
	text, err := m.ToString()
	if err != nil && !m.IsNil() {
		s.t.Fatalf("%v: %v", args, err)
	}
	return text
}

// keys are the keys in the server that glob matches.
func (s *server) keys(glob string) []string {
	return strings.Fields(s.ask("KEYS", glob))
}

// node is a store with the disk that its spools are on.
type node struct {
	*redis.Store
	disk *disk.Store
	log  *waittest.Log
}

// open makes a node that is connected.
func open(t testing.TB, cfg redis.Config) *node {
	t.Helper()
	n := openAnyway(t, cfg)
	key := cache.KeyOf("is it connected?")
	waittest.Until(t, "the node is connected", func() bool {
		n.Remember(context.Background(), cache.Meta, key, fault.New(fault.Denied, "", ""), time.Minute)
		_, err := n.Get(context.Background(), cache.Meta, key)
		return err != nil
	})
	n.Forget(context.Background(), cache.Meta, key)
	return n
}

// openAnyway makes a node that may still be connecting.
func openAnyway(t testing.TB, cfg redis.Config) *node {
	t.Helper()
	n := &node{log: &waittest.Log{}}
	log := slog.New(slog.NewTextHandler(n.log, nil))
	var err error
	if n.disk, err = disk.Open(disk.Config{}, t.TempDir(), time.Now, log); err != nil {
		t.Fatal(err)
	}
	if n.Store, err = redis.Open(cfg, func() (cache.Spool, error) { return n.disk.Temp() }, time.Now, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Store.Close()
		if held := n.disk.Stat().Held; held != 0 {
			t.Errorf("%d bytes of spools are left", held)
		}
		if err := n.disk.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// patient is a configuration for tests that are not about time: the machine
// may be busy with other tests.
func patient(s *server) redis.Config {
	return redis.Config{URL: bin.NewSecret(s.url()), Timeout: 500 * time.Millisecond}
}

// unhurried is the configuration for a Redis that always answers, on a machine
// that may be busy.
func unhurried(s *server) redis.Config {
	return redis.Config{URL: bin.NewSecret(s.url()), Timeout: 20 * time.Second}
}

// noise is n bytes that do not compress.
func noise(n int, seed int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), 1}).Read(b)
	return b
}

// text is n bytes that compress like a table does, to a half.
func text(n int, seed int) []byte {
	b := noise(n, seed)
	for i := range b {
		b[i] = 'a' + b[i]&15
	}
	return b
}

var quiet = slog.New(slog.DiscardHandler)

func itoa(n int) string { return strconv.Itoa(n) }

func (s *server) password() string {
	for i, arg := range s.args {
		if arg == "--requirepass" {
			return s.args[i+1]
		}
	}
	return ""
}
