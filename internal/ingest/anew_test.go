package ingest_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ingest"
)

func TestANewUploadMayHavePartsOfTheOldOne(t *testing.T) {
	n := open(t, folder(t), ingest.Config{})
	old := split("old", 3)
	fresh := [][]byte{old[0], ranges("new", 20, 20), old[2]}
	for i, parts := range [][][]byte{old, fresh, old} {
		for k, body := range parts {
			n.sent(of(fmt.Sprint(i), k, 3), body, k == 2)
		}
		n.holds(parts...)
	}
	for _, parts := range [][][]byte{old, fresh, old} { // that do not tell
		for k, body := range parts {
			n.sent(part(k, 3), body, k == 2)
		}
		n.holds(parts...)
		n.clock.pass(2 * time.Minute)
	}
}

func TestANewUploadRightBehindAnotherMayShareItsLastParts(t *testing.T) {
	n := open(t, mem.New(), ingest.Config{})
	old := split("old", 3)
	fresh := [][]byte{ranges("new", 0, 20), old[1], old[2]}
	for _, parts := range [][][]byte{old, fresh} {
		for k, body := range parts {
			n.clock.pass(time.Second)
			n.sent(part(k, 3), body, k == 2)
		}
		n.holds(parts...)
	}
}

// push sends parts in an order, to the nodes by turns, and begins anew when one is
// refused. It demands that they are published then, and tells how often it began.
func push(t *testing.T, nodes []*node, upload string, parts [][]byte, order []int) int {
	t.Helper()
	for begun := 1; begun <= 3; begun++ {
		refused := false
		for i, k := range order {
			_, err := nodes[i%len(nodes)].take(of(upload, k, len(parts)), parts[k])
			var r *ingest.Refusal
			if refused = errors.As(err, &r) && r.Why == ingest.Conflict; refused {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !refused {
			nodes[0].holds(parts...)
			return begun
		}
	}
	t.Fatal("it is refused again and again")
	return 0
}

// TestUploadsThatShareAnythingArePublished has a second upload with each choice of
// parts of the first one, right behind it, in each order.
func TestUploadsThatShareAnythingArePublished(t *testing.T) {
	const n = 4
	old, other := split("old", n), split("new", n)
	var orders [][]int
	for _, a := range interleavings(2, 2) { // of 0 and 1, 2 and 3, each in order
		next := [2]int{0, 2}
		var order []int
		for _, s := range a {
			order = append(order, next[s])
			next[s]++
		}
		orders = append(orders, order, reversed(order))
	}
	for _, upload := range []string{"", "ci"} {
		for shared := range 1 << n {
			fresh := slices.Clone(other)
			for k := range n {
				if shared>>k&1 == 1 {
					fresh[k] = old[k]
				}
			}
			for _, order := range orders {
				one := open(t, mem.New(), ingest.Config{})
				behind := &clock{}
				behind.at.Store(one.clock.now().Add(-5 * time.Second).UnixNano())
				nodes := []*node{one, beside(t, one.bucket, ingest.Config{}, behind)}
				push(t, nodes, upload, old, orders[0])
				if begun := push(t, nodes, upload, fresh, order); begun > 2 {
					t.Errorf("%q, shared %b, order %v: begun %d times", upload, shared, order, begun)
				}
				if got := one.marks(upload, n); got != "" && shared == 0 {
					t.Errorf("%q, order %v: the marks %s are left", upload, order, got)
				}
				push(t, nodes, upload, old, order)
			}
		}
	}
}

// TestUploadsThatShareSomeAreNotMixed has clients that send their parts in order, the
// same ones in some places, some of them twice, begin anew when one is refused, or
// give up. Those do not go on that were not told that their parts do not count, if
// another one begins. Of a client that is alone everything is published.
func TestUploadsThatShareSomeAreNotMixed(t *testing.T) {
	published, refused := 0, 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := open(t, mem.New(), ingest.Config{})
		count, name := 2+rng.IntN(3), []string{"", "ci"}[rng.IntN(2)]
		clients := make([]sender, 1+rng.IntN(3))
		last := split("last", count)
		whole := map[string]bool{}
		begun := false
		for step := range 60 {
			c := &clients[rng.IntN(len(clients))]
			if c.stale && begun || rng.IntN(20) == 0 {
				*c = sender{}
			}
			if c.parts == nil {
				c.parts = slices.Clone(last)
				for _, k := range rng.Perm(count)[:1+rng.IntN(count)] {
					c.parts[k] = ranges(fmt.Sprint("step", step), k*20, 20)
				}
				whole[string(joined(c.parts))] = true
			}
			var err error
			for range 1 + rng.IntN(5)/4 {
				if _, err = n.take(of(name, c.next, count), c.parts[c.next]); err != nil {
					break
				}
			}
			var r *ingest.Refusal
			switch {
			case errors.As(err, &r) && r.Why == ingest.Conflict:
				refused++
				if strings.Contains(err.Error(), "under way") {
					for i := range clients {
						clients[i].stale = clients[i].next > 0
					}
					begun = false
				}
				c.next, c.stale, c.dropped = 0, false, false
			case err != nil:
				t.Fatal(err)
			default:
				begun = begun || c.next == 0
				c.next++
			}
			got := n.published(ingest.Ranges)
			if err == nil && c.next < count && !n.keeps(name, c.next-1, c.parts) {
				c.dropped = true
			} else if err == nil || strings.Contains(err.Error(), "repetition") {
				for i := range clients { // those that are not told
					clients[i].stale = clients[i].stale || clients[i].dropped && &clients[i] != c
				}
				begun = true
			}
			if got != nil && !whole[string(got)] {
				t.Fatalf("seed %d, step %d: a mixture is published", seed, step)
			}
			if c.next == count {
				if len(clients) == 1 && !bytes.Equal(got, joined(c.parts)) {
					t.Fatalf("seed %d, step %d: it is not published", seed, step)
				}
				last = c.parts
				*c = sender{}
				for i := range clients { // it may have had a part of theirs
					clients[i].stale = clients[i].next > 0
				}
				begun = true
				published++
			}
			n.clock.pass([]time.Duration{0, time.Second, 20 * time.Second, 62 * time.Second, 3 * time.Minute}[rng.IntN(5)])
		}
	}
	t.Logf("%d published, %d refused", published, refused)
	if published == 0 || refused == 0 {
		t.Error("that is no test")
	}
}

// keeps tells whether the part k of an upload waits.
func (n *node) keeps(upload string, k int, parts [][]byte) bool {
	n.t.Helper()
	r, _, err := n.bucket.Get(n.t.Context(), keyOf(folderOf(upload), k, len(parts)), 0, 1000)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return false
	}
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		n.t.Fatal(err)
	}
	return bytes.Contains(text, fmt.Appendf(nil, "%x", sha256.Sum256(parts[k])))
}

