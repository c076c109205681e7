package bin_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"symbolon/internal/bin"
)

func TestCursorReadsBothByteOrders(t *testing.T) {
	data := []byte{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f}
	for _, tc := range []struct {
		order binary.ByteOrder
		u16   uint16
		u32   uint32
		u64   uint64
	}{
		{binary.LittleEndian, 0x0302, 0x07060504, 0x0f0e0d0c0b0a0908},
		{binary.BigEndian, 0x0203, 0x04050607, 0x08090a0b0c0d0e0f},
	} {
		c := bin.NewCursor(data, tc.order)
		if v := c.U8(); v != 1 {
			t.Errorf("%v: U8 = %#x", tc.order, v)
		}
		if v := c.U16(); v != tc.u16 {
			t.Errorf("%v: U16 = %#x", tc.order, v)
		}
		if v := c.U32(); v != tc.u32 {
			t.Errorf("%v: U32 = %#x", tc.order, v)
		}
		if v := c.U64(); v != tc.u64 {
			t.Errorf("%v: U64 = %#x", tc.order, v)
		}
		if c.Len() != 0 || c.Off() != len(data) || c.Err() != nil {
			t.Errorf("%v: at the end: Len %d, Off %d, Err %v", tc.order, c.Len(), c.Off(), c.Err())
		}
	}
}

func TestCursorErrorsAreSticky(t *testing.T) {
	reads := map[string]func(c *bin.Cursor) bool{ // true: the read gave nothing
		"U8":      func(c *bin.Cursor) bool { return c.U8() == 0 },
		"U16":     func(c *bin.Cursor) bool { return c.U16() == 0 },
		"U32":     func(c *bin.Cursor) bool { return c.U32() == 0 },
		"U64":     func(c *bin.Cursor) bool { return c.U64() == 0 },
		"Uleb":    func(c *bin.Cursor) bool { return c.Uleb() == 0 },
		"Sleb":    func(c *bin.Cursor) bool { return c.Sleb() == 0 },
		"Bytes":   func(c *bin.Cursor) bool { return c.Bytes(4) == nil },
		"CString": func(c *bin.Cursor) bool { return c.CString() == nil },
		"Skip":    func(c *bin.Cursor) bool { c.Skip(4); return true },
		"huge":    func(c *bin.Cursor) bool { return c.Bytes(math.MaxInt) == nil },
		"below":   func(c *bin.Cursor) bool { return c.Bytes(-1) == nil },
		"back":    func(c *bin.Cursor) bool { c.Skip(-1); return true },
	}
	for name, read := range reads {
		c := bin.NewCursor([]byte{1, 1, 0x81, 0x81, 0x81}, binary.LittleEndian)
		c.Skip(2)
		if name == "U8" || name == "U16" {
			c.Skip(3)
		}
		off := c.Off()
		if !read(c) {
			t.Errorf("%s beyond the end returned data", name)
		}
		if !errors.Is(c.Err(), bin.ErrShort) || c.Off() != off || c.Len() != 0 {
			t.Errorf("%s beyond the end: Err %v, Off %d (want %d), Len %d", name, c.Err(), c.Off(), off, c.Len())
		}
		for after, read := range reads {
			if !read(c) || c.Off() != off {
				t.Errorf("%s after a failed %s returned data", after, name)
			}
		}
	}
}

func TestFirstErrorIsKept(t *testing.T) {
	c := bin.NewCursor(bytes.Repeat([]byte{0xff}, 11), binary.LittleEndian)
	c.Uleb()
	c.U8()
	if !errors.Is(c.Err(), bin.ErrOverflow) {
		t.Errorf("Err = %v", c.Err())
	}
}

func TestUleb(t *testing.T) {
	for _, tc := range []struct {
		in   []byte
		want uint64
		err  error
	}{
		{[]byte{0x00}, 0, nil},
		{[]byte{0x7f}, 127, nil},
		{[]byte{0x80, 0x01}, 128, nil},
		{[]byte{0xe5, 0x8e, 0x26}, 624485, nil},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, math.MaxUint64, nil},
		{[]byte{0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 3, nil},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 0, bin.ErrOverflow},
		{[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 0, bin.ErrOverflow},
		{[]byte{0x80, 0x80}, 0, bin.ErrShort},
		{nil, 0, bin.ErrShort},
	} {
		c := bin.NewCursor(tc.in, binary.LittleEndian)
		if got := c.Uleb(); got != tc.want || !errors.Is(c.Err(), tc.err) {
			t.Errorf("% x: %d, %v; want %d, %v", tc.in, got, c.Err(), tc.want, tc.err)
		}
		if tc.err == nil && c.Len() != 0 {
			t.Errorf("% x: %d bytes left", tc.in, c.Len())
		}
	}
}

