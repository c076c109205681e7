package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/ingest"
)

// joined is what a store makes of stand-alone parts.
func joined(parts [][]byte) []byte {
	all := parts[0]
	for _, p := range parts[1:] {
		all = slices.Concat(all, p[10:])
	}
	return all
}

// step is that one of two uploads sends its next part.
type step int

// interleavings are all ways in which two uploads of n steps can meet.
func interleavings(a, b int) [][]step {
	if a == 0 && b == 0 {
		return [][]step{nil}
	}
	var all [][]step
	if a > 0 {
		for _, rest := range interleavings(a-1, b) {
			all = append(all, append([]step{0}, rest...))
		}
	}
	if b > 0 {
		for _, rest := range interleavings(a, b-1) {
			all = append(all, append([]step{1}, rest...))
		}
	}
	return all
}

// meeting is two uploads that do not tell who they are and do not mind refusals.
type meeting struct {
	*node
	uploads [2][][]byte
	met     bool // a part was refused
}

// send sends the part k of an upload, and checks that nothing is published behind
// a refusal.
func (m *meeting) send(upload, k int) {
	m.t.Helper()
	parts := m.uploads[upload]
	published, err := m.take(part(k, len(parts)), parts[k])
	var r *ingest.Refusal
	switch {
	case errors.As(err, &r) && r.Why == ingest.Conflict:
		m.met = true
	case err != nil:
		m.t.Fatal(err)
	case published && m.met:
		m.t.Fatal("what was seen to be of two uploads is published")
	}
}

// whole demands that what is published, if anything is, is one of the uploads.
func (m *meeting) whole(what any) {
	m.t.Helper()
	got := m.published(ingest.Ranges)
	if got != nil && !bytes.Equal(got, joined(m.uploads[0])) && !bytes.Equal(got, joined(m.uploads[1])) {
		m.t.Fatalf("%v: a mixture is published", what)
	}
}

func TestUploadsInOrderAreNeverMixed(t *testing.T) {
	for _, n := range []int{2, 3} {
		for _, steps := range interleavings(n, n) {
			m := &meeting{node: open(t, mem.New(), ingest.Config{}), uploads: [2][][]byte{split("one", n), split("two", n)}}
			var next [2]int
			for _, s := range steps {
				m.send(int(s), next[s])
				next[s]++
				m.clock.pass(7 * time.Second)
				m.whole(steps)
			}
			// Whatever came of that, when it was quiet an upload succeeds.
			m.clock.pass(2 * time.Minute)
			for k, body := range m.uploads[1] {
				m.sent(part(k, n), body, k == n-1)
			}
			m.holds(m.uploads[1]...)
		}
	}
}

// sender is a client that sends one upload after the other, in order, and begins
// anew when a part is refused.
type sender struct {
	parts [][]byte
	next  int
	stale bool // what it has sent is void, and it was not told

	dropped bool // a part was taken for a repetition
}

// TestClientsThatBeginAnewAreNeverMixed has clients that take their time, and do not
// go on where another one began anew behind a minute of silence: see the package's
// comment.
func TestClientsThatBeginAnewAreNeverMixed(t *testing.T) {
	published, met, late := 0, 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := open(t, mem.New(), ingest.Config{})
		count := 2 + rng.IntN(3)
		clients := make([]sender, 2+rng.IntN(2))
		made, begun := 0, false
		var done [][]byte
		for range 60 {
			c := &clients[rng.IntN(len(clients))]
			if c.stale && begun {
				c.next, c.stale = 0, false
			}
			if c.next == 0 && c.parts == nil {
				c.parts = split(fmt.Sprint("upload", made), count)
				made++
			}
			is, err := n.take(part(c.next, count), c.parts[c.next])
			var r *ingest.Refusal
			switch {
			case errors.As(err, &r) && r.Why == ingest.Conflict && strings.Contains(err.Error(), "under way"):
				met++
				for i := range clients {
					clients[i].stale = clients[i].next > 0
				}
				c.next, c.stale, begun = 0, false, false
			case errors.As(err, &r) && r.Why == ingest.Conflict:
				late++
				c.next, c.stale = 0, false
			case err != nil:
				t.Fatal(err)
			default:
				begun = begun || c.next == 0
				c.next++
			}
			if is != (c.next == count) {
				t.Fatalf("seed %d: behind part %d of %d: published is %v", seed, c.next-1, count, is)
			}
			if is {
				done = append(done, joined(c.parts))
				*c = sender{}
				published++
				if got := n.published(ingest.Ranges); !bytes.Equal(got, done[len(done)-1]) {
					t.Fatalf("seed %d: a mixture is published", seed)
				}
			}
			n.clock.pass([]time.Duration{time.Second, 20 * time.Second, 62 * time.Second, 3 * time.Minute}[rng.IntN(4)])
		}
	}
	t.Logf("%d published, %d refused where uploads met, %d later", published, met, late)
	if published == 0 || met == 0 || late == 0 {
		t.Error("that is no test")
	}
}

