package symbfile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/source"
)

const (
	skippable = 0x184D2A50
	firstTail = 16 << 10 // bytes of the end of a blob that are read at first
	maxTail   = 1 << 20  // and at most: older versions wrote a sum of each part
	maxTries  = 10       // to read a blob that is replaced meanwhile
)

// Info describes a published file.
type Info struct {
	Content   ingest.Sum    `json:"content"` // over the sums of the decoded parts, in order
	Parts     int           `json:"parts"`
	Records   int64         `json:"records"`   // ranges and pads
	Size      int64         `json:"size"`      // decoded
	Published time.Time     `json:"published"` // when the last part arrived
	BuildID   ident.BuildID `json:"build_id,omitempty"`
	Base      uint64        `json:"image_base,omitempty"`

	Version string `json:"-"` // of the blob, if the bucket has versions
}

// describe returns the Info of a file that has these parts.
func describe(heads []*head) *Info {
	i := &Info{Parts: len(heads)}
	content := sha256.New()
	last := int64(0)
	for _, h := range heads {
		content.Write(h.Sum[:])
		i.Records += h.Ranges + h.Pads
		i.Size += h.Size - h.Cut
		last = max(last, h.Received)
	}
	i.Published = time.UnixMilli(last).UTC()
	content.Sum(i.Content[:0])
	return i
}

// agrees reports whether a part names no other build id or base than i.
func (i *Info) agrees(h *head) bool {
	return (h.BuildID.IsZero() || h.BuildID == i.BuildID) && (h.Base == nil || *h.Base == i.Base)
}

// frame returns the last frame of a blob.
func (i *Info) frame() ([]byte, error) {
	text, err := json.Marshal(i)
	if err != nil {
		return nil, fault.New(fault.Internal, "", "%w", err)
	}
	b := binary.LittleEndian.AppendUint32(nil, skippable)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)+4))
	b = append(b, text...)
	return binary.LittleEndian.AppendUint32(b, uint32(len(text))), nil
}

// Info returns the Info of a published file. A blob without one is Malformed.
func (s *Store) Info(ctx context.Context, f ident.FileID, k Kind) (*Info, error) {
	key := source.ElasticPath(f, k.String())
	want := int64(firstTail)
	for range maxTries {
		a, err := s.deps.Bucket.Stat(ctx, key)
		if err != nil {
			return nil, err
		}
		tail, now, err := s.tail(ctx, key, a.Size, want)
		size := now.Size
		switch {
		case err != nil:
			return nil, err
		case size != a.Size || int64(len(tail)) != min(want, size):
			continue // it was replaced
		}
		i, need, err := parseTail(tail)
		switch {
		case err != nil:
			return nil, fault.New(fault.Malformed, key, "%w", err)
		case i != nil:
			i.Version = now.Version
			return i, nil
		case need > min(size, maxTail):
			return nil, fault.New(fault.Malformed, key, "the blob has no description")
		}
		want = need
	}
	return nil, fault.New(fault.Transport, key, "the blob was replaced %d times while it was read", maxTries)
}

// tail reads the last n bytes of a blob of this size, and its attributes.
func (s *Store) tail(ctx context.Context, key string, size, n int64) ([]byte, bucket.Attrs, error) {
	off := max(size-n, 0)
	r, a, err := s.deps.Bucket.Get(ctx, key, off, size-off)
	if err != nil {
		return nil, a, err
	}
	defer r.Close()
	tail, err := io.ReadAll(r)
	return tail, a, err
}

// parseTail parses the Info at the end of tail, or returns how many bytes it needs.
func parseTail(tail []byte) (i *Info, need int64, err error) {
	const around = 4 + 4 + 4
	n := int64(len(tail))
	if n < around {
		return nil, around, nil
	}
	order := binary.LittleEndian
	size := int64(order.Uint32(tail[n-4:]))
	if need = size + around; need > n {
		return nil, need, nil
	}
	frame := tail[n-need:]
	if order.Uint32(frame) != skippable || int64(order.Uint32(frame[4:])) != size+4 {
		return nil, 0, fault.New(fault.Malformed, "", "the blob has no description")
	}
	i = &Info{}
	if err := json.Unmarshal(frame[8:8+size], i); err != nil {
		return nil, 0, err
	}
	return i, need, nil
}
