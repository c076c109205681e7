package bin_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"symbolon/internal/bin"
)

// packed returns b compressed by gzip.
func packed(t *testing.T, b io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.Copy(w, b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// drain decodes in under a limit and returns the number of decoded bytes.
func drain(t *testing.T, in []byte, l bin.Limit) (int64, error) {
	t.Helper()
	encoded := bin.NewCount(bytes.NewReader(in))
	z, err := gzip.NewReader(encoded)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, bin.Meter(z, encoded, l))
	if err == nil && encoded.N() != int64(len(in)) {
		t.Errorf("counted %d of %d encoded bytes", encoded.N(), len(in))
	}
	return n, err
}

func TestMeterStopsBomb(t *testing.T) {
	const size = 5 << 20
	bomb := packed(t, io.LimitReader(zeros{}, size))
	for name, tc := range map[string]struct {
		limit bin.Limit
		most  int64
		stop  bool
	}{
		"ratio not stated":   {bin.Limit{Free: -1}, 3 << 20, true},
		"absolute":           {bin.Limit{Bytes: 1 << 20}, 1 << 20, true},
		"ratio at once":      {bin.Limit{Ratio: 100, Free: -1}, 1 << 20, true},
		"ratio past free":    {bin.Limit{Ratio: 100, Free: 3 << 20}, 4 << 20, true},
		"ratio that is high": {bin.Limit{Ratio: 2000, Free: 1}, size, false},
		"all free":           {bin.Limit{Free: size}, size, false},
		"no ratio":           {bin.Limit{Ratio: -1}, size, false},
		"absolute, exactly":  {bin.Limit{Bytes: size, Ratio: -1}, size, false},
		"absolute, one less": {bin.Limit{Bytes: size - 1, Ratio: -1}, size - 1, true},
	} {
		n, err := drain(t, bomb, tc.limit)
		if errors.Is(err, bin.ErrLimit) != tc.stop || !tc.stop && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n > tc.most || !tc.stop && n != size {
			t.Errorf("%s: %d bytes decoded", name, n)
		}
		if tc.stop && tc.limit.Bytes > 0 && n != tc.limit.Bytes {
			t.Errorf("%s: %d bytes decoded, want all up to the limit", name, n)
		}
	}
}

func TestLimitHasDefaults(t *testing.T) {
	encoded := bin.NewCount(strings.NewReader("abc"))
	if _, err := io.ReadAll(encoded); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, bin.Meter(zeros{}, encoded, bin.Limit{}))
	if !errors.Is(err, bin.ErrLimit) || n < 64<<20 || n > 64<<20+64<<10 {
		t.Errorf("%d bytes decoded, %v", n, err)
	}
}

func TestMeterPassesDataWithinLimit(t *testing.T) {
	data := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(random.IntN(16))
	}
	if n, err := drain(t, packed(t, bytes.NewReader(data)), bin.Limit{Bytes: 1 << 20, Ratio: 3, Free: 1}); err != nil || n != 1<<20 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestMeterErrorIsSticky(t *testing.T) {
	m := bin.Meter(strings.NewReader("abcdef"), nil, bin.Limit{Bytes: 4})
	b, err := io.ReadAll(m)
	if string(b) != "abcd" || !errors.Is(err, bin.ErrLimit) {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := m.Read(make([]byte, 1)); n != 0 || !errors.Is(err, bin.ErrLimit) {
		t.Errorf("next read: %d, %v", n, err)
	}
}

func TestMeterReturnsErrorsOfReader(t *testing.T) {
	broken := errors.New("cut")
	r := io.MultiReader(strings.NewReader("abc"), failingReader{broken})
	if b, err := io.ReadAll(bin.Meter(r, nil, bin.Limit{Bytes: 10})); string(b) != "abc" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", b, err)
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
