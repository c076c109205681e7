//go:build unix

package redis_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/cache/redis"
	"symbolon/internal/cache/redistest"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/proctest"
	"symbolon/internal/waittest"
)

// TestMain makes a certificate that this process trusts.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "redis-test")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		certify(dir)
		os.Setenv("SSL_CERT_FILE", filepath.Join(dir, "cert.pem"))
		certificates = dir
		waittest.Parallel()
		return m.Run()
	}())
}

var certificates string // the folder of cert.pem and key.pem

func certify(dir string) {
	cert, key := fixture.Certificate("redis of a test")
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			panic(err)
		}
	}
}

// works tests that an entry, a fault and a lease go to the server and back.
func works(t *testing.T, n *node) {
	t.Helper()
	body := text(1<<20, 1)
	cachetest.Put(t, n, cache.Symcache, keyA, body)
	if !bytes.Equal(cachetest.Get(t, n, cache.Symcache, keyA), body) {
		t.Errorf("the entry is not there; the log is\n%v", n.log)
	}
	n.Remember(t.Context(), cache.Meta, keyA, fault.New(fault.Denied, "", "no"), time.Hour)
	if _, err := n.Get(t.Context(), cache.Meta, keyA); fault.KindOf(err) != fault.Denied || cache.Expires(err).IsZero() {
		t.Errorf("the fault is not there: %v", err)
	}
	n.Forget(t.Context(), cache.Meta, keyA)
	if _, err := n.Get(t.Context(), cache.Meta, keyA); err != nil {
		t.Errorf("the fault is still there: %v", err)
	}
	for range 2 {
		release, ok := n.Acquire(t.Context(), keyA)
		if !ok {
			t.Error("a free lease was not acquired")
		}
		if _, ok := n.Acquire(t.Context(), keyA); ok {
			t.Error("a lease was acquired twice")
		}
		release()
	}
	if n.log.Count("level=") != 0 {
		t.Errorf("the log is\n%v", n.log)
	}
}

// rights are the ones that the documentation lists.
var rights = []string{"+get", "+set", "+del", "+pttl", "+eval", "+pexpire"}

func TestAUserWithFewRights(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ask(append([]string{"ACL", "SETUSER", "symbolon", "on", ">s3cret/@", "~symbolon:*"}, rights...)...)
	cfg := patient(s)
	cfg.URL = bin.NewSecret("redis://symbolon:s3cret%2F%40@" + s.Addr())
	works(t, open(t, cfg))

	cfg.URL = bin.NewSecret("redis://symbolon:canary@" + s.Addr())
	wrong := openAnyway(t, cfg)
	wrong.log.Await(t, "WRONGPASS")
	if cachetest.Get(t, wrong, cache.Symcache, keyA) != nil || wrong.log.Count("canary") != 0 {
		t.Errorf("the log is\n%v", wrong.log)
	}
	cfg.URL, cfg.Prefix = bin.NewSecret("redis://symbolon:s3cret%2F%40@"+s.Addr()), "theirs:"
	openAnyway(t, cfg).log.Await(t, "NOPERM")
}