func folderOf(upload string) string {
	if upload == "" {
		return "~"
	}
	return upload
}

// marks are those in the folder of an upload.
func (n *node) marks(upload string, count int) (list string) {
	n.t.Helper()
	upload = folderOf(upload)
	for _, name := range []string{"contested", "repeated", "anew"} {
		_, err := n.bucket.Stat(n.t.Context(), fmt.Sprintf("incoming/%s/ranges/%d/%s/%s", fileID.Base64(), count, upload, name))
		if err == nil {
			list += " " + name
		} else if fault.KindOf(err) != fault.NotFound {
			n.t.Fatal(err)
		}
	}
	return strings.TrimSpace(list)
}

func TestANewUploadThatSharesItsFirstPartIsTold(t *testing.T) {
	for _, tc := range []struct {
		upload string
		pause  time.Duration
	}{{"", 0}, {"", 59 * time.Second}, {"ci", 0}, {"ci", 3 * time.Hour}} {
		n := open(t, folder(t), ingest.Config{})
		old := split("old", 3)
		fresh := [][]byte{old[0], old[1], ranges("new", 40, 20)}
		push(t, []*node{n}, tc.upload, old, []int{0, 1, 2})
		n.clock.pass(tc.pause)
		n.sent(of(tc.upload, 0, 3), fresh[0], false)
		n.sent(of(tc.upload, 1, 3), fresh[1], false)
		r := n.refused(of(tc.upload, 2, 3), fresh[2], ingest.Conflict)
		if !strings.Contains(r.Error(), "begin anew with part 0") {
			t.Errorf("%v", r)
		}
		if got := n.marks(tc.upload, 3); got != "repeated anew" {
			t.Errorf("the marks are %q", got)
		}
		n.sent(of(tc.upload, 0, 3), fresh[0], false)
		n.sent(of(tc.upload, 1, 3), fresh[1], false)
		n.sent(of(tc.upload, 2, 3), fresh[2], true)
		n.holds(fresh...)
		if got := n.marks(tc.upload, 3); got != "" {
			t.Errorf("the marks are %q", got)
		}
		n.sent(of(tc.upload, 2, 3), fresh[2], false)
		if left := n.waiting(folderOf(tc.upload), 3); left != nil {
			t.Errorf("parts are left: %v", left)
		}
	}
}

