package debugfile_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
)

// symText is a Breakpad file of some megabytes.
func symText() []byte {
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 a.so\nFILE 0 a.c\n")
	for i := range 8_000 {
		fmt.Fprintf(&b, "FUNC %x 400 0 f%d\n", i<<10, i*7919%10_007)
		for k := range 64 {
			fmt.Fprintf(&b, "%x 10 %d 0\n", i<<10+k<<4, (i*31+k*k)%5000)
		}
	}
	return b.Bytes()
}

func TestZippedFilesAreUnpackedOnce(t *testing.T) {
	plain := symText()
	packed := zipped(zip.Deflate)(t, member{"a.sym", plain})
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	open := func(file []byte) func() {
		return func() {
			if _, err := debugfile.Open(bin.Bytes(file), object.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	index := allocated(open(plain))
	if took := allocated(open(packed)) - index; took > uint64(len(plain))*3/2 {
		t.Errorf("unpacking %d bytes allocated %d", len(plain), took)
	}
}

func TestADamagedMemberOfAZipIsTold(t *testing.T) {
	packed := zipped(zip.Deflate)(t, member{"a.sym", symText()})
	sum := bytes.LastIndex(packed, []byte("PK\x01\x02")) + 16
	size := sum + 8
	for want, at := range map[string]int{"checksum": sum, " bytes instead of ": size + 1} {
		bad := bytes.Clone(packed)
		bad[at]++
		_, err := debugfile.Open(bin.Bytes(bad), object.Options{})
		if err == nil || !strings.Contains(err.Error(), `member "a.sym"`) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v and has no %q", err, want)
		}
	}
}

// BenchmarkUnzip compares the member of a zip with the standard library's.
func BenchmarkUnzip(b *testing.B) {
	plain := symText()
	packed := zipped(zip.Deflate)(b, member{"a.sym", plain})
	b.Run("plain", func(b *testing.B) { // what opening takes without unpacking
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			if _, err := debugfile.Open(bin.Bytes(plain), object.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			if _, err := debugfile.Open(bin.Bytes(packed), object.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("standard library", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
			if err != nil {
				b.Fatal(err)
			}
			r, err := z.File[0].Open()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(r, make([]byte, len(plain))); err != nil {
				b.Fatal(err)
			}
		}
	})
}
