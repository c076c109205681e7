package symbfile_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/source"
)

func TestAFileOfOnePartIsPublished(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	for _, text := range []string{"first", "second"} {
		body := ranges(text, 0, 100)
		n.sent(part(0, 1), body, true)
		if got := n.published(symbfile.Ranges); !bytes.Equal(got, body) {
			t.Fatalf("published are %d bytes, want %d", len(got), len(body))
		}
		n.sent(part(0, 1), body, false)
	}
	p := part(0, 1)
	p.Kind = symbfile.ReturnPads
	n.sent(p, pads(7), true)
	if got := n.published(symbfile.ReturnPads); !bytes.Equal(got, pads(7)) {
		t.Fatalf("published are %d bytes", len(got))
	}
	n.holds(ranges("second", 0, 100))
}

// scenarios are what holds over every bucket.
var scenarios = map[string]func(t *testing.T, b bucket.Bucket){
	"PartsComeInAnyOrder": func(t *testing.T, b bucket.Bucket) {
		n := open(t, b, symbfile.Config{})
		for round := range 8 {
			parts := split(fmt.Sprint("order", round), 5)
			order := rand.New(rand.NewPCG(uint64(round), 1)).Perm(5)
			for i, k := range order {
				n.sent(of(fmt.Sprint("u", round), k, 5), parts[k], i == 4)
			}
			n.holds(parts...)
			if left := n.waiting(fmt.Sprint("u", round), 5); left != nil {
				t.Fatalf("parts are left: %v", left)
			}
		}
	},
	"PartsComeAtOnceToTwoProcesses": func(t *testing.T, b bucket.Bucket) {
		one := open(t, b, symbfile.Config{})
		nodes := []*node{one, beside(t, b, symbfile.Config{}, one.clock)}
		for round := range 3 {
			parts := split(fmt.Sprint("at once", round), 12)
			var all sync.WaitGroup
			var published atomic.Int64
			for k := range parts {
				for twice := range 2 {
					all.Go(func() {
						done, err := nodes[(k+twice)%2].take(of(fmt.Sprint("u", round), k, 12), parts[k])
						if err != nil {
							t.Errorf("part %d: %v", k, err)
						}
						if done {
							published.Add(1)
						}
					})
				}
			}
			all.Wait()
			if published.Load() == 0 {
				t.Error("no process has published")
			}
			one.holds(parts...)
		}
	},
	"ARepeatedPartIsTheSame": func(t *testing.T, b bucket.Bucket) {
		n := open(t, b, symbfile.Config{})
		parts := split("repeated", 3)
		for _, upload := range []string{"", "u"} {
			for _, k := range []int{0, 0, 2, 0, 2} {
				n.sent(of(upload, k, 3), parts[k], false)
			}
			n.sent(of(upload, 1, 3), parts[1], true)
			n.sent(of(upload, 1, 3), parts[1], false) // the answer was lost
			n.sent(of(upload, 2, 3), parts[2], false)
			if left := n.waiting(upload, 3); left != nil {
				t.Fatalf("a repetition of what is published is held: %v", left)
			}
			n.holds(parts...)
		}
	},
	"AnotherNumberIsAnotherGeneration": func(t *testing.T, b bucket.Bucket) {
		n := open(t, b, symbfile.Config{})
		three, two := split("three", 3), split("two", 2)
		n.sent(part(0, 3), three[0], false)
		n.sent(part(0, 2), two[0], false)
		n.sent(part(2, 3), three[2], false)
		n.sent(part(1, 2), two[1], true)
		n.holds(two...)
		n.sent(part(1, 3), three[1], true)
		n.holds(three...)
	},
	"RawContinuationsAreJoined": func(t *testing.T, b bucket.Bucket) {
		n := open(t, b, symbfile.Config{})
		file := ranges("raw", 0, 40)
		for i, at := range [][]int{{1, 2}, {4, 8}, {7, 9}, {9, 10}, {10, 11}, {100, 1000}, {len(file) / 2, len(file)/2 + 1}, {11, len(file) - 1}} {
			parts := cut(file, at...)
			name := fmt.Sprint("raw", i)
			n.sent(of(name, 2, 3), parts[2], false)
			n.sent(of(name, 0, 3), parts[0], false)
			n.sent(of(name, 1, 3), parts[1], true)
			if got := n.published(symbfile.Ranges); !bytes.Equal(got, file) {
				t.Fatalf("cut at %v: published are %d bytes, want %d", at, len(got), len(file))
			}
			i, err := n.Info(t.Context(), fileID, symbfile.Ranges)
			if err != nil || i.Records != 40 || i.Size != int64(len(file)) {
				t.Fatalf("%+v, %v", i, err)
			}
		}
	},
	"ABadContinuationVoidsTheUpload": func(t *testing.T, b bucket.Bucket) {
		n := open(t, b, symbfile.Config{})
		good := ranges("good", 0, 40)
		n.sent(part(0, 1), good, true)
		bad := append([]byte(nil), good...)
		bad[len(bad)-40] ^= 0x80
		parts := cut(bad[:len(bad)-3], 300)
		n.sent(part(0, 2), parts[0], false)
		r := n.refused(part(1, 2), parts[1], ingest.Malformed)
		if !strings.Contains(r.Error(), "at 0x") {
			t.Errorf("no offset: %v", r)
		}
		if left := n.waiting("", 2); left != nil {
			t.Errorf("parts are left: %v", left)
		}
		n.holds(good)
		whole := cut(ranges("again", 0, 40), 300)
		n.sent(part(1, 2), whole[1], false)
		n.sent(part(0, 2), whole[0], true)
		n.holds(ranges("again", 0, 40))
	},
	"UploadsThatTellAreNeverMixed": func(t *testing.T, b bucket.Bucket) {
		one := open(t, b, symbfile.Config{})
		nodes := []*node{one, beside(t, b, symbfile.Config{}, one.clock)}
		uploads := [][][]byte{split("alpha", 6), split("beta", 6)}
		var all sync.WaitGroup
		for u, parts := range uploads {
			for k := range parts {
				all.Go(func() {
					if _, err := nodes[(u+k)%2].take(of([]string{"A", "b"}[u], k, 6), parts[k]); err != nil {
						t.Errorf("part %d: %v", k, err)
					}
				})
			}
		}
		all.Wait()
		got := must(t, one.published(symbfile.Ranges))
		for _, parts := range uploads {
			if slices.Equal(got, must(t, slices.Concat(parts[0], parts[1][10:], parts[2][10:], parts[3][10:], parts[4][10:], parts[5][10:]))) {
				return
			}
		}
		t.Fatalf("it is neither: %.300q", got)
	},
	"NamesAreWritten": func(t *testing.T, b bucket.Bucket) {
		n := open(t, b, symbfile.Config{})
		parts := split("names", 2)
		p := part(0, 2)
		p.BuildID, p.Base = "b5381a457906d279073822a5ceb24c4bfef94ddb", new(uint64(1<<63))
		n.sent(p, parts[0], false)
		n.sent(part(1, 2), parts[1], true)
		for _, key := range []string{"b5/381a457906d279073822a5ceb24c4bfef94ddb", "45/1a38b5067979d2073822a5ceb24c4b0", "b5/381a457906d279073822a5ceb24c4b0"} {
			r, _, err := b.Get(t.Context(), "known/"+key, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(r)
			r.Close()
			if want := `{"fileid":"` + fileID.Base64() + `","base":9223372036854775808}`; string(text) != want {
				t.Errorf("%s has %s, want %s", key, text, want)
			}
		}
	},
}

func TestStoreOverAFolder(t *testing.T) {
	t.Parallel()
	for name, test := range scenarios {
		t.Run(name, func(t *testing.T) { test(t, folder(t)) })
	}
}

func TestInfoTellsWhatIsPublished(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	if _, err := n.Info(t.Context(), fileID, symbfile.Ranges); fault.KindOf(err) != fault.NotFound {
		t.Fatalf("Info of nothing: %v", err)
	}
	parts := split("info", 3)
	for k, body := range parts {
		n.clock.pass(time.Second)
		p := of("up", k, 3)
		if k == 2 {
			p.BuildID, p.Base = "abcd", new(uint64(0x400000))
		}
		n.sent(p, body, k == 2)
	}
	i, err := n.Info(t.Context(), fileID, symbfile.Ranges)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(n.published(symbfile.Ranges)))
	if want := contentOf(parts); i.Content != want {
		t.Errorf("content %v, want %v", i.Content, want)
	}
	if i.Parts != 3 {
		t.Errorf("%d parts, want 3", i.Parts)
	}
	if i.Records != 60 {
		t.Errorf("%d records, want 60", i.Records)
	}
	if i.Size != size {
		t.Errorf("%d bytes, want %d", i.Size, size)
	}
	if i.BuildID != "abcd" {
		t.Errorf("build id %q, want abcd", i.BuildID)
	}
	if i.Base != 0x400000 {
		t.Errorf("base %#x, want 0x400000", i.Base)
	}
	if want := n.clock.now().Truncate(time.Millisecond); !i.Published.Equal(want) {
		t.Errorf("published at %v, want %v", i.Published, want)
	}
	if size != int64(len(parts[0])+len(parts[1])+len(parts[2])-2*10) {
		t.Fatalf("%d bytes are published: more than the heads is cut off", size)
	}
}

