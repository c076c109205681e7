package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/filter/wire"
)

func TestFieldsAreReadAsWritten(t *testing.T) {
	var msg []byte
	msg = wire.AppendVarint(msg, 1, 0)
	msg = wire.AppendVarint(msg, 536870911, math.MaxUint64)
	msg = wire.AppendBytes(msg, 15, "text")
	msg = wire.AppendBytes(msg, 16, bytes.Repeat([]byte{7}, 300))
	msg = append(msg, 3<<3|5, 1, 2, 3, 4)
	msg = append(msg, 3<<3|1, 1, 2, 3, 4, 5, 6, 7, 8)
	type field struct {
		num   int
		typ   wire.Tag
		value uint64
		bytes int
	}
	want := []field{
		{1, wire.Varint, 0, 0},
		{536870911, wire.Varint, math.MaxUint64, 0},
		{15, wire.Bytes, 0, 4},
		{16, wire.Bytes, 0, 300},
		{3, wire.Fixed32, 0x04030201, 0},
		{3, wire.Fixed64, 0x0807060504030201, 0},
	}
	var got []field
	end := 0
	r := wire.NewReader(msg)
	for r.Next() {
		if r.Start != end {
			t.Errorf("a field begins at byte %d, the one before ends at %d", r.Start, end)
		}
		end = r.End
		got = append(got, field{r.Tag.Num(), r.Tag & 7, r.Value, len(r.Bytes)})
	}
	if r.Err() != nil || end != len(msg) {
		t.Errorf("reading ended at byte %d of %d: %v", end, len(msg), r.Err())
	}
	if !slices.Equal(got, want) {
		t.Errorf("fields are\n%v, want\n%v", got, want)
	}
}

func TestDamagedFieldEndsMessage(t *testing.T) {
	good := wire.AppendVarint(nil, 1, 1)
	for name, c := range map[string]struct {
		msg  []byte
		want error
	}{
		"number of zero":     {[]byte{0, 1}, nil},
		"number of 32 bits":  {[]byte{0x80, 0x80, 0x80, 0x80, 0x40, 1}, nil},
		"group":              {[]byte{1<<3 | 3}, nil},
		"end of a group":     {[]byte{1<<3 | 4}, nil},
		"type of 7":          {[]byte{1<<3 | 7}, nil},
		"tag without end":    {[]byte{0x88}, io.ErrUnexpectedEOF},
		"number without end": {[]byte{1 << 3, 0x80}, io.ErrUnexpectedEOF},
		"number of 65 bits":  {append([]byte{1 << 3}, bytes.Repeat([]byte{0xff}, 11)...), nil},
		"short text":         {[]byte{1<<3 | 2, 2, 0}, io.ErrUnexpectedEOF},
		"huge text":          {append([]byte{1<<3 | 2}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), io.ErrUnexpectedEOF},
		"short fixed32":      {[]byte{1<<3 | 5, 0, 0, 0}, io.ErrUnexpectedEOF},
		"short fixed64":      {[]byte{1<<3 | 1, 0, 0, 0, 0, 0, 0, 0}, io.ErrUnexpectedEOF},
	} {
		r := wire.NewReader(append(slices.Clone(good), c.msg...))
		fields := 0
		for r.Next() {
			fields++
		}
		err := r.Err()
		if fields != 1 || fault.KindOf(err) != fault.Malformed || r.Start != len(good) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %d fields, the next at byte %d: %v; want 1 field and an error at byte %d", name, fields, r.Start, err, len(good))
		}
		if r.Next() {
			t.Errorf("%s: a field follows the error", name)
		}
	}
}

func TestFieldsAreDroppedByNumber(t *testing.T) {
	msg := wire.AppendVarint(nil, 1, 1)
	msg = wire.AppendBytes(msg, 5, "five")
	msg = wire.AppendVarint(msg, 5, 5)
	msg = wire.AppendVarint(msg, 69, 1)
	want := wire.AppendVarint(wire.AppendVarint(nil, 1, 1), 69, 1)
	if got := wire.AppendWithout(nil, msg, 1<<5|1<<4); !bytes.Equal(got, want) {
		t.Errorf("the rest of the message is %x, want %x", got, want)
	}
}

func TestListIsReadToItsDamage(t *testing.T) {
	got := slices.Collect(wire.Numbers([]byte{1, 0xac, 2, 0, 0x80}))
	if want := []uint64{1, 300, 0}; !slices.Equal(got, want) {
		t.Errorf("the numbers are %v, want %v", got, want)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(wire.AppendBytes(wire.AppendVarint(nil, 1, 300), 2, "text"))
	f.Add([]byte{1<<3 | 5, 0, 0, 0, 0, 1<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, msg []byte) {
		r := wire.NewReader(msg)
		end := 0
		for r.Next() {
			if r.Start != end || r.End <= r.Start {
				t.Fatalf("a field lasts from byte %d to %d, the one before ends at %d", r.Start, r.End, end)
			}
			end = r.End
		}
		if r.Err() == nil && end != len(msg) {
			t.Fatalf("the fields end at byte %d of %d without an error", end, len(msg))
		}
		if got := wire.AppendWithout(nil, msg, 0); !bytes.Equal(got, msg[:end]) {
			t.Fatalf("a copy of all fields is %x, want %x", got, msg[:end])
		}
	})
}
