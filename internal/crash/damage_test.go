package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/crash"
	"symbolon/internal/fixture"
)

func TestDamageIsKept(t *testing.T) {
	whole := newCore("/srv/orchard")
	modules := newDump(press)
	modules.Modules(fixture.DumpModule{Base: orchard, Name: "empty"})
	for _, c := range []struct{ file, want string }{
		{string(whole[:len(whole)-0x100]), "the file is truncated"},
		{string(modules.Bytes()), "module"},
		{string(whole), ""},
	} {
		d, _, err := crash.Open(bin.Bytes([]byte(c.file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(d.Problems); !strings.Contains(got, c.want) || (len(d.Problems) == 0) != (c.want == "") {
			t.Errorf("got problems %q, want %q", got, c.want)
		}
	}
}

func TestCoreWithoutThreadsIsRefused(t *testing.T) {
	const want = "core file, notes: malformed: the file has no threads; the file is truncated"
	_, _, err := crash.Open(bin.Bytes(newCore("/srv/orchard")[:64+3*56]))
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
