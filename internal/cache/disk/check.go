package disk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
)

// This file has as much of the layout of a bbolt file as is needed to follow
// every pointer in it with bounds. Numbers are in the byte order of the
// machine. A page starts with
//
//	0  u64  its own number
//	8  u16  its type: pageBranch, pageLeaf, pageFree, or a meta
//	10 u16  number of elements
//	12 u32  number of further pages that belong to it
//
// Pages 0 and 1 have a meta each; the valid one with the later transaction is
// used. Its root is the tree of buckets; there is one bucket per kind. A bucket
// is a leaf element whose value is the number of its root page and a sequence,
// or, with the number 0, these and the page itself.
const (
	pageBranch = 0x01
	pageLeaf   = 0x02
	pageFree   = 0x10

	pageHeader = 16
	metaLen    = 64
	bucketLen  = 16
	bucketFlag = 0x01

	metaMagic   = 0xED0CDAED
	metaVersion = 2

	maxDepth = 32 // pages from a root to a leaf
)

var host = binary.NativeEndian

// walker follows the pages of a bbolt file.
type walker struct {
	src  io.ReaderAt
	size int64 // of a page
	top  uint64
	seen []uint64 // one bit per page that was reached
	last []byte   // the greatest key so far in the current bucket
	any  bool     // there is such a key
}

// checkIndex returns an error if bbolt could fail badly on a file.
func checkIndex(src io.ReaderAt, size int64) error {
	m, err := findMeta(src, size)
	if err != nil {
		return err
	}
	w := &walker{src: src, size: m.pageSize, top: m.top}
	if m.top > uint64(size/m.pageSize) {
		return fmt.Errorf("the file has %d bytes and should have %d pages of %d", size, m.top, m.pageSize)
	}
	w.seen = make([]uint64, m.top/64+1)
	if err := w.tree(m.root, true, nil, 0); err != nil {
		return err
	}
	return w.freelist(m.free)
}

type meta struct {
	pageSize              int64
	root, free, top, txid uint64
}

// findMeta reads the meta in use. As bbolt does, it tries the possible sizes of a
// page to find the second one if the first one is damaged.
func findMeta(src io.ReaderAt, size int64) (meta, error) {
	best, ok := readMeta(src, 0)
	if ok {
		if !isPageSize(best.pageSize) {
			return best, fmt.Errorf("invalid page size %d", best.pageSize)
		}
		if second, ok := readMeta(src, best.pageSize); ok && second.txid > best.txid {
			if second.pageSize != best.pageSize {
				return best, fmt.Errorf("the meta pages do not agree on the size of a page")
			}
			best = second
		}
	}
	for at := int64(1 << 10); !ok && at <= 1<<24; at *= 2 {
		best, ok = readMeta(src, at)
		ok = ok && best.pageSize == at
	}
	switch {
	case !ok:
		return best, fmt.Errorf("no valid meta page")
	case size < 2*best.pageSize || best.top < 2:
		return best, fmt.Errorf("too few pages")
	}
	return best, nil
}

func readMeta(src io.ReaderAt, at int64) (meta, bool) {
	var page [pageHeader + metaLen]byte
	if n, _ := src.ReadAt(page[:], at); n < len(page) {
		return meta{}, false
	}
	b := page[pageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaLen-8])
	m := meta{
		pageSize: int64(host.Uint32(b[8:])),
		root:     host.Uint64(b[16:]),
		free:     host.Uint64(b[32:]),
		top:      host.Uint64(b[40:]),
		txid:     host.Uint64(b[48:]),
	}
	ok := host.Uint32(b) == metaMagic && host.Uint32(b[4:]) == metaVersion &&
		host.Uint64(b[metaLen-8:]) == sum.Sum64()
	return m, ok
}

func isPageSize(n int64) bool { return bits.OnesCount64(uint64(n)) == 1 && n >= 1<<10 && n <= 1<<24 }