func TestSleb(t *testing.T) {
	for _, tc := range []struct {
		in   []byte
		want int64
		err  error
	}{
		{[]byte{0x02}, 2, nil},
		{[]byte{0x7e}, -2, nil},
		{[]byte{0xff, 0x00}, 127, nil},
		{[]byte{0x81, 0x7f}, -127, nil},
		{[]byte{0x80, 0x01}, 128, nil},
		{[]byte{0x80, 0x7f}, -128, nil},
		{[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, math.MinInt64, nil},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, math.MaxInt64, nil},
		{[]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, -2, nil},
		{[]byte{0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 2, nil},
		{[]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 0, bin.ErrOverflow},
		{[]byte{0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, 0, bin.ErrOverflow},
		{[]byte{0xff}, 0, bin.ErrShort},
		{nil, 0, bin.ErrShort},
	} {
		c := bin.NewCursor(tc.in, binary.LittleEndian)
		if got := c.Sleb(); got != tc.want || !errors.Is(c.Err(), tc.err) {
			t.Errorf("% x: %d, %v; want %d, %v", tc.in, got, c.Err(), tc.want, tc.err)
		}
		if tc.err == nil && c.Len() != 0 {
			t.Errorf("% x: %d bytes left", tc.in, c.Len())
		}
	}
}

func TestCStringStopsAtNUL(t *testing.T) {
	c := bin.NewCursor([]byte("ab\x00\x00cd"), binary.LittleEndian)
	if s := c.CString(); string(s) != "ab" || cap(s) != 2 {
		t.Errorf("first = %q, capacity %d", s, cap(s))
	}
	if s := c.CString(); s == nil || len(s) != 0 {
		t.Errorf("second = %q, want empty and not nil", s)
	}
	if s := c.CString(); s != nil || !errors.Is(c.Err(), bin.ErrShort) {
		t.Errorf("third = %q, %v", s, c.Err())
	}
}

func TestCursorDoesNotAllocate(t *testing.T) {
	data := []byte("\x01\x02\x03\x04\x05\x06\x07\x80\x01\x7eab\x00cdef")
	if n := testing.AllocsPerRun(100, func() {
		c := bin.NewCursor(data, binary.BigEndian)
		c.U8()
		c.U16()
		c.U32()
		c.Uleb()
		c.Sleb()
		c.CString()
		c.Bytes(2)
		c.U64()
		if c.Err() == nil {
			t.Error("no error at the end")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzCursor compares a sequence of reads, chosen by the input, with simple
// implementations.
func FuzzCursor(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 12, 0x80, 1})
	f.Add([]byte{4, 5, 4}, bytes.Repeat([]byte{0x80}, 20))
	f.Add([]byte{5, 5}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x80, 0x7f})
	f.Fuzz(func(t *testing.T, ops, data []byte) {
		c := bin.NewCursor(data, binary.LittleEndian)
		for _, op := range ops {
			off := c.Off()
			switch op % 8 {
			case 0:
				c.U8()
			case 1:
				c.U16()
			case 2:
				c.U32()
			case 3:
				c.U64()
			case 4:
				if v := c.Uleb(); c.Err() == nil {
					checkUleb(t, data[off:c.Off()], v)
				}
			case 5:
				if v := c.Sleb(); c.Err() == nil && c.Off()-off <= binary.MaxVarintLen64 {
					checkSleb(t, data[off:c.Off()], v)
				}
			case 6:
				c.CString()
			case 7:
				c.Bytes(int(int8(op)))
			}
			if c.Off() < off || c.Off() > len(data) || c.Err() != nil && (c.Off() != off || c.Len() != 0) {
				t.Fatalf("op %d moved from %d to %d, %d left, %v", op%8, off, c.Off(), c.Len(), c.Err())
			}
		}
	})
}

func checkUleb(t *testing.T, enc []byte, got uint64) {
	var want uint64
	for i, x := range enc {
		if 7*i < 64 {
			want |= uint64(x&0x7f) << (7 * i)
		}
	}
	if got != want {
		t.Fatalf("% x: %d, want %d", enc, got, want)
	}
}

func checkSleb(t *testing.T, enc []byte, got int64) {
	var want int64
	for i, x := range enc {
		want |= int64(x&0x7f) << (7 * i)
	}
	if last := len(enc) - 1; enc[last]&0x40 != 0 && 7*len(enc) < 64 {
		want -= 1 << (7 * len(enc))
	}
	if got != want {
		t.Fatalf("% x: %d, want %d", enc, got, want)
	}
}

func BenchmarkCursor(b *testing.B) {
	data := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 0x81, 0x02, 0x7e}, 100)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		c := bin.NewCursor(data, binary.LittleEndian)
		for c.Len() > 0 {
			c.U8()
			c.U16()
			c.U32()
			c.Uleb()
			c.Sleb()
		}
	}
}