func TestAnotherDatabaseAndPrefix(t *testing.T) {
	t.Parallel()
	s := start(t)
	cfg := patient(s)
	works(t, open(t, cfg))
	cfg.URL = bin.NewSecret(cfg.URL.Reveal() + "/7")
	if n := open(t, cfg); cachetest.Get(t, n, cache.Symcache, keyA) != nil {
		t.Error("a database has the entry of another one")
	}
	cfg = patient(s)
	cfg.Prefix = "theirs:"
	if n := open(t, cfg); cachetest.Get(t, n, cache.Symcache, keyA) != nil {
		t.Error("a prefix has the entry of another one")
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	at := func(name string) string { return filepath.Join(certificates, name) }
	help, _ := exec.Command(proctest.Program(t, "redis-server"), "--tls-port", "0", "--port", "0", "--tls-cert-file", "/nonexistent").CombinedOutput()
	if strings.Contains(string(help), "Bad directive") {
		if os.Getenv("CI") == "true" {
			t.Fatal("this redis-server has no TLS")
		}
		t.Skip("this redis-server has no TLS")
	}
	port := proctest.FreePort(t)
	start(t, "--tls-port", itoa(port), "--tls-cert-file", at("cert.pem"), "--tls-key-file", at("key.pem"), "--tls-auth-clients", "no")
	n := open(t, redis.Config{URL: bin.NewSecret(fmt.Sprintf("rediss://127.0.0.1:%d", port)), Timeout: 500 * time.Millisecond})
	works(t, n)
	openAnyway(t, redis.Config{URL: bin.NewSecret(fmt.Sprintf("rediss://localhost:%d", port))}).log.Await(t, "certificate is not valid for")
	openAnyway(t, redis.Config{URL: bin.NewSecret(fmt.Sprintf("redis://127.0.0.1:%d", port))}).log.Await(t, "redis unavailable")
}

func TestTLSToAPortWithoutItIsReported(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := openAnyway(t, redis.Config{URL: bin.NewSecret("rediss://" + s.Addr())})
	n.log.Await(t, "a port without TLS needs redis://")
}

func TestSentinelsLeadToTheNewMaster(t *testing.T) {
	t.Parallel()
	s := start(t, "--requirepass", "s3cret", "--repl-diskless-sync-delay", "0")
	standby := start(t, "--requirepass", "s3cret", "--masterauth", "s3cret", "--replicaof", "127.0.0.1 "+itoa(s.Port()))
	waittest.Until(t, "the replica follows", func() bool { return strings.Contains(standby.ask("INFO", "replication"), "master_link_status:up") })
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	lines := fmt.Sprintf("sentinel monitor ours 127.0.0.1 %d 1\nsentinel auth-pass ours s3cret\nsentinel down-after-milliseconds ours 300\n", s.Port())
	if err := os.WriteFile(conf, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	watch := &server{redistest.Start(t, conf, "--sentinel"), t, nil}
	cfg := patient(s)
	cfg.URL = bin.NewSecret(fmt.Sprintf("redis://:s3cret@%s?master_set=ours", watch.Addr()))
	n := open(t, cfg)
	works(t, n)
	waittest.Until(t, "the sentinel knows the replica", func() bool {
		return strings.Contains(watch.ask("INFO", "sentinel"), "slaves=1")
	})
	s.Kill()
	waittest.Until(t, "the replica is used", func() bool {
		cachetest.Put(t, n, cache.Meta, keyB, []byte("x"))
		return cachetest.Get(t, n, cache.Meta, keyB) != nil
	})
}

func TestCluster(t *testing.T) {
	t.Parallel()
	var nodes []*server
	for range 3 {
		s := start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
		nodes = append(nodes, s)
	}
	for i, s := range nodes {
		s.ask("CLUSTER", "ADDSLOTSRANGE", itoa(i*16384/3), itoa((i+1)*16384/3-1))
		s.ask("CLUSTER", "SET-CONFIG-EPOCH", itoa(i+1))
		s.ask("CLUSTER", "MEET", "127.0.0.1", itoa(nodes[0].Port()))
	}
	for _, s := range nodes {
		waittest.Until(t, "the cluster is well", func() bool {
			info := s.ask("CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	for _, s := range nodes {
		s.ask(append([]string{"ACL", "SETUSER", "symbolon", "on", ">s3cret/@", "~symbolon:*", "+cluster|slots"}, rights...)...)
	}
	cfg := patient(nodes[0])
	cfg.URL = bin.NewSecret(fmt.Sprintf("redis://symbolon:s3cret%%2F%%40@%s?addr=%s", nodes[1].Addr(), nodes[2].Addr()))
	n := open(t, cfg)
	works(t, n)
	for _, s := range nodes {
		if len(s.keys("*")) == 0 {
			t.Error("a node of the cluster has nothing")
		}
	}
}
