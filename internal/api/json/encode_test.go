package json_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"symbolon/internal/api/json"
)

func ExampleEncoder() {
	var e json.Encoder
	e.Begin(os.Stdout)
	defer e.Release()
	e.Open('{')
	e.Key("frames").Open('[')
	for _, addr := range []uint64{0x1000, 0x2004} {
		e.Open('{')
		e.Key("addr").Hex(addr)
		e.Key("inlined").Bool(false)
		e.Close('}')
	}
	e.Close(']')
	e.Key("module").String("lib\"a\".so")
	e.Close('}')
	e.EndLine()
	e.Flush()
	// Output: {"frames":[{"addr":"0x1000","inlined":false},{"addr":"0x2004","inlined":false}],"module":"lib\"a\".so"}
}

func TestHexHasNoLeadingZeros(t *testing.T) {
	for v, want := range map[uint64]string{0: `"0x0"`, 15: `"0xf"`, 16: `"0x10"`, math.MaxUint64: `"0xffffffffffffffff"`} {
		var e json.Encoder
		e.Hex(v)
		if got := string(e.Buf); got != want {
			t.Errorf("%d: got %s, want %s", v, got, want)
		}
	}
}

// failing fails the second write.
type failing struct{ n int }

var errWrite = errors.New("write failed")

func (w *failing) Write(b []byte) (int, error) {
	if w.n++; w.n > 1 {
		return 0, errWrite
	}
	return len(b), nil
}

func TestFirstErrorOfAWriterIsKept(t *testing.T) {
	w := &failing{}
	var e json.Encoder
	e.Begin(w)
	defer e.Release()
	for range 4 {
		e.String(strings.Repeat("x", 100<<10))
		e.Spill()
	}
	if e.Err != errWrite {
		t.Errorf("error is %v", e.Err)
	}
	if w.n != 2 {
		t.Errorf("%d writes, want 2", w.n)
	}
}
