package disk_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

func TestRecordsComeBack(t *testing.T) {
	start := time.Unix(1_900_000_000, 123)
	file := disk.FileRecord(2, key("a"), 1<<40, start, start.Add(time.Hour))
	denied := disk.FaultRecord(1, key("a"), fault.New(fault.Denied, "place", "detail"), start, start.Add(time.Hour))
	for kind, record := range map[int][]byte{2: file, 1: denied} {
		if again, ok := disk.ReadRecord(kind, key("a"), record); !ok || !bytes.Equal(again, record) {
			t.Errorf("%x came back as %x", record, again)
		}
		if _, ok := disk.ReadRecord(0, key("a"), record); ok {
			t.Error("the record of another kind is taken")
		}
		if _, ok := disk.ReadRecord(kind, key("b"), record); ok {
			t.Error("the record of another key is taken")
		}
		for i := range record {
			bad := bytes.Clone(record)
			bad[i] ^= 0x10
			if _, ok := disk.ReadRecord(kind, key("a"), bad); ok {
				t.Errorf("byte %d may change", i)
			}
			if _, ok := disk.ReadRecord(kind, key("a"), record[:i]); ok {
				t.Errorf("%d bytes are enough", i)
			}
		}
	}
}

// seal gives a record the checksum that it should have.
func seal(kind int, k cache.Key, body []byte) []byte {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	io.WriteString(sum, string(cache.Kinds()[kind]))
	sum.Write(k[:])
	sum.Write(body)
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), sum.Sum32())
}

func FuzzRecord(f *testing.F) {
	start := time.Unix(1_900_000_000, 123)
	file := disk.FileRecord(0, key("a"), 1<<40, start, start)
	denied := disk.FaultRecord(0, key("a"), fault.New(fault.Denied, "place", "detail"), start, start)
	f.Add(file[:len(file)-4])
	f.Add(denied[:len(denied)-4])
	f.Add([]byte{1, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		record := seal(0, key("a"), body)
		again, ok := disk.ReadRecord(0, key("a"), record)
		if ok && !bytes.Equal(again, record) {
			t.Errorf("%x came back as %x", record, again)
		}
	})
}

// index makes the bytes of an index with n records of a size in each kind.
func index(f *testing.F, n, size int) []byte {
	path := filepath.Join(f.TempDir(), "index.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024, NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	for round := range 3 {
		err = db.Update(func(tx *bbolt.Tx) error {
			for _, kind := range cache.Kinds() {
				b, err := tx.CreateBucketIfNotExists([]byte(kind))
				if err != nil {
					return err
				}
				for i := range n {
					k := cache.KeyOf(string(rune(i)))
					if err := b.Put(k[:], make([]byte, size*(round+1))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	used := len(bytes.TrimRight(b, "\x00")) // the rest was never written
	return b[:(used+1023)/1024*1024]
}

// FuzzIndex opens stores over any index that passes the check. The checksums of the meta pages are
// put right, so that what is below them is reached.
func FuzzIndex(f *testing.F) {
	f.Add(index(f, 1, 10))
	f.Add(index(f, 20, 20))
	f.Add(index(f, 6, 800))
	f.Add([]byte("short"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		b = bytes.Clone(b)
		for _, at := range []int{16, 1024 + 16, 4096 + 16} {
			if len(b) >= at+64 {
				sum := fnv.New64a()
				sum.Write(b[at : at+56])
				binary.NativeEndian.PutUint64(b[at+56:], sum.Sum64())
			}
		}
		// A file that passes the check must not end bbolt, or the ledger must
		// recover from its panic; the store works in both cases. Other files are
		// renamed.
		if disk.CheckIndex(bytes.NewReader(b), int64(len(b))) != nil {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, "index.db"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s, err := disk.Open(disk.Config{}, dir, time.Now, discard())
			if err != nil {
				t.Fatal(err)
			}
			for i := range 30 {
				s.Remember(t.Context(), cache.Kinds()[i%3], cache.KeyOf(string(rune(i))), fault.New(fault.Denied, "", "no"), time.Hour)
			}
			if err := s.Close(); err != nil && !strings.Contains(err.Error(), "the index was damaged") {
				t.Fatal(err)
			}
		}
	})
}
