package bin_test

import (
	"encoding/json"
	"math"
	"testing"

	"symbolon/internal/bin"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]bin.Size{
		"0": 0, "123": 123, "-1": -1, "1_000_000": 1e6,
		"1B": 1, "1KB": 1000, "1kib": 1024, "64MiB": 64 << 20, "64 MiB": 64 << 20, "1GiB": 1 << 30, "2tib": 2 << 40,
		"10GB": 1e10, "1gb": 1e9, "5TB": 5e12, "1_500mb": 15e8,
		"9223372036854775807": math.MaxInt64, "8388607TiB": 8388607 << 40,
	} {
		got, err := bin.ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%q = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseSizeRejects(t *testing.T) {
	for _, text := range []string{
		"", "-", "-2", "-1KB", "+1", "KiB", "1.5GiB", "1,000", "1e6", "0x10", " 1", "1 ", "1Mi", "1M", "12MBB",
		"_1", "1_", "1__0", "1_KB", "1KB2", "9223372036854775808", "8388608TiB", "99999999999999999999", "18446744073709551617KB", "１KB",
	} {
		if got, err := bin.ParseSize(text); err == nil {
			t.Errorf("%q = %d", text, got)
		}
	}
}

func TestSizeStringIsShortest(t *testing.T) {
	for size, want := range map[bin.Size]string{
		0: "0", -1: "-1", 1: "1", 999: "999", 1000: "1KB", 1023: "1023", 1024: "1KiB", 1025: "1025", 1536: "1536",
		64 << 20: "64MiB", 1 << 30: "1GiB", 1e10: "10GB", 1_500_000: "1500KB", 3 << 40: "3TiB", 2048000: "2048KB", 100 << 10: "100KiB",
		math.MaxInt64: "9223372036854775807",
	} {
		if got := size.String(); got != want {
			t.Errorf("%d prints as %s, want %s", int64(size), got, want)
		}
	}
}

func TestSizeTextRoundTrip(t *testing.T) {
	type config struct{ Max bin.Size }
	var c config
	if err := json.Unmarshal([]byte(`{"Max":"64MiB"}`), &c); err != nil || c.Max != 64<<20 {
		t.Fatalf("%+v, %v", c, err)
	}
	if out, err := json.Marshal(c); err != nil || string(out) != `{"Max":"64MiB"}` {
		t.Errorf("%s, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"Max":"much"}`), &c); err == nil || c.Max != 64<<20 {
		t.Errorf("after an invalid text: %d, %v", c.Max, err)
	}
}

func FuzzSize(f *testing.F) {
	f.Add("64MiB", int64(1000))
	f.Add("1_0gb", int64(1<<40))
	f.Add("-1", int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, text string, n int64) {
		if s, err := bin.ParseSize(text); err == nil {
			if again, err := bin.ParseSize(s.String()); err != nil || again != s {
				t.Fatalf("%q is %d, prints as %s, which is %d, %v", text, int64(s), s, int64(again), err)
			}
		}
		if n < 0 {
			return
		}
		if got, err := bin.ParseSize(bin.Size(n).String()); err != nil || got != bin.Size(n) {
			t.Fatalf("%d prints as %s, which is %d, %v", n, bin.Size(n), int64(got), err)
		}
	})
}