func TestAFileOfManyPartsIsPublished(t *testing.T) {
	t.Parallel()
	n := open(t, mem.New(), symbfile.Config{})
	body := ranges("x", 0, 1)
	const count = 2500
	for k := range count {
		n.sent(part(k, count), body, k == count-1)
	}
	i, err := n.Info(t.Context(), fileID, symbfile.Ranges)
	if err != nil || i.Parts != count || i.Records != count {
		t.Fatalf("%+v, %v", i, err)
	}
}

// TestInfoOfOlderVersionsIsRead has one with a sum of each part, which is more than
// is read at first.
func TestInfoOfOlderVersionsIsRead(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{})
	text := fmt.Sprintf(`{"content":"%064x","parts":2500,"part_sums":%q,"records":7,"size":9,"published":"2026-01-02T03:04:05Z","upload":"u"}`,
		1, base64.StdEncoding.EncodeToString(make([]byte, 20_000)))
	b := binary.LittleEndian.AppendUint32([]byte("frames"), 0x184D2A50)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)+4))
	b = binary.LittleEndian.AppendUint32(append(b, text...), uint32(len(text)))
	if _, err := n.bucket.Put(t.Context(), source.ElasticPath(fileID, "ranges"), bytes.NewReader(b), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	i, err := n.Info(t.Context(), fileID, symbfile.Ranges)
	if err != nil || i.Parts != 2500 || i.Records != 7 {
		t.Fatalf("%+v, %v", i, err)
	}
}

