package symbfile_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

// FuzzTake cuts bytes in two, or not, and demands that they are refused and nothing
// is published, or that what is published has the records that were sent.
func FuzzTake(f *testing.F) {
	for _, body := range hostile() {
		if len(body) < 1<<16 {
			f.Add(body, uint16(0), false)
			f.Add(body, uint16(len(body)/2), false)
		}
	}
	z, _ := zstd.NewWriter(nil)
	good := ranges("good", 0, 9)
	for _, at := range []int{0, 5, 8, 10, 11, 100, len(good), len(good) + 20} {
		f.Add(slices.Concat(good, ranges("more", 9, 3)), uint16(at), true)
		f.Add(z.EncodeAll(good, nil), uint16(at), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, at uint16, mixed bool) {
		n := open(t, mem.New(), symbfile.Config{MaxPart: 1 << 20, Mixed: mixed})
		if len(body) >= 4 && string(body[:4]) == "\x28\xb5\x2f\xfd" || at == 0 {
			published, err := n.take(part(0, 1), body)
			n.judge(published, err, decoded(body))
			return
		}
		parts := cut(body, min(int(at), len(body)))
		first, err := n.take(of("u", 1, 2), parts[1])
		if first || err != nil {
			n.judge(first, err, nil)
			return
		}
		published, err := n.take(of("u", 0, 2), parts[0])
		switch {
		case !bytes.HasPrefix(parts[1], []byte("symbfile")):
			if bytes.HasPrefix(parts[1], []byte("\x28\xb5\x2f\xfd")) {
				return
			}
			n.judge(published, err, body)
		case err == nil:
			list, bad := records(parts[0])
			rest, worse := records(parts[1])
			got, failed := records(n.published(symbfile.Ranges))
			if !published || bad != nil || worse != nil || failed != nil || !slices.Equal(got, append(list, rest...)) {
				t.Fatalf("%v; %v, %v, %v: %q", published, bad, worse, failed, got)
			}
		default:
			n.judge(published, err, nil)
		}
	})
}

// judge demands that a file was refused, or that it is published as it was sent.
func (n *node) judge(published bool, err error, sent []byte) {
	n.t.Helper()
	got := n.published(symbfile.Ranges)
	switch {
	case err != nil:
		if _, ok := err.(*ingest.Refusal); !ok || published || got != nil {
			n.t.Fatalf("%v, %v, %d bytes are published", published, err, len(got))
		}
	case !published || !bytes.Equal(got, sent):
		n.t.Fatalf("%v: %d bytes are published, sent were %d", published, len(got), len(sent))
	default:
		must(n.t, got)
	}
}

// decoded is a body without its compression.
func decoded(body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("\x28\xb5\x2f\xfd")) {
		return body
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<21))
	if err != nil {
		return nil
	}
	defer z.Close()
	b, _ := z.DecodeAll(body, nil)
	return b
}
