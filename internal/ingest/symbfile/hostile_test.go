package symbfile_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/fixture"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

// badSpool takes nothing.
type badSpool struct {
	io.ReaderAt
	err error
}

func (b badSpool) Write([]byte) (int, error) { return 0, b.err }
func (badSpool) Size() int64                 { return 0 }
func (badSpool) Close() error                { return nil }

func withSpool(err error) *symbfile.Store {
	return symbfile.New(symbfile.Config{}, ingest.Deps{Bucket: mem.New(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Spool: func() (cache.Spool, error) { return badSpool{err: err}, nil }})
}

func message(hexText string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(hexText, " ", ""))
	if err != nil {
		panic(err)
	}
	return append([]byte("symbfile\x00\x01"), b...)
}

func fn(va uint64) fixture.Proto { return fixture.Proto{}.Num(12, va).Num(2, 8).Text(3, "f") }

// hostile returns invalid symbfiles by their mistake.
func hostile() map[string][]byte {
	good := ranges("good", 0, 50)
	columns := make([]uint64, 1<<20+1)
	return map[string][]byte{
		"empty":                        {},
		"half a magic":                 []byte("symb"),
		"magic alone":                  []byte("symbfile"),
		"another magic":                append([]byte("symbfilf"), good[8:]...),
		"ELF":                          []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 100)),
		"no header":                    append([]byte("symbfile"), good[10:]...),
		"two headers":                  message("0001"),
		"type 0":                       message("0000"),
		"delta first":                  message("05020802 1a0161"),
		"no address":                   message("03021a0161"),
		"no function":                  message("02026000"),
		"bad reference":                message("04026000 4800"),
		"columns that differ":          message("0503 2800 120100"),
		"exceeds 16 MiB":               message("8180800802"),
		"16 MiB that are not there":    message("8080800802"),
		"no type":                      message("01"),
		"a number without end":         message("ffffffffffffffffffff"),
		"type of 33 bits":              message("00 8080808010"),
		"cut":                          good[:len(good)-1],
		"bad at the end":               append(append([]byte{}, good...), 2, 2, 0x60, 0),
		"no UTF-8":                     fixture.NewSymbfile().Table("\xff").Bytes(),
		"a depth of 257":               fixture.NewSymbfile().Message(2, fn(1).Num(7, 257)).Bytes(),
		"end after the last address":   fixture.NewSymbfile().Message(2, fn(1<<64-4)).Bytes(),
		"too many rows":                fixture.NewSymbfile().Message(2, fn(1).Sub(8, fixture.Proto{}.Packed(1, columns...).Packed(2, columns...))).Bytes(),
		"too many frames":              fixture.NewSymbfile().Table("").Message(3, fixture.Proto{}.Num(5, 1).Packed(2, columns[:1025]...).Packed(3, columns[:1025]...).Packed(4, columns[:1025]...)).Bytes(),
		"offsets beyond 32 bits":       fixture.NewSymbfile().Message(2, fn(1).Sub(8, fixture.Proto{}.Packed(1, 1<<31, 1<<31).Packed(2, 1, 1))).Bytes(),
		"text exceeds 4 MiB":           fixture.NewSymbfile().Message(2, fixture.Proto{}.Num(12, 1).Num(2, 8).Text(3, strings.Repeat("x", 5<<20))).Bytes(),
		"a magic of zstd, and nothing": []byte("\x28\xb5\x2f\xfd"),
		"a damaged frame of zstd":      []byte("\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
	}
}

func TestHostilePartsAreRefused(t *testing.T) {
	n := open(t, folder(t), symbfile.Config{})
	before := ranges("before", 0, 10)
	n.sent(part(0, 1), before, true)
	z, _ := zstd.NewWriter(nil)
	for name, body := range hostile() {
		for _, sent := range [][]byte{body, z.EncodeAll(body, nil)} {
			_, err := n.take(part(0, 1), sent)
			if r, ok := err.(*ingest.Refusal); !ok || r.Why != ingest.Malformed && r.Why != ingest.Truncated {
				t.Errorf("%s: %v", name, err)
			}
		}
		// In a part that is one of several it is refused at once, or with the others.
		_, err := n.take(of("h", 0, 2), body)
		if err == nil {
			published, err := n.take(of("h", 1, 2), []byte("\x00\x00"))
			if published || err == nil {
				t.Errorf("%s is published with others", name)
			}
		}
	}
	n.holds(before)
	if left := n.waiting("h", 2); left != nil {
		t.Errorf("parts are left: %v", left)
	}
}

func TestStrangePartsAreTaken(t *testing.T) {
	t.Parallel()
	tables := fixture.NewSymbfile()
	for range 10_000 {
		tables.Table("a", "b", strings.Repeat("c", 50))
	}
	n := open(t, folder(t), symbfile.Config{})
	for name, body := range map[string][]byte{
		"10,000 tables":               tables.Message(2, fn(1)).Bytes(),
		"a message of unknown type":   append(message("0209dead"[:0]+"0209dead"), ranges("x", 0, 3)[10:]...),
		"an unknown one of 16 MiB":    fixture.NewSymbfile().Message(99, make(fixture.Proto, 16<<20)).Message(2, fn(1)).Bytes(),
		"a depth of 256":              fixture.NewSymbfile().Message(2, fn(1).Num(7, 256)).Bytes(),
		"a table of a million":        fixture.NewSymbfile().Message(4, bytes.Repeat(fixture.Proto{0x0a, 0}, 1<<20)).Message(2, fn(1)).Bytes(),
		"a header that has something": append([]byte("symbfile"), (&fixture.Symbfile{}).Message(1, fixture.Proto{}.Text(9, "later")).Message(2, fn(1)).Bytes()...),
	} {
		n.sent(part(0, 1), body, true)
		if got := n.published(symbfile.Ranges); !bytes.Equal(got, body) {
			t.Errorf("%s: %d bytes are published, want %d", name, len(got), len(body))
		}
		first := ranges("first", 0, 2)
		n.sent(of(name[:1], 1, 2), body, false)
		n.sent(of(name[:1], 0, 2), first, true)
		n.holds(first, body)
		n.clock.pass(1)
	}
}

func TestBombsAreRefused(t *testing.T) {
	n := open(t, mem.New(), symbfile.Config{MaxPart: 1 << 30})
	var bomb bytes.Buffer
	z, _ := zstd.NewWriter(&bomb, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	z.Write([]byte("symbfile\x00\x01"))
	body := fixture.NewSymbfile().Message(99, make(fixture.Proto, 15<<20)).Bytes()[10:]
	for range 20 { // 300 MiB
		z.Write(body)
	}
	z.Close()
	n.refused(part(0, 1), bomb.Bytes(), ingest.TooLarge)
	wide, _ := zstd.NewWriter(nil, zstd.WithWindowSize(256<<20), zstd.WithSingleSegment(false))
	var big bytes.Buffer
	wide.Reset(&big)
	wide.Write(ranges("x", 0, 100))
	wide.Flush()
	wide.Write(make([]byte, 10))
	wide.Close()
	n.refused(part(0, 1), big.Bytes(), ingest.Malformed)
}
