package sentry_test

import (
	"strings"
	"testing"

	"symbolon/internal/api/sentry"
)

func TestTimeOfACrashMayBeBefore1970(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	for text, want := range map[string]string{
		"1970-01-01 00:00:00.9 +0000": `"timestamp":0,`,
		"1969-12-31 23:59:58 +0000":   `"timestamp":-2,`,
		"someday":                     `{"status":"completed","system_info"`,
	} {
		sent := strings.Replace(appleReport, "2021-03-04 05:06:07.000 +0000", text, 1)
		if got := c.post("/applecrashreport", part{"apple_crash_report", sent}).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: the answer lacks %s: %.200s", text, want, got)
		}
	}
}

func TestDumpWithoutATimeIsOf1970(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	sent := []byte(dump())
	copy(sent[20:24], make([]byte, 4))
	if got := c.post("/minidump", part{file, string(sent)}).Body.String(); !strings.Contains(got, `"timestamp":0,`) {
		t.Errorf("the answer lacks a timestamp of 0: %.200s", got)
	}
}

func TestMachineOfAnAppleReportMayBeThatOfItsImages(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	for code, want := range map[string]string{
		"Code Type: ARM-64 (Native)\n": "arm64",
		"Code Type: ??? (Native)\n":    "x86_64",
		"":                             "x86_64",
	} {
		sent := strings.Replace(appleReport, "Code Type:           X86-64 (Native)\n", code, 1)
		sent = strings.Replace(sent, "+orchard (1.0)", "+orchard x86_64 (1.0)", 1)
		if got := c.post("/applecrashreport", part{"apple_crash_report", sent}).Body.String(); !strings.Contains(got, `"cpu_arch":"`+want+`"`) {
			t.Errorf("%q: the answer lacks %s: %.300s", code, want, got)
		}
	}
}
