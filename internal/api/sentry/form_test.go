package sentry_test

import (
	"strings"
	"testing"

	"symbolon/internal/api/sentry"
)

func TestPartMayHaveAnyDisposition(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	kind, body := formOf(part{file, dump()})
	body = strings.Replace(body, "form-data;", "attachment;", 1)
	if w := doAs(c.Front, "POST", "/minidump", kind, body); w.Code != 200 || !strings.Contains(w.Body.String(), `"completed"`) {
		t.Errorf("%d %s, want a completed request", w.Code, w.Body)
	}
}

func TestPartsOfMinidumpsAreSkippedInAppleReports(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	for _, text := range []string{appleReport, "--\n" + appleReport} {
		w := c.post("/applecrashreport", part{"apple_crash_report", text}, part{"rewrite_first_module", "{"})
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"EXC_BAD_ACCESS (SIGSEGV)"`) {
			t.Errorf("%.20q: %d %s, want a completed request", text, w.Code, w.Body)
		}
	}
}

func TestPartsMayBeInvalidUTF8(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	if w := c.post("/applecrashreport", part{"apple_crash_report", appleReport}, part{"options", "{\"note\":\"\xff\"}"}); w.Code != 200 {
		t.Errorf("%d %s, want 200", w.Code, w.Body)
	}
}

func TestEmptyArraysAreObjectsWithoutMembers(t *testing.T) {
	f, _ := door(t, sentry.Config{AllowRequestSources: true}, sentry.Deps{}, engine{}.run)
	const from = `{"sources":[{"id":"x","type":"http","url":"http://a.test/",`
	for body, status := range map[string]int{
		`{"options":[]}`:                             200,
		`{"options":[1,[]]}`:                         422,
		`{"options":[`:                               400,
		from + `"layout":[],"filters":[]}]}`:         200,
		from + `"layout":{},"filters":{}}]}`:         200,
		from + `"layout":null,"filters":null}]}`:     200,
		from + `"layout":["native"]}]}`:              422,
		from + `"filters":[["pdb"]]}]}`:              422,
		from + `"layout":{"type":"native\u0020"}}]}`: 422,
		from + `"headers":[]}]}`:                     422,
	} {
		if w := do(f, "POST", "/symbolicate", body); w.Code != status {
			t.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, status)
		}
	}
}
