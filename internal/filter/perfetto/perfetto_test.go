package perfetto_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/perfetto"
)

// message makes the messages of the tests.
var message = filtertest.Message

const (
	rawID    = "\xc0\xff\xee\x00\xc0\xff\xee\x00"
	hexID    = "c0ffee00c0ffee00"
	chromeID = "44E4EC8C2F41492B9369D6B9A059577C2"
)

// interned is the interned data of a writer: frames of a library and of Chrome.
func interned() []byte {
	return message(
		6, message(1, 1, 3, 7, 4, 0x1973),
		6, message(1, 2, 3, 7, 4, 0x2000),
		6, message(1, 3, 3, 8, 4, 0x30),
		6, message(1, 4, 4, 0x40), // without a mapping
		6, message(1, 5, 3, 7, 4, 0x50, 5, 1), // with a source
		6, message(1, 6, 3, 7, 4, 0x60, 7, 4), // JIT
		16, message(1, 1, 2, rawID),
		16, message(1, 2, 2, chromeID),
		17, message(1, 1, 2, "system"),
		17, message(1, 2, 2, "libfoo.so"),
		17, message(1, 3, 2, "/opt/chrome"),
		19, message(1, 7, 2, 1, 7, 1, 7, 2),
		19, message(1, 8, 2, 2, 7, []byte{3}),
	)
}

// sample is a trace with the frames of interned.
func sample() []byte {
	return message(
		1, message(3, 9999, 10, 1, 8, 5),
		1, message(10, 1, 13, 1, 12, interned()),
		1, message(66, "sample"),
	)
}

var names = filtertest.Names{
	hexID: {
		0x1973: {
			{Function: []byte("inl(int)"), Raw: []byte("_Z3inli"), File: []byte("a.c"), Line: 3, Inlined: true},
			{Function: []byte("parse()")},
		},
		0x50: {{Function: []byte("again")}},
		0x60: {{Function: []byte("never")}},
	},
	chromeID: {0x30: {{Raw: []byte("ChromeMain")}}},
}

func rewrite(t testing.TB, run *filter.Run, data []byte) (appended []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := perfetto.Rewrite(context.Background(), run, data, &out); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out.Bytes(), data) {
		t.Fatalf("the output %q does not begin with the trace", out.Bytes())
	}
	return out.Bytes()[len(data):]
}

// symbols are the packets that name the frames of sample.
func symbols() []byte {
	return message(
		1, message(61, message(1, "/system/libfoo.so", 2, rawID,
			3, message(1, 0x1973, 2, message(1, "inl(int)", 2, "a.c", 3, 3), 2, message(1, "parse()")))),
		1, message(61, message(1, "/opt/chrome", 2, chromeID, 3, message(1, 0x30, 2, message(1, "ChromeMain")))),
	)
}

func TestNamesAreAppended(t *testing.T) {
	run := &filter.Run{Names: names}
	if got := rewrite(t, run, sample()); !bytes.Equal(got, symbols()) {
		t.Errorf("appended\n%q, want\n%q", got, symbols())
	}
}

func TestSecondRunChangesNothing(t *testing.T) {
	if got := rewrite(t, &filter.Run{Names: names}, append(sample(), symbols()...)); len(got) > 0 {
		t.Errorf("appended %q, want nothing", got)
	}
}

func TestForceNamesFramesAgain(t *testing.T) {
	got := rewrite(t, &filter.Run{Names: names, Force: true}, append(sample(), symbols()...))
	if !bytes.Contains(got, []byte("again")) || !bytes.Contains(got, []byte("inl(int)")) || bytes.Contains(got, []byte("never")) {
		t.Errorf("appended %q, want all names of files", got)
	}
}

// record is Names that keep the query and know nothing.
type record struct{ query filter.Query }

func (r *record) Look(ctx context.Context, q *filter.Query) (filter.Answer, error) {
	r.query = *q
	return filtertest.Names{}.Look(ctx, q)
}

func TestAddressesAreAsLinkedExceptForChrome(t *testing.T) {
	var r record
	rewrite(t, &filter.Run{Names: &r}, sample())
	want := []filter.Address{
		{Module: 0, Space: filter.Linked, Addr: 0x1973},
		{Module: 0, Space: filter.Linked, Addr: 0x2000},
		{Module: 1, Space: filter.Relative, Addr: 0x30},
	}
	if !slices.Equal(r.query.Addresses, want) {
		t.Errorf("looked up %+v, want %+v", r.query.Addresses, want)
	}
	if m := r.query.Modules; m[0].CodeID != hexID || m[0].CodeFile != "libfoo.so" || m[1].DebugID.Breakpad() != chromeID {
		t.Errorf("looked up in %+v, want the build id and the debug id", m)
	}
}