func TestAPartOfAnUploadThatWasVoidedIsRefused(t *testing.T) {
	n := open(t, folder(t), ingest.Config{})
	one, two := split("one", 3), split("two", 3)
	n.sent(part(0, 3), one[0], false)
	n.refused(part(0, 3), two[0], ingest.Conflict)
	n.clock.pass(62 * time.Second)
	n.refused(part(1, 3), one[1], ingest.Conflict)
	n.sent(part(0, 3), two[0], false) // that was no contest
	n.refused(part(2, 3), one[2], ingest.Conflict)
	n.sent(part(1, 3), two[1], false)
	n.sent(part(0, 3), two[0], false)
	n.sent(part(2, 3), two[2], true)
	n.holds(two...)
	for _, k := range []int{2, 0, 1} { // the mark is gone
		n.sent(part(k, 3), one[k], k == 1)
	}
	n.holds(one...)
}

func TestAContestExpires(t *testing.T) {
	n := open(t, mem.New(), ingest.Config{Expiry: time.Hour})
	one, two := split("one", 2), split("two", 2)
	n.sent(part(0, 2), one[0], false)
	n.refused(part(0, 2), two[0], ingest.Conflict)
	n.clock.pass(61 * time.Minute)
	n.sent(part(1, 2), two[1], false)
	n.sent(part(0, 2), two[0], true)
	n.holds(two...)
}

func TestClientsThatDoNotTellNeverMeet(t *testing.T) {
	n := open(t, folder(t), ingest.Config{})
	from := func(client string, k int) ingest.Part {
		p := part(k, 3)
		p.Client = client
		return p
	}
	uploads := map[string][][]byte{"": split("nobody", 3), "a": split("a", 3), "b/../ä": split("b", 3)}
	uploads["b/../ä"][0] = uploads["a"][0]
	for k := range 3 {
		for client, parts := range uploads {
			n.sent(from(client, k), parts[k], k == 2)
			if k == 2 {
				n.holds(parts...)
			}
		}
	}
	if left := n.waiting("~", 3); left != nil {
		t.Errorf("parts are left: %v", left)
	}
}

// TestUploadsInAnyOrder shows what holds for those that can be mixed: that behind the
// first refusal nothing is published, that what is published is whole, and that it
// has in each place what somebody has sent for it.
func TestUploadsInAnyOrder(t *testing.T) {
	mixtures, refusals := 0, 0
	for _, n := range []int{2, 3} {
		for _, steps := range interleavings(n, n) {
			for seed := range uint64(6) {
				rng := rand.New(rand.NewPCG(seed, uint64(n)))
				m := &meeting{node: open(t, mem.New(), ingest.Config{}), uploads: [2][][]byte{split("one", n), split("two", n)}}
				order := [2][]int{rng.Perm(n), rng.Perm(n)}
				for _, s := range steps {
					m.send(int(s), order[s][0])
					order[s] = order[s][1:]
				}
				if m.met {
					refusals++
				}
				got := m.published(ingest.Ranges)
				if got == nil {
					continue
				}
				mixed := true
				choice := make([][]byte, n)
				found := false
				for bits := range 1 << n {
					for k := range n {
						choice[k] = m.uploads[bits>>k&1][k]
					}
					if bytes.Equal(got, joined(choice)) {
						found, mixed = true, bits != 0 && bits != 1<<n-1
					}
				}
				if !found {
					t.Fatal("something else is published than was sent")
				}
				if mixed {
					mixtures++
				}
			}
		}
	}
	t.Logf("%d mixtures that could not be told, %d meetings that were", mixtures, refusals)
	if refusals == 0 {
		t.Error("no uploads have met")
	}
}