func TestABlobOfOthersIsReplaced(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	for _, text := range []string{"", "x", "not ours", strings.Repeat("\xff", 100_000), strings.Repeat("\x00", 100_000)} {
		if _, err := n.bucket.Put(t.Context(), source.ElasticPath(fileID, "ranges"), strings.NewReader(text), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Info(t.Context(), fileID, symbfile.Ranges); fault.KindOf(err) != fault.Malformed {
			t.Errorf("Info of %.10q: %v", text, err)
		}
	}
	n.sent(part(0, 1), ranges("ours", 0, 1), true)
}

func TestKindsAreKeptApart(t *testing.T) {
	mixed := slices.Concat(ranges("x", 0, 3), pads(3)[10:])
	n := open(t, folder(t), symbfile.Config{})
	for _, body := range [][]byte{pads(3), mixed} {
		r := n.refused(part(0, 1), body, ingest.WrongKind)
		if !strings.Contains(r.Error(), "at 0x") {
			t.Errorf("no offset: %v", r)
		}
	}
	raw := cut(mixed, len(mixed)-10)
	n.sent(part(1, 2), raw[1], false)
	n.refused(part(0, 2), raw[0], ingest.WrongKind)
	if n.published(symbfile.Ranges) != nil {
		t.Error("something is published")
	}
	n = open(t, folder(t), symbfile.Config{Mixed: true})
	n.sent(part(0, 1), mixed, true)
	if i, err := n.Info(t.Context(), fileID, symbfile.Ranges); err != nil || i.Records != 6 {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestAFileWithoutRecordsIsPublished(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	for _, body := range []string{"symbfile\x00\x01", "symbfile\x00\x01\x00\x04"} {
		n.sent(part(0, 1), []byte(body), true)
		if got := n.published(symbfile.Ranges); string(got) != body {
			t.Errorf("%q is published", got)
		}
	}
	n.sent(part(0, 2), []byte("symbfile\x00\x01"), false)
	n.sent(part(1, 2), []byte("symbfile\x00\x01"), true)
	if got := n.published(symbfile.Ranges); string(got) != "symbfile\x00\x01" {
		t.Errorf("%q is published", got)
	}
}

func TestCompressedBodiesAreTheSame(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	parts := split("packed", 2)
	z, _ := zstd.NewWriter(nil)
	packed := z.EncodeAll(parts[0], nil)
	n.sent(part(0, 2), packed, false)
	n.sent(part(0, 2), parts[0], false)
	n.sent(part(1, 2), z.EncodeAll(parts[1], nil), true)
	n.holds(parts...)
	n.refused(part(0, 1), packed[:len(packed)-9], ingest.Truncated)
	packed[len(packed)-20] ^= 1
	n.refused(part(0, 1), packed, ingest.Malformed)
}

func contentOf(parts [][]byte) (s ingest.Sum) {
	all := sha256.New()
	for _, p := range parts {
		one := sha256.New()
		one.Write(p)
		all.Write(one.Sum(nil))
	}
	all.Sum(s[:0])
	return s
}

func TestPartsThatCannotBeAreRefused(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	long := strings.Repeat("u", 65)
	for _, p := range []symbfile.Part{
		part(1, 1), part(-1, 1), part(0, 0), part(0, symbfile.MaxParts+1), of("a/b", 0, 2), of("~", 0, 2), of("..", 0, 2), of("ä", 0, 2), of(long, 0, 2),
		{File: fileID, Kind: 2, Count: 1}, {File: fileID, Count: 1, BuildID: "../.."}, {File: fileID, Count: 1, BuildID: "abc"},
	} {
		n.refused(p, ranges("x", 0, 1), ingest.Malformed)
	}
	n.sent(of(long[:64], 0, 2), ranges("x", 0, 1), false)
}

// Parts that wait must be readable after an upgrade.
func TestLineOfAWaitingPart(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{})
	n.clock.at.Store(1_700_000_000_123 * int64(time.Millisecond))
	base := uint64(0x400000)
	p := part(0, 2)
	p.BuildID, p.Base = "0123456789abcdef0123", &base
	body := ranges("waits", 0, 2)
	n.sent(p, body, false)
	r, _, err := n.bucket.Get(t.Context(), n.keyOf("", 0, 2), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"received":1700000000123,"sha256":"%x","size":%d,"ranges":2,"pads":0,"build_id":"0123456789abcdef0123","base":4194304}`, sha256.Sum256(body), len(body))
	if strings.TrimSpace(line) != want {
		t.Errorf("the line is\n%s, want\n%s", line, want)
	}
}