// TestALostAnswerDisturbsNobodyForLong has a last part sent again, and then other
// uploads.
func TestALostAnswerDisturbsNobodyForLong(t *testing.T) {
	for _, tc := range []struct {
		pause time.Duration
		begun int
	}{{0, 2}, {59 * time.Second, 2}, {61 * time.Second, 1}, {25 * time.Hour, 1}} {
		n := open(t, mem.New(), ingest.Config{})
		for i := range 3 {
			parts := split(fmt.Sprint("upload", i), 3)
			want := tc.begun
			if i == 0 {
				want = 1
			}
			if begun := push(t, []*node{n}, "ci", parts, []int{0, 1, 2}); begun != want {
				t.Errorf("pause %v: begun %d times, want %d", tc.pause, begun, want)
			}
			n.sent(of("ci", 2, 3), parts[2], false)
			n.clock.pass(tc.pause)
		}
	}
}

// TestAFirstPartThatTakesLong has one that began to come before another part of its
// upload was taken for a repetition.
func TestAFirstPartThatTakesLong(t *testing.T) {
	n := open(t, mem.New(), ingest.Config{})
	old := split("old", 2)
	fresh := [][]byte{ranges("new", 0, 20), old[1]}
	push(t, []*node{n}, "ci", old, []int{0, 1})
	n.clock.pass(time.Hour)
	slow := &slowly{r: fresh[0], pass: func() {
		n.clock.pass(time.Second)
		n.sent(of("ci", 1, 2), fresh[1], false)
		n.clock.pass(2 * time.Minute)
	}}
	_, err := n.Take(t.Context(), of("ci", 0, 2), slow)
	refusal(t, err, ingest.Conflict)
	push(t, []*node{n}, "ci", fresh, []int{0, 1})
}

// slowly is a body in the middle of which something happens.
type slowly struct {
	r    []byte
	pass func()
}

