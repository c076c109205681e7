package crash_test

import (
	"io"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/crash"
)

// FuzzProcess reads any file, walks its stacks, with the symbols of two modules, and
// writes the JSON.
func FuzzProcess(f *testing.F) {
	f.Add(crashed(newDump(press+0x1004, orchard+0x1009, orchard+0x2008)).Bytes())
	f.Add(newDump(0, 0).Bytes())
	f.Add(newCore("/srv/orchard"))
	f.Add([]byte(appleReport))
	b := newBench(f, symbols)
	f.Fuzz(func(t *testing.T, file []byte) {
		d, apple, err := crash.Open(bin.Bytes(file))
		if err != nil {
			return
		}
		if apple != nil {
			if err := b.SymbolicateApple(t.Context(), apple, crash.Options{}); err != nil {
				t.Fatal(err)
			}
			if err := crash.WriteJSON(io.Discard, apple); err != nil {
				t.Fatal(err)
			}
			return
		}
		r, err := b.Process(t.Context(), d, crash.Options{Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		document(t, r)
	})
}
