package missing_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/console"
	"symbolon/internal/ident"
	"symbolon/internal/missing"
)

// module returns a module with an id of these digits.
func module(t *testing.T, name, digit string) ident.Module {
	t.Helper()
	id, err := ident.ParseBreakpadID(strings.Repeat(digit, 32) + "1")
	if err != nil {
		t.Fatal(err)
	}
	return ident.Module{DebugFile: name, DebugID: id, CodeID: ident.ParseCodeID("5f00ab12000")}
}

// rows returns the rows since a time, as "name door count" texts.
func rows(t *testing.T, l *missing.Log, since time.Time) string {
	t.Helper()
	list, err := l.Rows(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range list {
		texts = append(texts, fmt.Sprintf("%s %s %d", r.DebugFile, r.Door, r.Count))
	}
	return strings.Join(texts, ", ")
}

func TestCountsOfAllProcessesAreMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		one, two := missing.New(b, time.Now, slog.New(slog.DiscardHandler)), missing.New(b, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			one.Run(ctx)
			close(ended)
		}()
		begin := time.Now()
		jar, lid := module(t, "jar.pdb", "A"), module(t, "lid.pdb", "B")
		one.Note(missing.Client{Door: "mozilla"}, jar, "not found")
		one.Note(missing.Client{Door: "mozilla"}, jar, "not found")
		two.Note(missing.Client{Door: "mozilla"}, jar, "not found")
		two.Note(missing.Client{Door: "debuginfod"}, jar, "not found")
		two.Note(missing.Client{Door: "mozilla"}, ident.Module{DebugFile: "nameless"}, "no id")
		time.Sleep(2*time.Hour + time.Second) // of the fake clock: the first hour of one is written
		one.Note(missing.Client{Door: "mozilla"}, lid, "not found")
		if got, want := rows(t, two, begin), "jar.pdb mozilla 3, jar.pdb debuginfod 1"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := rows(t, one, begin), "jar.pdb mozilla 2, lid.pdb mozilla 1"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := rows(t, one, begin.Add(90*time.Minute)), "lid.pdb mozilla 1"; got != want {
			t.Errorf("of the last hour: got %q, want %q", got, want)
		}
		cancel()
		<-ended
		if got, want := rows(t, missing.New(b, time.Now, slog.New(slog.DiscardHandler)), begin), "jar.pdb mozilla 2, lid.pdb mozilla 1"; got != want {
			t.Errorf("after the end of one: got %q, want %q", got, want)
		}
	})
}

func TestOldCountsAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		l := missing.New(b, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			l.Run(ctx)
			close(ended)
		}()
		l.Note(missing.Client{Door: "mozilla"}, module(t, "jar.pdb", "A"), "not found")
		time.Sleep(31 * 24 * time.Hour)
		if keys, _, err := b.List(t.Context(), "missing/", "", bucket.MaxPage); err != nil || len(keys) != 0 {
			t.Errorf("got the keys %q, %v; want none", keys, err)
		}
		cancel()
		<-ended
	})
}

func TestModulesThatAreAskedForMostAreKept(t *testing.T) {
	l := missing.New(mem.New(), time.Now, slog.New(slog.DiscardHandler))
	often := module(t, strings.Repeat("o", 500), "A")
	for range 3 {
		l.Note(missing.Client{Door: "mozilla"}, often, "not found")
	}
	for n := range 50_000 {
		l.Note(missing.Client{Door: "mozilla"}, module(t, fmt.Sprint("hostile", n), "B"), "not found")
	}
	list, err := l.Rows(t.Context(), time.Time{})
	if err != nil || len(list) > 20_000 {
		t.Fatalf("got %d rows, %v; want at most 20000", len(list), err)
	}
	if got := list[0]; got.Count != 3 || len(got.DebugFile) != 150 {
		t.Errorf("got first %+v, want the module that was asked for three times, with a shorter name", got)
	}
}

func TestCountsThatCannotBeReadAreAnError(t *testing.T) {
	b := mem.New()
	if _, err := b.Put(t.Context(), "missing/2026-11-23T16/process", strings.NewReader("[]"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	fails := func(method, _ string) (fails, happens bool) { return method == "Get", true }
	l := missing.New(&buckettest.Failing{Bucket: b, Fails: fails}, time.Now, slog.New(slog.DiscardHandler))
	if list, err := l.Rows(t.Context(), time.Time{}); err == nil {
		t.Errorf("got %d rows and no error", len(list))
	}
}

func TestCellsAreNotFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "": "", "a=b-1.pdb": "a=b-1.pdb",
	} {
		if got := missing.Cells(text)[0]; got != want {
			t.Errorf("%q is the cell %q, want %q", text, got, want)
		}
	}
}

func TestTablesOfRows(t *testing.T) {
	at := time.Date(2026, 11, 23, 16, 5, 9, 0, time.UTC)
	list := []*missing.Row{
		{DebugFile: "jar.pdb", DebugID: "A1", CodeFile: "jar.dll", CodeID: "5f00", Reason: "not found", Count: 3, First: at, Last: at,
			Client: missing.Client{Door: "mozilla", Product: "kiln"}},
		{CodeFile: "lid\x1b.so", CodeID: "c6f3", Reason: "a, b", Count: 12, First: at, Last: at,
			Client: missing.Client{Door: "debuginfod", Project: "tea"}},
	}
	var text, table strings.Builder
	missing.WriteText(&text, list, console.Plain)
	const lines = "       3  2026-11-23 16:05  jar.pdb/A1  mozilla/kiln  not found\n      12  2026-11-23 16:05  lid\uFFFD.so/c6f3  debuginfod  a, b\n"
	if got := text.String(); got != lines {
		t.Errorf("got\n%s, want\n%s", got, lines)
	}
	if err := missing.WriteCSV(&table, list); err != nil {
		t.Fatal(err)
	}
	const want = `debug_file,debug_id,code_file,code_id,count,first,last,interface,project,reason,product
jar.pdb,A1,jar.dll,5f00,3,2026-11-23T16:05:09Z,2026-11-23T16:05:09Z,mozilla,,not found,kiln
`
	if got := table.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, `,tea,"a, b",`) {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}
