package symbfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

// joined is what a store makes of stand-alone parts.
func joined(parts [][]byte) []byte {
	all := parts[0]
	for _, p := range parts[1:] {
		all = slices.Concat(all, p[10:])
	}
	return all
}

func conflict(err error) bool {
	var r *ingest.Refusal
	return errors.As(err, &r) && r.Why == ingest.Conflict
}

func TestAnotherPartInAPlaceIsRefusedAndChangesNothing(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	one, two := split("one", 3), split("two", 3)
	n.sent(part(0, 3), one[0], false)
	n.sent(part(2, 3), one[2], false)
	for range 3 {
		n.refused(part(0, 3), two[0], ingest.Conflict)
		n.refused(part(2, 3), two[2], ingest.Conflict)
		n.sent(part(0, 3), one[0], false)
	}
	n.sent(part(1, 3), one[1], true)
	n.holds(one...)
}

func TestAnUploadGivesWayWhenNoPartCameForTenMinutes(t *testing.T) {
	for _, k := range []int{0, 1} {
		n := open(t, folder(t), symbfile.Config{})
		one, two := split("one", 3), split("two", 3)
		n.sent(part(0, 3), one[0], false)
		n.clock.pass(9 * time.Minute)
		n.sent(part(1, 3), one[1], false)
		n.clock.pass(9 * time.Minute)
		n.sent(part(1, 3), one[1], false) // which is a part that came
		n.clock.pass(9*time.Minute + 59*time.Second)
		n.refused(part(k, 3), two[k], ingest.Conflict)
		n.clock.pass(time.Second)
		n.sent(part(k, 3), two[k], false)
		n.refused(part(k, 3), one[k], ingest.Conflict)
		for i, k := range []int{k, 1 - k, 2} {
			n.sent(part(k, 3), two[k], i == 2)
		}
		n.holds(two...)
	}
}

func TestASlowUploadThatNobodyMeetsIsPublished(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	parts := split("slow", 4)
	for i, k := range []int{2, 0, 3, 1} {
		n.sent(part(k, 4), parts[k], i == 3)
		n.clock.pass(5 * time.Hour)
	}
	n.holds(parts...)
}

// The part 0 of an abandoned upload must not become that of the next one, which goes
// on with another part.
func TestAnUploadThatSharesPart0BeginsAfterTenMinutes(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	one, two := split("one", 3), split("two", 3)
	two[0] = one[0]
	n.sent(part(0, 3), one[0], false)
	n.sent(part(1, 3), one[1], false)
	n.sent(part(0, 3), two[0], false)
	n.refused(part(1, 3), two[1], ingest.Conflict)
	n.clock.pass(10 * time.Minute)
	for k := range two {
		n.sent(part(k, 3), two[k], k == 2)
	}
	n.holds(two...)
}

func TestANamedUploadGoesOnAfterHours(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	parts := split("named", 3)
	n.sent(of("u", 1, 3), parts[1], false)
	n.sent(of("u", 0, 3), parts[0], false)
	n.clock.pass(20 * time.Hour)
	n.sent(of("u", 0, 3), parts[0], false) // the answer was lost
	n.sent(of("u", 2, 3), parts[2], true)
	n.holds(parts...)
}

func TestKeysAndNamesKeepUploadsApart(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	type sender struct{ client, name string }
	uploads := map[sender][][]byte{}
	for _, s := range []sender{{"", ""}, {"a", ""}, {"b/../ä", ""}, {"a", "ci"}, {"b", "ci"}, {"", "ci"}} {
		uploads[s] = split(fmt.Sprint(len(uploads)), 3)
	}
	for k := range 3 {
		for s, parts := range uploads {
			p := of(s.name, k, 3)
			p.Client = s.client
			n.sent(p, parts[k], k == 2)
			if k == 2 {
				n.holds(parts...)
			}
		}
	}
}

