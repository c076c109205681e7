package token_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/token"
)

func TestConcurrentChangesAreAllKept(t *testing.T) { buckettest.Each(t, changeConcurrently) }

func changeConcurrently(t *testing.T, b bucket.Bucket) {
	ring := func() *token.Ring {
		return token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
	}
	const nodes, each = 4, 6
	var all sync.WaitGroup
	for n := range nodes {
		all.Go(func() {
			r := ring()
			for i := range each {
				_, _, err := r.Add(t.Context(), token.Token{Grant: token.Key(fmt.Sprintf("stays %d.%d", n, i), token.Upload)})
				if err != nil {
					t.Error(err)
				}
				_, k, err := r.Add(t.Context(), token.Token{Grant: token.Key("goes", token.Upload)})
				if err == nil {
					err = r.Revoke(t.Context(), k.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, err := ring().List(t.Context())
	found := map[string]bool{}
	for _, k := range list {
		found[k.Name] = true
	}
	if err != nil {
		t.Error(err)
	}
	if len(list) != nodes*each {
		t.Errorf("%d keys, want %d", len(list), nodes*each)
	}
	if len(found) != nodes*each {
		t.Errorf("%d names, want %d", len(found), nodes*each)
	}
	if found["goes"] {
		t.Error("a revoked key is listed")
	}
}

func TestKeysOfAReplacedFolderAreRead(t *testing.T) {
	at := t.TempDir()
	folder, err := dir.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	node, other := token.NewRing(nil, folder, time.Now, slog.New(slog.DiscardHandler)), token.NewRing(nil, folder, time.Now, slog.New(slog.DiscardHandler))
	for i := range 5 {
		if _, _, err := node.Add(t.Context(), token.Token{Grant: token.Key(fmt.Sprint("old ", i), token.Upload)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		if err := folder.Delete(t.Context(), fmt.Sprint("keys/", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		if _, _, err := other.Add(t.Context(), token.Token{Grant: token.Key(fmt.Sprint("newer ", i), token.Upload)}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := node.List(t.Context()); err != nil || len(list) != 5 || list[0].Name != "newer 0" {
		t.Errorf("after other keys were created: %v, %v", list, err)
	}
}

// The keys of another folder may have the numbers of those that were read.
func TestKeysOfAnotherFolderWithTheSameNumbersAreRead(t *testing.T) {
	b := mem.New()
	add := func(name string) *token.Ring {
		r := token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
		if _, _, err := r.Add(t.Context(), token.Token{Grant: token.Key(name, token.Upload)}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	node := add("old")
	keys, _, err := b.List(t.Context(), "keys/", "", bucket.MaxPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := b.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	add("newer")
	if list, err := node.List(t.Context()); err != nil || len(list) != 1 || list[0].Name != "newer" {
		t.Errorf("got %v, %v; want the newer key", list, err)
	}
}

// The mount point of a disk that is not mounted is an empty folder, and an object store
// answers that the keys of a missing bucket are missing.
func TestTokensOfALostStoreStayInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &replaced{Bucket: mem.New()}
		ring := token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
		text, _, err := ring.Add(t.Context(), token.Token{Grant: token.Key("reader", token.Read)})
		if err != nil {
			t.Fatal(err)
		}
		mounted := b.Bucket
		b.Bucket = mem.New()
		time.Sleep(10 * time.Second)
		if _, err := ring.Grant(t.Context(), text); err != nil {
			t.Errorf("the token is refused without its store: %v", err)
		}
		if isOpen, err := ring.IsOpen(t.Context()); err != nil || isOpen {
			t.Errorf("without the store, IsOpen is %v, %v; want false", isOpen, err)
		}
		if _, _, err := ring.Add(t.Context(), token.Token{}); err == nil || !strings.Contains(err.Error(), "restart") {
			t.Errorf("a token is added to a store that lost all others: %v", err)
		}
		b.Bucket = mounted
		if _, err := ring.List(t.Context()); err != nil {
			t.Errorf("with the store again: %v", err)
		}
	})
}

// replaced is a bucket in whose place there may be another one.
type replaced struct{ bucket.Bucket }

func TestOtherNodesRefuseARevokedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		here, there := token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler)), token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
		text, added, err := here.Add(t.Context(), token.Token{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := there.Grant(t.Context(), text); err != nil {
			t.Errorf("before: %v", err)
		}
		if err := here.Revoke(t.Context(), added.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Grant(t.Context(), text); err != token.ErrUnknown {
			t.Errorf("here: %v", err)
		}
		time.Sleep(5 * time.Second)
		if _, err := there.Grant(t.Context(), text); err != token.ErrUnknown {
			t.Errorf("there, after 5s: %v", err)
		}
	})
}

func TestTooManyKeysAreRefused(t *testing.T) {
	r := token.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	var last error
	made := 0
	for ; last == nil && made < 20; made++ {
		_, _, last = r.Add(t.Context(), token.Token{Grant: token.Key(strings.Repeat("n", 200_000), token.Upload)})
	}
	list, err := r.List(t.Context())
	if last == nil {
		t.Fatalf("%d keys were created", made)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != made-1 || len(list) == 0 {
		t.Fatalf("%d keys after %d calls, the last of which was refused", len(list), made)
	}
	if err := r.Revoke(t.Context(), list[0].ID); err != nil {
		t.Error(err)
	}
}

// The blobs have the format of releases before this package, which read them again
// after a newer release has changed the tokens.
func TestKeysOfEarlierReleasesStayValid(t *testing.T) {
	b := mem.New()
	const stored = `{"id":"YQVV6DDMNPTKHKYUJ2CO","name":"ci","right":"upload","created":"2026-11-22T10:00:00Z","hash":"wIsxgob+D744Jucrcmn3KZjS4IymLqTP1CMglf60+cU="}`
	for key, text := range map[string]string{"keys/1": `[]`, "keys/2": "[" + stored + "]"} {
		if _, err := b.Put(t.Context(), key, strings.NewReader(text), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	r := token.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
	g, err := r.Grant(t.Context(), base64.StdEncoding.EncodeToString([]byte("YQVV6DDMNPTKHKYUJ2CO:SECRET")))
	if err != nil || g.ID != "YQVV6DDMNPTKHKYUJ2CO" || !g.May(token.Upload, "default") || g.May(token.Upload, "tea") || g.May(token.Admin, "") {
		t.Errorf("a key of an earlier release: %+v, %v", g, err)
	}
	if _, err := r.Grant(t.Context(), base64.StdEncoding.EncodeToString([]byte("YQVV6DDMNPTKHKYUJ2CO:secret"))); err != token.ErrUnknown {
		t.Errorf("another secret: %v", err)
	}
	if _, _, err := r.Add(t.Context(), token.Token{Grant: token.Key("next", token.Read)}); err != nil {
		t.Fatal(err)
	}
	body, _, err := b.Get(t.Context(), "keys/3", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	var again []struct {
		ID    string `json:"id"`
		Right string `json:"right"`
		Hash  []byte `json:"hash"`
	}
	if err := json.NewDecoder(body).Decode(&again); err != nil || len(again) != 2 || again[0].Right != "upload" || len(again[0].Hash) != 32 {
		t.Errorf("an earlier release reads %+v, %v", again, err)
	}
}

// hung is a bucket that does not answer while isHung.
type hung struct {
	bucket.Bucket
	isHung *atomic.Bool
}

func (h hung) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	if h.isHung.Load() {
		<-ctx.Done()
		return bucket.Attrs{}, ctx.Err()
	}
	return h.Bucket.Stat(ctx, key)
}

func TestABucketThatHangsDelaysFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var isHung atomic.Bool
		r := token.NewRing(nil, hung{mem.New(), &isHung}, time.Now, slog.New(slog.DiscardHandler))
		isHung.Store(true)
		start := time.Now()
		for range 10 {
			if _, err := r.All(t.Context()); err == nil {
				t.Error("the tokens were read")
			}
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("ten requests before the first read took %v, want 10s in all", took)
		}
		time.Sleep(5 * time.Second)
		isHung.Store(false)
		text, _, err := r.Add(t.Context(), token.Token{Grant: token.Key("", token.Upload)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		isHung.Store(true)
		start = time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := r.Grant(t.Context(), text); err != nil {
					t.Errorf("a token of the last read: %v", err)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("ten requests after the first read took %v, want 3s", took)
		}
		start = time.Now()
		if _, err := r.Grant(t.Context(), text); err != nil || time.Since(start) != 0 {
			t.Errorf("the next one: %v after %v", err, time.Since(start))
		}
	})
}

func TestAddedTokensAreRedacted(t *testing.T) {
	ring := token.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	for range 20 {
		text, _, err := ring.Add(t.Context(), token.Token{})
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"%s", "a/%s/b", "x%sx", "%[1]s%[1]s", token.ForSentry("%s", "https://symbols.example", "acme", time.Now())} {
			out := bin.RedactTokens(fmt.Sprintf(form, text))
			if want := fmt.Sprintf(form, bin.Redacted); out != want {
				t.Errorf("got %s, want %s", out, want)
			}
		}
	}
}