func (s *slowly) Read(b []byte) (int, error) {
	n := copy(b, s.r[:min(len(s.r), 100)])
	s.r = s.r[n:]
	if s.pass != nil {
		s.pass()
		s.pass = nil
	}
	if len(s.r) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TestARepetitionAndANewPartAtOnce has one of them come at each moment of the other.
func TestARepetitionAndANewPartAtOnce(t *testing.T) {
	old := split("old", 2)
	fresh := [][]byte{old[0], ranges("new", 20, 20)}
	folder := "incoming/" + fileID.Base64() + "/ranges/2/ci/"
	for _, first := range []int{0, 1} {
		for _, at := range []string{
			"before get contested", "before get repeated", "before get anew", "before get 0", "before get 1",
			"before put repeated", "behind put repeated", "before put anew", "behind put anew", "before put 0", "behind put 0", "before put 1", "behind put 1",
		} {
			b := &hooked{Bucket: mem.New()}
			n := open(t, b, ingest.Config{})
			other := beside(t, b, ingest.Config{}, n.clock)
			push(t, []*node{n}, "ci", old, []int{0, 1})
			refused := 0
			send := func(n *node, k int) {
				_, err := n.take(of("ci", k, 2), fresh[k])
				var r *ingest.Refusal
				if errors.As(err, &r) && r.Why == ingest.Conflict {
					refused++
				} else if err != nil {
					t.Fatal(err)
				}
			}
			happened := false
			verb, name := at[:strings.LastIndex(at, " ")], at[strings.LastIndex(at, " ")+1:]
			b.on(verb, folder+name, func() {
				happened = true
				send(other, 1-first)
			})
			send(n, first)
			if !happened {
				b.on(verb, folder+name, nil)
				send(other, 1-first)
			}
			if refused == 0 {
				n.holds(fresh...)
			}
			push(t, []*node{n}, "ci", fresh, []int{0, 1})
		}
	}
}

// TestPartsOfAnUploadThatSharesSomeComeAtOnce has more parts than are looked at, to
// two processes, also twice.
func TestPartsOfAnUploadThatSharesSomeComeAtOnce(t *testing.T) {
	for _, b := range []bucket.Bucket{mem.New(), folder(t)} {
		one := open(t, b, ingest.Config{})
		nodes := []*node{one, beside(t, b, ingest.Config{}, one.clock)}
		const count = 40
		last := split("first", count)
		rng := rand.New(rand.NewPCG(7, 7))
		anew := 0
		for _, order := range [][]int{rng.Perm(count), rng.Perm(count)} {
			push(t, nodes, "ci", last, order)
		}
		for round := range 12 {
			parts := slices.Clone(last)
			for range 1 + rng.IntN(4) {
				k := rng.IntN(count)
				parts[k] = ranges(fmt.Sprint("round", round), k*20, 20)
			}
			for tries := 0; ; tries++ {
				if tries == 4 {
					t.Fatal("it is refused again and again")
				}
				order := rng.Perm(count)
				var next, refused atomic.Int64
				var all sync.WaitGroup
				for w := range 4 {
					all.Go(func() {
						for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
							k := order[i]
							_, err := nodes[w%2].take(of("ci", k, count), parts[k])
							var r *ingest.Refusal
							if errors.As(err, &r) && r.Why == ingest.Conflict {
								refused.Add(1)
							} else if err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
				if refused.Load() == 0 {
					break
				}
				anew++
			}
			one.holds(parts...)
			last = parts
		}
		t.Logf("begun anew %d times", anew)
	}
}

func reversed(list []int) []int {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// TestAPartOfWhatIsPublishedMeetsOthers has it come while another upload is under
// way, or behind a contest: it is no repetition then.
func TestAPartOfWhatIsPublishedMeetsOthers(t *testing.T) {
	n := open(t, mem.New(), ingest.Config{})
	old, one, two := split("old", 3), split("one", 3), split("two", 3)
	push(t, []*node{n}, "ci", old, []int{0, 1, 2})
	n.sent(of("ci", 0, 3), one[0], false)
	n.refused(of("ci", 0, 3), old[0], ingest.Conflict)
	n.clock.pass(62 * time.Second)
	n.sent(of("ci", 0, 3), old[0], false)
	n.refused(of("ci", 0, 3), two[0], ingest.Conflict)
	if got := n.marks("ci", 3); got != "contested" {
		t.Errorf("the marks are %q", got)
	}
}

// TestARepetitionIsMarkedForTheNextUpload has one come when two processes publish at
// one time, and one of them is done.
func TestARepetitionIsMarkedForTheNextUpload(t *testing.T) {
	b := &hooked{Bucket: mem.New()}
	n := open(t, b, ingest.Config{})
	other := beside(t, b, ingest.Config{}, n.clock)
	parts := split("twice", 2)
	n.sent(of("ci", 0, 2), parts[0], false)
	looks := 0
	var look func()
	look = func() {
		if looks++; looks < 4 { // before it is held, behind that, before publishing, before the marks are removed
			b.on("before get", "incoming/"+fileID.Base64()+"/ranges/2/ci/contested", look)
			return
		}
		other.sent(of("ci", 1, 2), parts[1], true)
		other.sent(of("ci", 0, 2), parts[0], false)
	}
	look()
	looks = 0
	n.sent(of("ci", 1, 2), parts[1], false)
	if got := n.marks("ci", 2); looks != 4 || got != "repeated" {
		t.Errorf("%d looks; the marks are %q", looks, got)
	}
	n.holds(parts...)
}
