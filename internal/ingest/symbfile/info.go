package symbfile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

const (
	skippable = 0x184D2A50
	firstTail = 16 << 10 // what is read of the end of a blob, at first
	maxTail   = 1 << 20  // and at most: older versions wrote a sum of each part
)

// Sum is a SHA-256, in texts as hex.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// Info describes what is published.
type Info struct {
	Content   Sum           `json:"content"` // over the sums of the parts as they came, in order
	Parts     int           `json:"parts"`
	Records   int64         `json:"records"`   // ranges and pads
	Size      int64         `json:"size"`      // decoded
	Published time.Time     `json:"published"` // when the last part came
	BuildID   ident.BuildID `json:"build_id,omitempty"`
	Base      uint64        `json:"image_base,omitempty"`

	Version string `json:"-"` // of the blob that it was read from, where the bucket tells that
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

// agrees tells whether h says nothing else of the binary than i.
func (i *Info) agrees(h *head) bool {
	return (h.BuildID.IsZero() || h.BuildID == i.BuildID) && (h.Base == nil || *h.Base == i.Base)
}

// names notes in i what the parts tell of the binary; the first one that tells
// counts. What none tells is as it was told with what is published, if that has no
// other build id. It gives the build id that was told now.
func (u upload) names(ctx context.Context, i *Info, heads []*head) (told ident.BuildID, err error) {
	var base *uint64
	for k := range heads {
		if told.IsZero() {
			told = heads[k].BuildID
		}
		if base == nil {
			base = heads[k].Base
		}
	}
	i.BuildID = told
	for _, kind := range [...]Kind{u.kind, Ranges + ReturnPads - u.kind} {
		if !i.BuildID.IsZero() && base != nil {
			break
		}
		old, err := u.Info(ctx, u.file, kind)
		if kind := fault.KindOf(err); err != nil && kind != fault.NotFound && kind != fault.Malformed {
			return "", err
		}
		if err != nil || old.BuildID.IsZero() {
			continue
		}
		if i.BuildID.IsZero() {
			i.BuildID = old.BuildID
		}
		if base == nil && i.BuildID == old.BuildID {
			base = &old.Base
		}
	}
	if base != nil {
		i.Base = *base
	}
	return told, nil
}

// frame is i as it stands behind the frames of a blob.
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

// Info says what is published. A blob that nothing of ours has published is
// Malformed.
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
			continue // it was replaced meanwhile
		}
		i, need, err := parseTail(tail)
		switch {
		case err != nil:
			return nil, fault.New(fault.Malformed, key, "%w", err)
		case i != nil:
			i.Version = now.Version
			return i, nil
		case need > min(size, maxTail):
			return nil, fault.New(fault.Malformed, key, "nothing describes it")
		}
		want = need
	}
	return nil, fault.New(fault.Transport, key, "it is replaced all the time")
}

// tail reads the last bytes of a blob of this size, and tells what it really is.
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

// parseTail reads the Info at the end of tail, or tells how many bytes it needs.
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
		return nil, 0, fault.New(fault.Malformed, "", "nothing describes it")
	}
	i = &Info{}
	if err := json.Unmarshal(frame[8:8+size], i); err != nil {
		return nil, 0, err
	}
	return i, need, nil
}