// TestAPublishedUploadAnswersForItsParts has the rest of an upload come that shared
// its first parts with one that was published meanwhile.
func TestAPublishedUploadAnswersForItsParts(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	one, two := split("one", 3), split("two", 3)
	two[0] = one[0]
	n.sent(part(0, 3), one[0], false)
	n.sent(part(0, 3), two[0], false)
	n.sent(part(1, 3), one[1], false)
	n.sent(part(2, 3), one[2], true)
	n.sent(part(2, 3), one[2], false)
	n.refused(part(1, 3), two[1], ingest.Conflict)
	n.holds(one...)
	for k := range two {
		n.sent(part(k, 3), two[k], k == 2)
	}
	n.holds(two...)
}

// The repetition arrives when the next upload has begun, and when the one after it
// has.
func TestALateRepetitionIsNoPartOfTheNextUpload(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	first := split("first", 3)
	for round := range 3 {
		parts := split(fmt.Sprint("round", round), 3)
		if round == 0 {
			parts = first
		}
		n.sent(part(0, 3), parts[0], false)
		if round > 0 {
			n.refused(part(2, 3), first[2], ingest.Conflict)
		}
		n.sent(part(1, 3), parts[1], false)
		n.sent(part(2, 3), parts[2], true)
		n.holds(parts...)
		n.sent(part(2, 3), first[2], false)
		n.clock.pass(time.Minute)
	}
}

// TestANewUploadMayHavePartsOfTheOldOne has each choice of them, at once if part 0 is
// one of them, else when ten minutes have passed.
func TestANewUploadMayHavePartsOfTheOldOne(t *testing.T) {
	for shared := range 8 {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}} {
			n := open(t, mem.New(), symbfile.Config{})
			old, fresh := split("old", 3), split("new", 3)
			for k := range 3 {
				if shared>>k&1 == 1 {
					fresh[k] = old[k]
				}
			}
			for _, parts := range [][][]byte{old, fresh, old} {
				for i, k := range order {
					n.sent(part(k, 3), parts[k], i == 2)
				}
				n.holds(parts...)
				n.clock.pass(time.Second)
				if shared&1 == 0 {
					n.clock.pass(10 * time.Minute)
				}
			}
		}
	}
}

func TestWhatWasRefusedWhenItWasCompleteIsForgotten(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	file := ranges("whole", 0, 40)
	bad := cut(file[:len(file)-1], 300)
	n.sent(part(1, 2), bad[1], false)
	n.refused(part(0, 2), bad[0], ingest.Malformed)
	good := cut(file, 300)
	n.sent(part(1, 2), good[1], false)
	n.sent(part(0, 2), good[0], true)
	n.holds(file)
}

// client sends its parts one after the other, part 0 first, and stops when one is
// refused.
type client struct {
	parts  [][]byte
	order  []int
	next   int
	last   time.Time // when it sent a part
	failed bool
}

func (c *client) done() bool { return c.failed || c.next == len(c.order) }

// step sends the next part, some of them twice.
func (c *client) step(n *node, twice bool) error {
	k := c.order[c.next]
	for range 2 {
		_, err := n.take(part(k, len(c.parts)), c.parts[k])
		if c.failed = conflict(err); err != nil && !c.failed {
			return err
		}
		if c.failed || !twice {
			break
		}
	}
	c.next++
	c.last = n.clock.now()
	return nil
}

// orders returns the orders in which a client may send n parts: part 0 first, or
// each after the one before.
func orders(n int, inOrder bool) (all [][]int) {
	var extend func(order []int)
	extend = func(order []int) {
		if len(order) == n {
			all = append(all, slices.Clone(order))
			return
		}
		for k := range n {
			if !slices.Contains(order, k) && (!inOrder || k == len(order)) {
				extend(append(order, k))
			}
		}
	}
	extend([]int{0})
	return all
}

// interleavings are all ways in which two clients can take a and b steps.
func interleavings(a, b int) [][]int {
	if a == 0 && b == 0 {
		return [][]int{nil}
	}
	var all [][]int
	if a > 0 {
		for _, rest := range interleavings(a-1, b) {
			all = append(all, append([]int{0}, rest...))
		}
	}
	if b > 0 {
		for _, rest := range interleavings(a, b-1) {
			all = append(all, append([]int{1}, rest...))
		}
	}
	return all
}

