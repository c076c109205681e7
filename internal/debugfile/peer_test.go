package debugfile_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/sym"
)

// testdata/peer.txt holds random files of ours, and the answers of symbolic
// 13.9.0 to the addresses 0xf0 to 0x2ff: each line tells from which address on
// the answer is another one. No INLINE in it reaches beyond its FUNC, where
// the peer continues the function after its end and we do not.
func TestAnswersAreThoseOfThePeer(t *testing.T) {
	data, err := os.ReadFile("../object/testdata/peer.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Split(string(data), "== file\n")[1:]
	if len(files) != 40 {
		t.Fatalf("%d files", len(files))
	}
	for n, file := range files {
		text, answers, _ := strings.Cut(file, "== answers\n")
		o := open(t, []byte(text))
		changes := map[uint64]string{}
		for line := range strings.Lines(answers) {
			at, answer, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			addr, err := strconv.ParseUint(at, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			changes[addr] = answer
		}
		want := ""
		for a := uint64(0xf0); a < 0x300; a++ {
			if w, ok := changes[a]; ok {
				want = w
			}
			if got := showShort(o.AppendText, o.Lookup(nil, a)); got != want {
				t.Fatalf("file %d, address %#x:\n got %s\nwant %s\n%s", n, a, got, want, text)
			}
		}
	}
}

// showShort writes frames without the size of the function, which the peer
// does not tell.
func showShort(text func([]byte, sym.Text) []byte, frames []sym.Frame) string {
	var parts []string
	for _, f := range frames {
		s := fmt.Sprintf("%s %s:%d", text(nil, f.Func), text(nil, f.File), f.Line)
		if !f.Inlined {
			s += fmt.Sprintf(" [%x]", f.Entry)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " < ")
}
