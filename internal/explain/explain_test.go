package explain_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/console"
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

func TestAdviceOnBucketsNamesTheirKeys(t *testing.T) {
	for want, f := range map[string]*fault.Error{
		"check the bucket, region": fault.New(fault.NotFound, "", "NoSuchBucket: x"), "check the keys, bucket, region": fault.New(fault.Denied, "", "x"),
	} {
		x := explain.New(explain.Question{}, []locate.Tried{{Location: "s3://symbols/k.sym", Fault: f}}, f, time.Now(), 1)
		if text := strings.Join(x.Advice, "\n"); !strings.Contains(text, want) || strings.Contains(text, "headers") {
			t.Errorf("%v: %s", f, text)
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

func TestTextBeginsWithTheVerdictAndTheDecisiveCandidate(t *testing.T) {
	absent := fault.New(fault.NotFound, "", "no such file")
	tried := []locate.Tried{
		{Source: "first", Location: "https://a.example/k.sym", Fault: absent},
		{Source: "second", Location: "https://b.example/k.sym", Fault: fault.New(fault.Denied, "", "HTTP 403")},
		{Source: "third", Location: "https://c.example/k.sym", Fault: absent},
	}
	m, err := explain.ParseModule("kiln/caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d")
	if err != nil {
		t.Fatal(err)
	}
	x := explain.New(explain.Question{Module: m}, tried, tried[1].Fault, time.Now(), 3)
	var short, full strings.Builder
	x.WriteText(&short, console.Plain, false)
	x.WriteText(&full, console.Plain, true)
	head := "kiln/caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d: denied: HTTP 403\n\n"
	if text := short.String(); !strings.HasPrefix(text, head+"  2. second") || strings.Contains(text, "first") ||
		!strings.HasSuffix(text, "\n2 other candidates not shown; symbolon explain --all lists them\n") {
		t.Errorf("short: %s", text)
	}
	if text := full.String(); !strings.HasPrefix(text, head+"  1. first") || !strings.Contains(text, "3. third") || strings.Contains(text, "not shown") {
		t.Errorf("full: %s", text)
	}
}
