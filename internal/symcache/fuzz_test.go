package symcache_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/symcache"
)

// The checksums of what is fuzzed are made to match, or nothing behind them
// would ever be reached.
func FuzzOpen(f *testing.F) {
	models := []*model{example(), kernel(), synthetic(12, 30)}
	for seed := range uint64(8) {
		m, _ := newModel(rand.NewPCG(seed, 1))
		models = append(models, m)
	}
	for _, m := range models {
		f.Add(m.build(f, symcache.Options{}), []byte{0xff, 0xff, 1, 0, 1, 2})
	}
	// Each edit is a place and a value: unlike a change of file it keeps the
	// length, without which no file is opened.
	f.Fuzz(func(t *testing.T, file, edits []byte) {
		if len(file) > 1<<16 || len(file) == 0 {
			return
		}
		file = append([]byte(nil), file...)
		for ; len(edits) >= 3; edits = edits[3:] {
			file[int(binary.BigEndian.Uint16(edits))%len(file)] = edits[2]
		}
		reseal(file)
		table, err := symcache.Open(bin.Bytes(file))
		if err != nil {
			return
		}
		base := binary.LittleEndian.Uint64(file[32:])
		var addrs []uint64
		for i := range uint64(24) {
			addrs = append(addrs, base+i*37, base+i*2048, base+1<<(i+20))
		}
		verified := table.Verify()
		again, err := symcache.Open(bin.Bytes(file))
		if err != nil {
			t.Fatal(err)
		}
		exercise(again, addrs...)
		if verified == nil && again.Damaged() != nil {
			t.Errorf("verified, but: %v", again.Damaged())
		}
	})
}

// bytesFirst is random numbers out of given bytes, then out of a generator.
type bytesFirst struct {
	b    []byte
	rest rand.Source
}

func (s *bytesFirst) Uint64() uint64 {
	if len(s.b) == 0 {
		return s.rest.Uint64()
	}
	// The high bits decide most of the draws of package rand.
	v := uint64(s.b[0])<<56 | uint64(s.b[0])
	s.b = s.b[1:]
	return v
}

func FuzzBuild(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 8 {
		b := make([]byte, 100+r.IntN(400))
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
