package source_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
)

func brotlied(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, 1)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zlibbed(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, data []byte, options ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func TestCodingsAreTakenOff(t *testing.T) {
	text := bytes.Repeat([]byte("MODULE Linux x86_64 0 a\n"), 50_000)
	gz, zs, br := sourcetest.Gzip(text), zstded(t, text), brotlied(t, text)
	for name, c := range map[string]struct {
		coding string
		stored []byte
	}{
		"plain":                     {"", text},
		"identity":                  {"identity", text},
		"gzip":                      {"gzip", gz},
		"x-gzip in capitals":        {"X-GZIP", gz},
		"zstd":                      {"zstd", zs},
		"brotli":                    {"br", br},
		"signed upload":             {"gzip, aws-chunked", gz},
		"nothing but commas":        {" , ", text},
		"deflate":                   {"deflate", zlibbed(t, text, zlib.DefaultCompression)},
		"stored zlib":               {"", zlibbed(t, text, zlib.DefaultCompression)},
		"stored zlib, fast":         {"", zlibbed(t, text, zlib.BestSpeed)},
		"stored zlib, small":        {"", zlibbed(t, text, zlib.BestCompression)},
		"two at once":               {"br, gzip", sourcetest.Gzip(br)},
		"stored gzip":               {"", gz},
		"stored zstd":               {"", zs},
		"stored gzip, sent as gzip": {"gzip", sourcetest.Gzip(gz)},
		"stored zstd, sent as br":   {"br", brotlied(t, zs)},
		"gzip of two members":       {"gzip", append(sourcetest.Gzip(text[:1000]), sourcetest.Gzip(text[1000:])...)},
		"two zstd frames":           {"zstd", append(zstded(t, text[:1000]), sourcetest.Zstd(text[1000:])...)},
	} {
		d := source.NewDecoder(bin.Limit{}, nil)
		for range 2 { // the second time with used memory
			var got bytes.Buffer
			out, err := d.Decode(t.Context(), &got, iotest.HalfReader(bytes.NewReader(c.stored)), c.coding)
			if err != nil || !bytes.Equal(got.Bytes(), text) {
				t.Errorf("%s: got %d bytes, error %v", name, got.Len(), err)
			}
			if out.Bytes != int64(len(text)) || out.Wire != int64(len(c.stored)) {
				t.Errorf("%s: counted %+v", name, out)
			}
		}
	}
}

func TestUnknownCodingsAreAFaultOfTheWay(t *testing.T) {
	for _, coding := range []string{"compress", "lzma", "gzip, rot13", "gzip,gzip,gzip,gzip"} {
		_, err := source.NewDecoder(bin.Limit{}, nil).Decode(t.Context(), io.Discard, strings.NewReader("x"), coding)
		if fault.KindOf(err) != fault.Transport {
			t.Errorf("%s: got %v", coding, err)
		}
	}
}

func TestDamageIsMalformed(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	for coding, stored := range map[string][]byte{"gzip": sourcetest.Gzip(text), "zstd": zstded(t, text), "br": brotlied(t, text), "deflate": zlibbed(t, text, 1)} {
		for name, data := range map[string][]byte{
			"cut":          stored[:len(stored)/2],
			"not the said": text,
			"empty":        nil,
		} {
			_, err := source.NewDecoder(bin.Limit{}, nil).Decode(t.Context(), io.Discard, bytes.NewReader(data), coding)
			if coding == "zstd" && name == "empty" { // no frame at all is a valid row of frames
				continue
			}
			if fault.KindOf(err) != fault.Malformed {
				t.Errorf("%s, %s: got %v", coding, name, err)
			}
		}
	}
}

func TestFailureToReadComesAsItIs(t *testing.T) {
	broken := errors.New("broken")
	zeros := make([]byte, 100_000)
	for coding, stored := range map[string][]byte{
		"": zeros, "gzip": sourcetest.Gzip(zeros), "zstd": zstded(t, zeros), "br": brotlied(t, zeros),
	} {
		r := io.MultiReader(bytes.NewReader(stored[:len(stored)/2]), iotest.ErrReader(broken))
		if _, err := source.NewDecoder(bin.Limit{}, nil).Decode(t.Context(), io.Discard, r, coding); err != broken {
			t.Errorf("%q: got %v", coding, err)
		}
	}
}

// endless is what gives the same bytes again and again.
type endless struct {
	part []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.part[e.at:])
	e.at = (e.at + n) % len(e.part)
	return n, nil
}