func TestAllAreRefusedUntilItWasQuiet(t *testing.T) {
	n := open(t, folder(t), ingest.Config{})
	one, two := split("one", 3), split("two", 3)
	n.sent(part(0, 3), one[0], false)
	n.refused(part(0, 3), two[0], ingest.Conflict)
	for range 5 {
		n.clock.pass(50 * time.Second)
		n.refused(part(1, 3), one[1], ingest.Conflict)
		n.refused(part(0, 3), one[0], ingest.Conflict)
	}
	n.sent(of("told", 0, 3), one[0], false) // is none of theirs
	n.sent(part(0, 2), one[0], false)
	n.clock.pass(61 * time.Second)
	other := beside(t, n.bucket, ingest.Config{}, n.clock)
	for k, body := range two {
		[]*node{n, other}[k%2].sent(part(k, 3), body, k == 2)
	}
	n.holds(two...)
	if left := n.waiting("~", 3); left != nil {
		t.Errorf("parts are left: %v", left)
	}
	if _, err := n.bucket.Stat(t.Context(), "incoming/"+fileID.Base64()+"/ranges/3/~/contested"); err == nil {
		t.Error("the mark is left")
	}
}

func TestUploadsThatMeetAtOnceAreNeverMixed(t *testing.T) {
	for round := range 20 {
		b := folder(t)
		one := open(t, b, ingest.Config{})
		nodes := []*node{one, beside(t, b, ingest.Config{}, one.clock)}
		m := &meeting{node: one, uploads: [2][][]byte{split("one", 4), split("two", 4)}}
		var all sync.WaitGroup
		for u, parts := range m.uploads {
			all.Go(func() {
				for k := range parts { // in order
					_, err := nodes[u].take(part(k, 4), parts[k])
					var r *ingest.Refusal
					if err != nil && (!errors.As(err, &r) || r.Why != ingest.Conflict) {
						t.Errorf("part %d: %v", k, err)
					}
				}
			})
		}
		all.Wait()
		m.whole(round)
	}
}

func TestPartsExpire(t *testing.T) {
	n := open(t, folder(t), ingest.Config{Expiry: time.Hour})
	old, fresh := split("old", 3), split("fresh", 3)
	n.sent(part(0, 3), old[0], false)
	n.sent(part(1, 3), old[1], false)
	n.clock.pass(61 * time.Minute)
	n.sent(part(2, 3), fresh[2], false)
	n.sent(part(1, 3), fresh[1], false)
	n.clock.pass(30 * time.Minute)
	n.sent(part(0, 3), fresh[0], true)
	n.holds(fresh...)
}

// TestWhatAProcessLeftThatDiedIsNoUpload has a process that has published and not
// removed the parts.
func TestWhatAProcessLeftThatDiedIsNoUpload(t *testing.T) {
	b := &keeping{Bucket: folder(t)}
	n := open(t, b, ingest.Config{})
	old, fresh := split("old", 2), split("new", 2)
	b.keeps.Store(true)
	n.sent(part(0, 2), old[0], false)
	n.sent(part(1, 2), old[1], true)
	b.keeps.Store(false)
	if left := n.waiting("~", 2); len(left) != 2 {
		t.Fatalf("left are %v", left)
	}
	n.sent(part(1, 2), old[1], false)
	n.refused(part(0, 2), fresh[0], ingest.Conflict) // as that might be one of its parts
	n.sent(part(0, 2), fresh[0], false)
	n.holds(old...)
	n.sent(part(1, 2), fresh[1], true)
	n.holds(fresh...)
}
