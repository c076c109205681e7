package symcache

import "testing"

// Rows with few and with many nodes, which end at all offsets of the reader's buffer.
func TestLogRoundTrip(t *testing.T) {
	w := logWriter{out: spool{budget: &budget{}}, start: true}
	const rows = 4000
	id := func(n int64) uint32 { return uint32(n * 2654435761) }
	at := func(k int) place {
		return place{file: uint32(k) * 77, line: uint32(k*k*31) % 100_000, column: uint32(k % 3 * 500)}
	}
	for k := range rows {
		for range k % 70 {
			w.addNode(w.nodes%2, id(w.nodes))
		}
		if k%50 == 49 {
			w.hole(uint64(k) << 20)
		} else {
			w.row(uint64(k)<<20, max(0, w.nodes-3), at(k))
		}
	}
	w.flush()
	r := logReader{r: newReader(&w.out)}
	nodes := int64(0)
	for k := range rows {
		row, ok := r.next()
		nodes += int64(k % 70)
		want := logRow{addr: uint64(k) << 20, node: -1}
		if k%50 != 49 {
			want.node, want.place = int32(max(0, nodes-3)), at(k)
		}
		if !ok || row != want || int64(len(r.nodes)) != nodes {
			t.Fatalf("row %d is %+v, %t, want %+v; %d nodes of %d", k, row, ok, want, len(r.nodes), nodes)
		}
	}
	for i := range r.nodes {
		parent := int32(-1)
		if i%2 == 1 {
			parent = int32(i - 1)
		}
		if got := r.nodes[i]; got.id != id(int64(i)) || got.parent != parent {
			t.Fatalf("node %d is %+v", i, got)
		}
	}
	if row, ok := r.next(); ok {
		t.Errorf("got row %+v after the last", row)
	}
}
