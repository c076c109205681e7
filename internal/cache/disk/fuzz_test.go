package disk_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fault"
)

// records returns a record of each form.
func records() map[string][]byte {
	start := time.Unix(1_900_000_000, 123)
	return map[string][]byte{
		"file":    disk.FileRecord(2, key("a"), 1<<40, start, start.Add(time.Hour)),
		"fault":   disk.FaultRecord(1, key("a"), fault.New(fault.Denied, "place", "detail"), start, start.Add(time.Hour)),
		"removed": disk.RemovedRecord(0, key("a")),
	}
}

func TestRecordsComeBack(t *testing.T) {
	for form, record := range records() {
		if again, ok := disk.ReadRecord(record); !ok || !bytes.Equal(again, record) {
			t.Errorf("%s: %x came back as %x", form, record, again)
		}
		for i := range record {
			bad := bytes.Clone(record)
			bad[i] ^= 0x10
			if _, ok := disk.ReadRecord(bad); ok {
				t.Errorf("%s: byte %d may change", form, i)
			}
			if _, ok := disk.ReadRecord(record[:i]); ok {
				t.Errorf("%s: %d bytes are enough", form, i)
			}
		}
	}
}

// FuzzRecord reads records whose size and checksum are right.
func FuzzRecord(f *testing.F) {
	for _, record := range records() {
		f.Add(record[2 : len(record)-4])
	}
	f.Add([]byte{1, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		record := binary.LittleEndian.AppendUint16(nil, uint16(len(body)+4))
		record = append(record, body...)
		record = binary.LittleEndian.AppendUint32(record, crc32.Checksum(record, crc32.MakeTable(crc32.Castagnoli)))
		again, ok := disk.ReadRecord(record)
		if ok && len(body) < 1<<16-4 && !bytes.Equal(again, record) {
			t.Errorf("%x came back as %x", record, again)
		}
	})
}

// FuzzIndex opens stores over any index: they work, and leave one that is valid.
func FuzzIndex(f *testing.F) {
	var all []byte
	for _, record := range records() {
		all = append(all, record...)
		f.Add(bytes.Clone(all))
	}
	f.Add(make([]byte, 100))
	f.Add([]byte("short"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
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
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := os.ReadFile(filepath.Join(dir, "index.db"))
		if err != nil {
			t.Fatal(err)
		}
		for len(whole) > 0 {
			size := 2 + int(binary.LittleEndian.Uint16(whole))
			if _, ok := disk.ReadRecord(whole[:min(size, len(whole))]); !ok {
				t.Fatalf("invalid record %x", whole[:min(size, len(whole))])
			}
			whole = whole[size:]
		}
	})
}