func TestBombsAreStopped(t *testing.T) {
	const megabyte = 1 << 20
	zeros := make([]byte, 3*megabyte)
	limit := bin.Limit{Bytes: 2 * megabyte, Free: megabyte / 4}
	for name, c := range map[string]struct {
		coding string
		r      io.Reader
		want   string
	}{
		"gzip by ratio":             {"gzip", &endless{part: sourcetest.Gzip(zeros)}, "unpacks to far more"},
		"stored gzip by ratio":      {"", &endless{part: sourcetest.Gzip(zeros)}, "unpacks to far more"},
		"stored zlib by ratio":      {"", bytes.NewReader(zlibbed(t, zeros, 9)), "unpacks to far more"},
		"zstd by ratio":             {"zstd", &endless{part: zstded(t, zeros)}, "unpacks to far more"},
		"brotli by ratio":           {"br", bytes.NewReader(brotlied(t, zeros)), "unpacks to far more"},
		"gzip in gzip":              {"gzip, gzip", bytes.NewReader(sourcetest.Gzip(sourcetest.Gzip(zeros))), "unpacks to far more"},
		"plain by size":             {"", &endless{part: []byte("x")}, "larger than the limit of 2MiB"},
		"zstd by size":              {"zstd", &endless{part: sourcetest.Zstd(zeros)}, "larger than the limit of 2MiB"},
		"empty gzip members":        {"gzip", &endless{part: sourcetest.Gzip(nil)}, "larger than the limit of 2MiB"},
		"empty members, twice over": {"gzip, gzip", bytes.NewReader(sourcetest.Gzip(bytes.Repeat(sourcetest.Gzip(nil), 30_000))), "unpacks to far more"},
	} {
		var written counter
		_, err := source.NewDecoder(limit, nil).Decode(t.Context(), &written, c.r, c.coding)
		if fault.KindOf(err) != fault.Malformed || !errors.Is(err, bin.ErrLimit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if int64(written) > limit.Bytes {
			t.Errorf("%s: %d bytes were written", name, written)
		}
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func TestLargeWindowIsUnsupported(t *testing.T) {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0} // a window of 1 GiB
	_, err := source.NewDecoder(bin.Limit{}, nil).Decode(t.Context(), io.Discard, bytes.NewReader(frame), "")
	if fault.KindOf(err) != fault.Unsupported {
		t.Errorf("got %v", err)
	}
}

// TestLargeWindowsAreClaimed has a download stop after the head of a frame with
// the largest window. Until it ends, no other large window is opened.
func TestLargeWindowsAreClaimed(t *testing.T) {
	d := source.NewDecoder(bin.Limit{}, bin.NewBudget(source.MaxWindow))
	text := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	pack := func(window int) []byte {
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out, zstd.WithWindowSize(window))
		if err != nil {
			t.Fatal(err)
		}
		for _, half := range [][]byte{text[:9000], text[9000:]} { // so that its length is not known at the head
			if _, err := z.Write(half); err != nil {
				t.Fatal(err)
			}
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	large, small := pack(source.MaxWindow), pack(1<<20)
	ended, end := context.WithCancel(t.Context())
	end()
	decode := func(ctx context.Context, packed []byte, coding string) error {
		var got bytes.Buffer
		_, err := d.Decode(ctx, &got, bytes.NewReader(packed), coding)
		if err == nil && !bytes.Equal(got.Bytes(), text) {
			t.Errorf("%d other bytes came out", got.Len())
		}
		return err
	}

	head, rest := io.Pipe()
	first := make(chan error)
	go func() {
		_, err := d.Decode(t.Context(), io.Discard, head, "")
		first <- err
	}()
	for _, part := range [][]byte{large[:20], large[20:21]} { // the second is read after the claim
		if _, err := rest.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := decode(ended, large, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a second large window, when its time is over: %v", err)
	}
	if err := decode(ended, small, ""); err != nil {
		t.Errorf("a small window: %v", err)
	}
	if err := decode(ended, small, "zstd"); err != nil {
		t.Errorf("a small window, as the header says: %v", err)
	}
	if _, err := rest.Write(large[21:]); err != nil {
		t.Fatal(err)
	}
	rest.Close()
	if err := <-first; err != nil {
		t.Errorf("the first large window: %v", err)
	}
	if err := decode(ended, large, ""); err != nil {
		t.Errorf("a large window when there is room: %v", err)
	}
	if err := decode(t.Context(), append(bytes.Clone(small), large...), ""); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("a large window after a small one: %v", err)
	}
}

func TestLimitIsReachedExactly(t *testing.T) {
	data := make([]byte, 1000)
	rand.NewChaCha8([32]byte{}).Read(data)
	for size, ok := range map[int64]bool{1000: true, 999: false} {
		_, err := source.NewDecoder(bin.Limit{Bytes: size}, nil).Decode(t.Context(), io.Discard, bytes.NewReader(data), "")
		if (err == nil) != ok {
			t.Errorf("limit %d for %d bytes: %v", size, len(data), err)
		}
	}
}

func TestReaderWithoutProgressIsGivenUp(t *testing.T) {
	stuck := io.MultiReader(strings.NewReader("begin"), stuckReader{})
	if _, err := source.NewDecoder(bin.Limit{}, nil).Decode(t.Context(), io.Discard, stuck, ""); err == nil {
		t.Error("no error")
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func FuzzDecode(f *testing.F) {
	text := []byte(strings.Repeat("some text ", 30))
	for _, coding := range []string{"", "gzip", "zstd", "br", "gzip,br", "x"} {
		for _, data := range [][]byte{text, sourcetest.Gzip(text), sourcetest.Zstd(text), zstded(f, text), brotlied(f, text), nil} {
			f.Add(data, coding)
		}
	}
	d := source.NewDecoder(bin.Limit{Bytes: 1 << 20, Free: 64 << 10}, nil)
	f.Fuzz(func(t *testing.T, data []byte, coding string) {
		var written counter
		out, err := d.Decode(t.Context(), &written, bytes.NewReader(data), coding)
		if out.Bytes != int64(written) || out.Bytes > 1<<20 || out.Wire > int64(len(data)) {
			t.Errorf("counted %+v, wrote %d of %d bytes read", out, written, len(data))
		}
		switch kind := fault.KindOf(err); {
		case err == nil, kind == fault.Malformed, kind == fault.Unsupported, kind == fault.Transport:
		default:
			t.Errorf("got %v", err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := bytes.Repeat([]byte("1000 10 7 1\n1010 22 8 1\nFUNC 2000 55 0 some::function(int)\n"), 200_000)
	for name, stored := range map[string][]byte{"plain": text, "gzip": sourcetest.Gzip(text), "zstd": zstded(b, text)} {
		b.Run(name, func(b *testing.B) {
			d := source.NewDecoder(bin.Limit{Ratio: -1}, nil)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(b.Context(), io.Discard, bytes.NewReader(stored), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
