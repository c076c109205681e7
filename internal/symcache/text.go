package symcache

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"symbolon/internal/sym"
	"symbolon/internal/symcache/strtab"
)

// AppendText appends the name of a handle of the table; nothing for zero and
// for damaged names. plain is true if the name is printable ASCII without
// quotes and backslashes.
func (t *Table) AppendText(dst []byte, text sym.Text) (out []byte, plain bool) {
	sort, n := int(text&handleFile), uint64(text>>1)-1
	if name, plain, ok := t.memo.find(sort, n); ok {
		return append(dst, name...), plain
	}
	r := &t.origins
	if sort == handleFile {
		r = &t.files
	}
	if text == 0 || n >= r.count {
		return dst, true
	}
	d := decoder{t: t, left: MaxText, most: len(dst) + MaxText}
	out, ok := d.append(dst, r.get(n, 0), 0)
	if !ok {
		t.damaged(secText, "string %d cannot be put together", r.get(n, 0))
		return dst, true
	}
	plain = isPlain(out[len(dst):])
	t.memo.add([2]uint64{t.origins.count, t.files.count}, sort, n, out[len(dst):], plain)
	return out, plain
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// isPlain reports whether b is printable ASCII without quotes and backslashes.
func isPlain(b []byte) bool {
	for len(b) >= 8 {
		if !plainWord(binary.LittleEndian.Uint64(b)) {
			return false
		}
		b = b[8:]
	}
	rest := [8]byte{' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '}
	copy(rest[:], b)
	return plainWord(binary.LittleEndian.Uint64(rest[:]))
}

// plainWord is isPlain for eight bytes. If no byte has its high bit set, x-1
// sets that of a byte only if x is zero.
func plainWord(w uint64) bool {
	quote, slash, del := w^'"'*ones, w^'\\'*ones, w^0x7f*ones
	return (w|(w-' '*ones)|(quote-ones)|(slash-ones)|(del-ones))&highs == 0
}

// A decoder decodes one name. Its limits end every decoding: left is the number
// of strings that it may still read, most the limit of the result.
type decoder struct {
	t    *Table
	left int
	most int
}

func (d *decoder) append(dst []byte, id uint64, depth int) ([]byte, bool) {
	s, ok := d.t.string(id)
	if d.left--; !ok || d.left < 0 || depth > strtab.MaxDecode {
		return dst, false
	}
	dst = slices.Grow(dst, strtab.MaxString+8)
	for i := 0; i < len(s); {
		// Eight bytes are taken at a time, up to the first that is a token.
		w, n := binary.LittleEndian.Uint64(s[i:i+slack]), len(dst)
		binary.LittleEndian.PutUint64(dst[n:n+8], w)
		run := min(bits.TrailingZeros64(w&highs)/8, len(s)-i)
		dst = dst[:n+run]
		if i += run; run == 8 || i == len(s) {
			continue
		}
		token := strtab.TokenSize(s[i])
		if i+token > len(s) {
			return dst, false
		}
		if s[i] == strtab.Escape {
			dst = append(dst, s[i+1])
		} else if dst, ok = d.append(dst, strtab.Ref(s[i:i+token]), depth+1); !ok {
			return dst, false
		}
		i += token
		dst = slices.Grow(dst, strtab.MaxString+8)
	}
	return dst, len(dst) <= d.most
}

// string returns an encoded string, with slack bytes after it.
func (t *Table) string(id uint64) ([]byte, bool) {
	group := id / strtab.Group
	if group >= t.index.count {
		return nil, t.damaged(secIndex, "string %d of %d groups", id, t.index.count)
	}
	start := t.index.get(group, 0)
	if start+strtab.Group > t.text.size {
		return nil, t.damaged(secIndex, "group %d at %d of %d", group, start, t.text.size)
	}
	group = t.text.at + start
	sizes := t.body[group : group+strtab.Group]
	k := id % strtab.Group
	from := strtab.Group + sumBytes(sizes, k)
	size := uint64(sizes[k])
	if start+from+size > t.text.size {
		return nil, t.damaged(secText, "string %d at %d of %d", id, start+from, t.text.size)
	}
	return t.body[group+from : group+from+size], true
}

// sumBytes returns the sum of the first k of sixteen bytes.
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