func TestMessagesBelongToTheirWriter(t *testing.T) {
	frame := func(pc int) []byte { return message(6, message(1, 1, 3, 7, 4, pc)) }
	data := message(
		1, message(12, interned(), 10, 1),
		1, message(10, 2, 12, frame(0x1973)), // another writer
		1, message(10, 1, 41, 1), // forgets
		1, message(10, 1, 12, frame(0x2973)), // without a mapping
		1, message(10, 3, 13, 1, 12, frame(0x3973)), // another writer
		1, message(10, 1, 12, interned()), // again
		1, message(10, 1, 13, 2, 12, frame(0x49730)), // still known
	)
	var r record
	rewrite(t, &filter.Run{Names: &r}, data)
	var got []string
	for _, a := range r.query.Addresses {
		got = append(got, fmt.Sprintf("%x", a.Addr))
	}
	if want := "1973 2000 49730 30"; strings.Join(got, " ") != want {
		t.Errorf("looked up %s, want %s", got, want)
	}
}

func TestProfilePacketsAreRead(t *testing.T) {
	data := message(1, message(37, message(
		1, message(1, 1, 2, rawID), 1, message(1, 2, 2, "libfoo.so"),
		4, message(1, 7, 2, 1, 7, 2),
		2, message(1, 1, 3, 7, 4, 0x1973),
	), 10, 1))
	if got := rewrite(t, &filter.Run{Names: names}, data); !bytes.Contains(got, []byte("/libfoo.so")) || !bytes.Contains(got, []byte("parse()")) {
		t.Errorf("appended %q, want the names of the profile", got)
	}
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func TestCompressedPacketsAreRead(t *testing.T) {
	if got := rewrite(t, &filter.Run{Names: names}, message(1, message(50, deflate(sample())))); !bytes.Equal(got, symbols()) {
		t.Errorf("appended\n%q, want\n%q", got, symbols())
	}
	nested := message(1, message(50, deflate(message(1, message(50, deflate(sample()))))))
	if got := rewrite(t, &filter.Run{Names: names}, nested); len(got) > 0 {
		t.Errorf("appended %q to compressed packets in compressed packets, want nothing", got)
	}
}

func TestDamageCostsItsPacket(t *testing.T) {
	bad := message(1, []byte{10 << 3}, 1, message(50, "no zlib"), 1, message(12, []byte{6<<3 | 2, 9}))
	if got := rewrite(t, &filter.Run{Names: names}, append(bad, sample()...)); !bytes.Equal(got, symbols()) {
		t.Errorf("appended\n%q, want\n%q", got, symbols())
	}
}

func TestModulesBeyondTheLimitsHaveNoNames(t *testing.T) {
	long := strings.Repeat("a", 4096)
	for name, data := range map[string][]byte{
		"path":          message(17, message(1, 2, 2, long)),
		"path of parts": message(17, message(1, 2, 2, long[:2048]), 17, message(1, 1, 2, long[:2048])),
		"build id":      message(16, message(1, 1, 2, long[:65])),
	} {
		var r record
		rewrite(t, &filter.Run{Names: &r}, message(1, message(12, append(interned(), data...))))
		if a := r.query.Addresses; len(a) != 1 || a[0].Addr != 0x30 {
			t.Errorf("%s: looked up %+v, want the address of the other module", name, a)
		}
	}
}

func TestInflatedBytesAreLimited(t *testing.T) {
	bomb := message(1, message(50, deflate(message(1, message(99, make([]byte, 15<<20))))))
	after := message(1, message(50, deflate(sample())))
	if got := rewrite(t, &filter.Run{Names: names}, slices.Concat(bomb, after)); len(got) == 0 {
		t.Error("appended nothing after packets of 15 MiB, want names")
	}
	if got := rewrite(t, &filter.Run{Names: names}, slices.Concat(bomb, bomb, after)); len(got) > 0 {
		t.Errorf("appended %d bytes after packets of 30 MiB, want none", len(got))
	}
}

func TestWhatIsKeptOfInflatedPacketsIsLimited(t *testing.T) {
	paths := func(id int) []byte {
		return message(10, 9, 12, bytes.Repeat(message(17, message(1, id, 2, make([]byte, 4<<10))), 10<<8)) // 10 MiB
	}
	after := message(1, message(50, deflate(sample())))
	one, two := message(1, message(50, deflate(message(1, paths(1))))), message(1, message(50, deflate(message(1, paths(2)))))
	if got := rewrite(t, &filter.Run{Names: names}, slices.Concat(one, after)); len(got) == 0 {
		t.Error("appended nothing after 10 MiB of paths, want names")
	}
	var entries []byte
	for id := range 16 << 20 / 64 {
		entries = append(entries, message(17, message(1, id))...)
	}
	empty := message(1, message(50, deflate(message(1, message(10, 9, 12, entries)))))
	if got := rewrite(t, &filter.Run{Names: names}, slices.Concat(empty, after)); len(got) == 0 {
		t.Error("appended nothing after 262,144 empty paths, want names")
	}
	if got := rewrite(t, &filter.Run{Names: names}, slices.Concat(empty, empty, after)); len(got) > 0 {
		t.Errorf("appended %d bytes after 524,288 empty paths, want none", len(got))
	}
	pad := message(1, message(66, make([]byte, 1<<20))) // for the limit of inflated bytes
	if got := rewrite(t, &filter.Run{Names: names}, slices.Concat(pad, one, two, after)); len(got) > 0 {
		t.Errorf("appended %d bytes after 20 MiB of paths, want none", len(got))
	}
}

func TestWritersAreLimited(t *testing.T) {
	data := message(1, message(10, 1, 12, interned()))
	for i := range 1<<16 - 1 {
		data = append(data, message(1, message(10, i+2, 12, ""))...)
	}
	data = append(data, message(1, message(10, 1<<20, 12, interned()))...)
	data = append(data, message(1, message(10, 1, 12, message(6, message(1, 1, 3, 7, 4, 0x999))))...)
	data = append(data, message(1, message(10, 1<<20, 12, message(6, message(1, 1, 3, 7, 4, 0x888))))...)
	var r record
	rewrite(t, &filter.Run{Names: &r}, data)
	has := func(addr uint64) bool {
		return slices.ContainsFunc(r.query.Addresses, func(a filter.Address) bool { return a.Addr == addr })
	}
	if !has(0x999) || has(0x888) {
		t.Errorf("looked up %v, want the frame of the first writer without that of the last", r.query.Addresses)
	}
}

func TestMutantsAreCopiedOrRejected(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bases := [][]byte{
		append(sample(), symbols()...), message(1, message(50, deflate(sample()))),
		slices.Concat(message(1, message(10, 1, 37, interned())), sample(), message(1, message(10, 1, 41, 1)), sample()),
	}
	for i := range 6000 {
		base := bases[i%len(bases)]
		mutant := bytes.Clone(base)
		switch i / len(bases) % 3 {
		case 0:
			mutant = mutant[:random.IntN(len(mutant))]
		case 1:
			for range 1 + random.IntN(8) {
				mutant[random.IntN(len(mutant))] ^= 1 << random.IntN(8)
			}
		case 2:
			from := random.IntN(len(base))
			copy(mutant[random.IntN(len(mutant)):], base[from:from+random.IntN(len(base)-from)])
		}
		var out, again bytes.Buffer
		if err := perfetto.Rewrite(t.Context(), &filter.Run{Names: names}, mutant, &out); err != nil {
			if out.Len() > 0 {
				t.Fatalf("mutant %d: an output and the error %v", i, err)
			}
			continue
		}
		if !bytes.HasPrefix(out.Bytes(), mutant) {
			t.Fatalf("mutant %d: %q became %q", i, mutant, &out)
		}
		if err := perfetto.Rewrite(t.Context(), &filter.Run{Names: names}, out.Bytes(), &again); err != nil || !bytes.Equal(again.Bytes(), out.Bytes()) {
			t.Fatalf("mutant %d: a second run returns %v and changes %q", i, err, &out)
		}
	}
}

func TestCutTraceIsRejected(t *testing.T) {
	var out bytes.Buffer
	err := perfetto.Rewrite(context.Background(), &filter.Run{Names: names}, sample()[:len(sample())-1], &out)
	if fault.KindOf(err) != fault.Malformed || !strings.HasPrefix(err.Error(), "read trace: protobuf: malformed: field at byte ") {
		t.Errorf("the error is %v, want one of the cut packet", err)
	}
}

func TestTraceIsRecognized(t *testing.T) {
	for name, c := range map[string]struct {
		head []byte
		want bool
	}{
		"trace":         {sample(), true},
		"its beginning": {sample()[:len(sample())/2], true},
		"profile":       {message(1, message(1, 1, 2, 2), 2, message(1, 1)), false},
		"OTLP":          {message(1, message(1, message(1, "a"), 2, message(2, "b")), 2, message(5, "")), false},
		"text":          {[]byte("\n  ==1==ERROR: AddressSanitizer"), false},
		"nothing":       {nil, false},
	} {
		if got := perfetto.Is(c.head); got != c.want {
			t.Errorf("%s: recognized %v, want %v", name, got, c.want)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add(sample())
	f.Add(append(sample(), symbols()...))
	f.Add(message(1, message(50, deflate(sample()))))
	f.Fuzz(func(t *testing.T, data []byte) {
		perfetto.Is(data)
		var once, twice bytes.Buffer
		if perfetto.Rewrite(context.Background(), &filter.Run{Names: names}, data, &once) != nil {
			return
		}
		if err := perfetto.Rewrite(context.Background(), &filter.Run{Names: names}, once.Bytes(), &twice); err != nil {
			t.Fatalf("a second run failed: %v", err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("a second run wrote\n%q, want\n%q", twice.Bytes(), once.Bytes())
		}
	})
}
