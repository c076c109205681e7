package symcache

import (
	"encoding/binary"

	"symbolon/internal/sym"
)

// AppendText appends the name behind a handle that the table gave out; nothing
// for zero and for what is damaged.
func (t *Table) AppendText(dst []byte, text sym.Text) []byte {
	n, r := uint64(text>>1)-1, &t.origins
	if text&handleFile != 0 {
		r = &t.files
	}
	if text == 0 || n >= r.count || !t.record(r, n) {
		return dst
	}
	d := decoder{t: t, left: MaxText, most: len(dst) + MaxText}
	out, ok := d.append(dst, r.get(n, 0), 0)
	if !ok {
		t.damaged(secText, "string %d cannot be put together", r.get(n, 0))
		return dst
	}
	return out
}

// A decoder puts one name together. It ends whatever the strings say: left is
// how many strings it may still look at, most how long the result may get.
type decoder struct {
	t    *Table
	left int
	most int
}

func (d *decoder) append(dst []byte, id uint64, depth int) ([]byte, bool) {
	s, ok := d.t.string(id)
	if d.left--; !ok || d.left < 0 || depth > maxDecode {
		return dst, false
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c < lead1 {
			k := i + 1
			for k < len(s) && s[k] < lead1 {
				k++
			}
			dst = append(dst, s[i:k]...)
			i = k
			continue
		}
		size := tokenSize(c)
		if i+size > len(s) {
			return dst, false
		}
		if c == escape {
			dst = append(dst, s[i+1])
		} else if dst, ok = d.append(dst, ref(s[i:i+size]), depth+1); !ok {
			return dst, false
		}
		i += size
	}
	return dst, len(dst) <= d.most
}

// ref is the number that a reference stands for.
func ref(s []byte) uint64 {
	switch len(s) {
	case 1:
		return uint64(s[0] - lead1)
	case 2:
		return first2 + uint64(s[0]-lead2)<<8 + uint64(s[1])
	case 3:
		return first3 + uint64(s[0]-lead3)<<16 + uint64(s[1])<<8 + uint64(s[2])
	case 4:
		return first4 + uint64(s[0]-lead4)<<24 + uint64(s[1])<<16 + uint64(s[2])<<8 + uint64(s[3])
	}
	return uint64(binary.BigEndian.Uint32(s[1:]))
}

// string is a string as it is on disk.
func (t *Table) string(id uint64) ([]byte, bool) {
	group := id / stringGroup
	if group >= t.index.count {
		return nil, t.damaged(secIndex, "string %d of %d groups", id, t.index.count)
	}
	if !t.record(&t.index, group) {
		return nil, false
	}
	start := t.index.get(group, 0)
	if start+stringGroup > t.text.size {
		return nil, t.damaged(secIndex, "group %d at %d of %d", group, start, t.text.size)
	}
	group = t.text.at + start
	sizes := t.body[group : group+stringGroup]
	k := id % stringGroup
	from := stringGroup + sumBytes(sizes, k)
	size := uint64(sizes[k])
	if start+from+size > t.text.size {
		return nil, t.damaged(secText, "string %d at %d of %d", id, start+from, t.text.size)
	}
	// The sizes are checked together with what they led to.
	return t.body[group+from : group+from+size], t.touch(group, from+size)
}

// sumBytes is the sum of the first k of sixteen bytes.
func sumBytes(b []byte, k uint64) uint64 {
	lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if k < 8 {
		lo, hi = lo&(1<<(8*k)-1), 0
	} else {
		hi &= 1<<(8*(k-8)) - 1
	}
	const even = 0x00ff00ff00ff00ff
	pairs := lo&even + lo>>8&even + hi&even + hi>>8&even
	return pairs * 0x0001000100010001 >> 48
}
