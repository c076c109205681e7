package filter_test

import (
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/ident"
)

func TestReportOfFilesWithoutSymbols(t *testing.T) {
	run := &filter.Run{Has: func(m ident.Module) bool { return m.CodeID == "11" }}
	run.Add([]filter.Missing{
		{Name: "own", Addresses: 2, Why: fault.New(fault.NotFound, "", "no source has the file"), Module: ident.Module{CodeID: "11"}},
		{Name: "other", Addresses: 1, Why: fault.New(fault.NotFound, "", "no source has the file"), Module: ident.Module{CodeID: "22"}},
		{Name: "damaged", Addresses: 1, Why: fault.New(fault.Malformed, "", "bad header"), Module: ident.Module{CodeID: "11"}},
	})
	var report strings.Builder
	run.Report(&report)
	want := "symbolon: damaged: no names for 1 frame: malformed: bad header\n" +
		"symbolon: other: no names for 1 frame: not found: no source has the file\n" +
		"symbolon: own: no names for 2 frames: the file has no symbols, and no source has its debug file\n"
	if report.String() != want {
		t.Errorf("got\n%swant\n%s", report.String(), want)
	}
}

// TestAlternativesAreNotReported has an address that counts zero times, since another
// one of the query is for the same frame.
func TestAlternativesAreNotReported(t *testing.T) {
	run := &filter.Run{Names: filtertest.Names{}}
	answer, err := run.Look(t.Context(), &filter.Query{Modules: []ident.Module{{CodeFile: "app"}}, Addresses: []filter.Address{{Addr: 1}}, Times: []int32{0}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Release()
	if list := run.Missing(); len(list) > 0 {
		t.Errorf("reported %v", list)
	}
}
