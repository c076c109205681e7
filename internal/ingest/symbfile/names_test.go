package symbfile_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/ident"
	"symbolon/internal/ingest/symbfile"
)

const oneID, otherID = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"

// telling returns a part with a build id and a base.
func telling(k, n int, id ident.BuildID, base ...uint64) symbfile.Part {
	p := part(k, n)
	p.BuildID = id
	if len(base) > 0 {
		p.Base = &base[0]
	}
	return p
}

// known demands that the Info, and the alias of the build id, tell this base.
func (n *node) known(kind symbfile.Kind, id ident.BuildID, base uint64) {
	n.t.Helper()
	i, err := n.Info(n.t.Context(), fileID, kind)
	if err != nil || i.BuildID != id || i.Base != base {
		n.t.Fatalf("%+v, %v; want %s, %#x", i, err, id, base)
	}
	r, _, err := n.bucket.Get(n.t.Context(), "known/"+string(id[:2])+"/"+string(id[2:]), 0, -1)
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if want := fmt.Sprintf(`{"fileid":%q,"base":%d}`, fileID.Base64(), base); err != nil || string(text) != want {
		n.t.Fatalf("the alias is %s, %v; want %s", text, err, want)
	}
}

func TestABaseIsCorrected(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	body := ranges("x", 0, 3)
	for _, tc := range []struct {
		told      []uint64
		publishes bool
		want      uint64
	}{{[]uint64{0x400000}, true, 0x400000}, {nil, false, 0x400000}, {[]uint64{0}, true, 0}, {[]uint64{0}, false, 0}, {nil, false, 0}, {[]uint64{0x1000}, true, 0x1000}} {
		n.clock.pass(time.Second)
		n.sent(telling(0, 1, oneID, tc.told...), body, tc.publishes)
		n.known(symbfile.Ranges, oneID, tc.want)
	}
	n.sent(telling(0, 1, oneID), ranges("y", 0, 3), true) // another content
	n.known(symbfile.Ranges, oneID, 0x1000)
	n.sent(telling(0, 1, otherID), body, true) // another binary, perhaps
	n.known(symbfile.Ranges, otherID, 0)
}

func TestABaseOfSeveralPartsIsCorrected(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	parts := split("x", 2)
	for _, base := range []uint64{0x400000, 0, 0x1000} {
		n.sent(telling(0, 2, oneID, base), parts[0], false)
		n.sent(telling(1, 2, oneID, base), parts[1], true)
		n.known(symbfile.Ranges, oneID, base)
		n.sent(telling(1, 2, oneID), parts[1], false) // a repetition
		n.known(symbfile.Ranges, oneID, base)
		n.clock.pass(2 * time.Minute)
	}
}

// TestWhatIsKnownOfABinaryStays has symbols published again without a build id.
func TestWhatIsKnownOfABinaryStays(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{})
	n.sent(telling(0, 1, oneID, 0x400000), ranges("old", 0, 3), true)
	other := ident.FileID{1}
	p := telling(0, 1, oneID, 0x400000)
	p.File = other // the build id leads there now
	n.sent(p, ranges("other", 0, 3), true)
	for k, body := range split("new", 2) {
		n.sent(part(k, 2), body, k == 1)
	}
	i, err := n.Info(t.Context(), fileID, symbfile.Ranges)
	if err != nil || i.BuildID != oneID || i.Base != 0x400000 {
		t.Fatalf("%+v, %v", i, err)
	}
	r, _, err := n.bucket.Get(t.Context(), "known/11/"+oneID[2:], 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(r)
	r.Close()
	if want := fmt.Sprintf(`{"fileid":%q,"base":%d}`, other.Base64(), 0x400000); string(text) != want {
		t.Errorf("an alias without a client that named it is written: %s", text)
	}
	p = part(0, 1)
	p.Kind = symbfile.ReturnPads // never sent with a build id
	n.sent(p, pads(3), true)
	if i, err = n.Info(t.Context(), fileID, symbfile.ReturnPads); err != nil || i.BuildID != oneID || i.Base != 0x400000 {
		t.Fatalf("%+v, %v", i, err)
	}
}
