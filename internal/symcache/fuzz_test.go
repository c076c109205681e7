package symcache_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/symcache"
)

// FuzzOpen edits valid files and recomputes their checksums, so that nearly all
// inputs reach the records and lookups. The input is a list of offsets and
// values: small inputs are minimized quickly, which otherwise takes most of the
// time.
func FuzzOpen(f *testing.F) {
	models := []*model{example(), kernel(), synthetic(2, 8)}
	for seed := range uint64(5) {
		m, _ := newModel(rand.NewPCG(seed, 1))
		models = append(models, m)
	}
	var files [][]byte
	for i, m := range models {
		files = append(files, m.build(f, symcache.Options{}))
		f.Add(uint8(i), i == 0, []byte{0xff, 0xff, 1, 0, 1, 2})
	}
	f.Fuzz(func(t *testing.T, which uint8, dump bool, edits []byte) {
		file := bytes.Clone(files[int(which)%len(files)])
		for ; len(edits) >= 3; edits = edits[3:] {
			file[int(binary.BigEndian.Uint16(edits))%len(file)] = edits[2]
		}
		reseal(file)
		table, err := symcache.Open(bin.Bytes(file))
		if err != nil {
			return
		}
		table.Remember(1 << 14)
		base := binary.LittleEndian.Uint64(file[32:])
		var addrs []uint64
		for i := range uint64(12) {
			addrs = append(addrs, base+i*37, base+i*2048, base+1<<(i*2+20))
		}
		verified := table.Verify()
		exercise(table, addrs...)
		if dump { // takes longer than all other calls
			table.Dump(io.Discard)
		}
		if verified == nil && table.Damaged() != nil {
			t.Errorf("Verify succeeded, but: %v", table.Damaged())
		}
	})
}

// bytesFirst returns random numbers from given bytes, then from a generator.
type bytesFirst struct {
	b    []byte
	rest rand.Source
}

func (s *bytesFirst) Uint64() uint64 {
	if len(s.b) == 0 {
		return s.rest.Uint64()
	}
	// Package rand mostly uses the high bits.
	v := uint64(s.b[0])<<56 | uint64(s.b[0])
	s.b = s.b[1:]
	return v
}

func FuzzBuild(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 8 {
		b := make([]byte, 20+r.IntN(40))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<12 {
			return
		}
		m, r := newModel(&bytesFirst{b, rand.NewPCG(uint64(len(b)), 1)})
		table := open(t, m.build(t, symcache.Options{}))
		if err := table.Verify(); err != nil {
			t.Fatal(err)
		}
		for _, addr := range m.probes(r) {
			m.compare(t, table, addr)
		}
		if err := table.Damaged(); err != nil {
			t.Fatal(err)
		}
	})
}