// page reads a page and the further pages that belong to it. Each page may be
// reached only once.
func (w *walker) page(number uint64) ([]byte, error) {
	if number < 2 || number >= w.top {
		return nil, fmt.Errorf("page %d does not exist", number)
	}
	head := make([]byte, pageHeader)
	if _, err := w.src.ReadAt(head, int64(number)*w.size); err != nil {
		return nil, fmt.Errorf("page %d: %w", number, err)
	}
	more := uint64(host.Uint32(head[12:]))
	if host.Uint64(head) != number || more >= w.top-number {
		return nil, fmt.Errorf("page %d has a wrong header", number)
	}
	for n := number; n <= number+more; n++ {
		if w.seen[n/64]>>(n%64)&1 != 0 {
			return nil, fmt.Errorf("page %d is used twice", n)
		}
		w.seen[n/64] |= 1 << (n % 64)
	}
	b := make([]byte, int64(more+1)*w.size)
	if _, err := w.src.ReadAt(b, int64(number)*w.size); err != nil {
		return nil, fmt.Errorf("page %d: %w", number, err)
	}
	return b, nil
}

// tree walks the tree below a page, whose keys are not below least.
func (w *walker) tree(number uint64, buckets bool, least []byte, depth int) error {
	b, err := w.page(number)
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("page %d is too deep", number)
	}
	if err := w.elements(b, buckets, least, depth); err != nil {
		return fmt.Errorf("page %d: %w", number, err)
	}
	return nil
}

// elements walks the elements of a page. Elements have 16 bytes: of a branch
// u32 position of the key, u32 its length, u64 page; of a leaf u32 flags, u32
// position, u32 length of the key and u32 of the value, which follows the key.
func (w *walker) elements(b []byte, buckets bool, least []byte, depth int) error {
	flags, count := host.Uint16(b[8:]), int(host.Uint16(b[10:]))
	leaf := flags == pageLeaf
	if !leaf && (flags != pageBranch || count == 0) || count > (len(b)-pageHeader)/16 {
		return fmt.Errorf("flags %#x with %d elements", flags, count)
	}
	for i := range count {
		at := pageHeader + 16*i
		e := b[at:]
		if leaf {
			e = b[at+4:]
		}
		pos, keyLen, rest := int64(host.Uint32(e)), int64(host.Uint32(e[4:])), int64(0)
		if leaf {
			rest = int64(host.Uint32(e[8:]))
		}
		from := int64(at) + pos
		if keyLen == 0 || from+keyLen+rest > int64(len(b)) {
			return fmt.Errorf("element %d has no key or leaves the page", i)
		}
		key, value := b[from:from+keyLen], b[from+keyLen:from+keyLen+rest]
		if w.any && bytes.Compare(key, w.last) <= 0 || bytes.Compare(key, least) < 0 {
			return fmt.Errorf("element %d is out of order", i)
		}
		var err error
		if leaf {
			w.last, w.any = key, true
			err = w.value(host.Uint32(b[at:]), value, buckets)
		} else {
			err = w.tree(host.Uint64(b[at+8:]), buckets, key, depth+1)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// value walks the bucket that a value must be, if buckets is set.
func (w *walker) value(flags uint32, value []byte, buckets bool) error {
	if buckets != (flags&bucketFlag != 0) {
		return fmt.Errorf("flags %#x", flags)
	}
	if !buckets {
		return nil
	}
	if len(value) < bucketLen {
		return fmt.Errorf("bucket of %d bytes", len(value))
	}
	last := w.last
	w.last, w.any = nil, false
	defer func() { w.last, w.any = last, true }()
	if root := host.Uint64(value); root != 0 {
		return w.tree(root, false, nil, 0)
	}
	inside := value[bucketLen:]
	if len(inside) < pageHeader || host.Uint64(inside) != 0 || host.Uint16(inside[8:]) != pageLeaf || host.Uint32(inside[12:]) != 0 {
		return fmt.Errorf("bucket without a page of its own")
	}
	return w.elements(inside, false, nil, 0)
}

// freelist checks that the list of free pages is in order and has no used page.
func (w *walker) freelist(number uint64) error {
	b, err := w.page(number)
	if err != nil {
		return fmt.Errorf("free list: %w", err)
	}
	count, at := uint64(host.Uint16(b[10:])), pageHeader
	if count == 0xffff { // the first element is the number
		count, at = host.Uint64(b[at:]), at+8
	}
	if host.Uint16(b[8:]) != pageFree || count > uint64(len(b)-at)/8 {
		return fmt.Errorf("free list of %d pages", count)
	}
	last := uint64(1)
	for range count {
		n := host.Uint64(b[at:])
		if n <= last || n >= w.top || w.seen[n/64]>>(n%64)&1 != 0 {
			return fmt.Errorf("page %d is not free", n)
		}
		last, at = n, at+8
	}
	return nil
}