// TestTwoClientsAreNeverMixed tries every interleaving of two clients that have the
// same parts in some places, and a third one after them. They send part 0 first, and
// the others in any order, or in order if part 0 is the same. If all parts of a
// client are accepted, they are published.
func TestTwoClientsAreNeverMixed(t *testing.T) {
	t.Parallel()
	const count = 3
	published, refused := 0, 0
	for shared := range 1 << count {
		one, two, third := split("one", count), split("two", count), split("third", count)
		for k := range count {
			if shared>>k&1 == 1 {
				two[k] = one[k]
			}
		}
		for _, first := range orders(count, shared&1 == 1) {
			for _, second := range orders(count, shared&1 == 1) {
				for _, steps := range interleavings(count, count) {
					n := open(t, mem.New(), symbfile.Config{})
					clients := []*client{{parts: one, order: first}, {parts: two, order: second}}
					var seen [][]byte
					for _, i := range append(steps, 2, 2, 2) {
						if i == 2 && len(clients) == 2 {
							clients = append(clients, &client{parts: third, order: first})
						}
						if clients[i].done() {
							continue
						}
						n.clock.pass(time.Second)
						if err := clients[i].step(n, false); err != nil {
							t.Fatal(err)
						}
						if got := n.published(symbfile.Ranges); got != nil {
							seen = append(seen, got)
						}
					}
					for _, got := range seen {
						if !slices.ContainsFunc([][][]byte{one, two, third}, func(p [][]byte) bool { return bytes.Equal(got, joined(p)) }) {
							t.Fatalf("shared %03b, orders %v and %v, %v: a mixture is published", shared, first, second, steps)
						}
					}
					for i, c := range clients {
						if c.failed {
							refused++
						} else if published++; !slices.ContainsFunc(seen, func(b []byte) bool { return bytes.Equal(b, joined(c.parts)) }) {
							t.Fatalf("shared %03b, orders %v and %v, %v: all parts of %d were taken, and it was not published", shared, first, second, steps, i)
						}
					}
				}
			}
		}
	}
	if published == 0 || refused == 0 {
		t.Errorf("%d published and %d refused show nothing", published, refused)
	}
}

// TestClientsThatBeginAgainAreNeverMixed has several clients that begin again with
// part 0 when they were refused, send some parts twice, give up, and pause, each for
// less than ten minutes. Other parts than the first may be those of earlier uploads.
func TestClientsThatBeginAgainAreNeverMixed(t *testing.T) {
	t.Parallel()
	published, refused := 0, 0
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := open(t, mem.New(), symbfile.Config{})
		count := 2 + rng.IntN(3)
		choice := orders(count, false)
		whole := map[string]bool{}
		clients := make([]*client, 1+rng.IntN(3))
		last := split("last", count)
		for step := range 60 {
			i := rng.IntN(len(clients))
			c := clients[i]
			if c != nil && (c.done() || rng.IntN(20) == 0 || n.clock.now().Sub(c.last) >= 10*time.Minute) {
				c = nil
			}
			if c == nil {
				c = &client{parts: split(fmt.Sprint("seed", seed, "step", step), count), order: choice[rng.IntN(len(choice))], last: n.clock.now()}
				for k := 1; k < count; k++ {
					if rng.IntN(3) == 0 {
						c.parts[k] = last[k]
					}
				}
				clients[i] = c
			}
			if err := c.step(n, rng.IntN(5) == 0); err != nil {
				t.Fatal(err)
			}
			got := n.published(symbfile.Ranges)
			switch {
			case c.failed:
				refused++
			case c.done():
				published++
				last = c.parts
				whole[string(joined(c.parts))] = true
				if !bytes.Equal(got, joined(c.parts)) {
					t.Fatalf("seed %d, step %d: all parts were taken, and something else is published", seed, step)
				}
			}
			if got != nil && !whole[string(got)] {
				t.Fatalf("seed %d, step %d: a mixture is published", seed, step)
			}
			n.clock.pass([]time.Duration{time.Second, time.Minute, 4 * time.Minute, 11 * time.Minute}[rng.IntN(16)/5])
		}
	}
	if published == 0 || refused == 0 {
		t.Errorf("%d published and %d refused show nothing", published, refused)
	}
}
