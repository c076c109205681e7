package explain_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/explain"
	"symbolon/internal/fault"
	"symbolon/internal/locate"
)

func TestAdviceOnFoldersIsNotThatOnServers(t *testing.T) {
	for kind, want := range map[fault.Kind]string{fault.Denied: "may not read the file", fault.Transport: "whether it is mounted"} {
		f := fault.New(kind, "", "reason")
		x := explain.New(explain.Question{}, []locate.Tried{{Location: "file:///srv/symbols/k.sym", Fault: f}}, f, time.Now(), 1)
		if text := strings.Join(x.Advice, "\n"); !strings.Contains(text, want) || strings.Contains(text, "server") {
			t.Errorf("%v: %s", kind, text)
		}
	}
}

func TestExplainTakesTheIDOfAPortablePDB(t *testing.T) {
	for _, age := range []string{"ffffffff", "19b8600e"} {
		const guid = "00112233445566778899AABBCCDDEEFF"
		m, err := explain.ParseModule("Quay.pdb/" + guid + age)
		if err != nil || m.DebugID.IsZero() || m.CodeFile != "" {
			t.Errorf("age %s: debug id %s, code file %q, %v", age, m.DebugID, m.CodeFile, err)
		}
	}
}
