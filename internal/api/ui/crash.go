package ui

import (
	"cmp"

	"symbolon/internal/bin"
	"symbolon/internal/console"
	"symbolon/internal/crash"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/token"
)

// crashPage is tryPage with the forms of the report.
func (d *Door) crashPage() *page {
	return &page{
		pattern: "/ui/crash", about: "the report on a crash", right: token.Symbolicate, orRight: token.Read, maxBody: noLimit, actions: d.tryActions(),
		show: func(v *visit) (view, error) {
			return view{title: "Crash", data: map[string]string{}, body: tryForm(d, v, "", true)}, nil
		},
	}
}

// withCrash calls use with the report on an upload, a *crash.Report or an
// *applecrash.Report. The modules without symbols are added to the run.
func (d *Door) withCrash(v *visit, p *progress, u *upload, run *filter.Run, use func(report any) error) error {
	file, _ := bin.InPlace(u.Spool)
	dump, apple, err := crash.Open(file)
	if err != nil {
		return err
	}
	by := d.deps.Crashes(v.Context(), v.grant, func(m ident.Module, why error) {
		run.Add([]filter.Missing{{Name: cmp.Or(m.CodeFile, m.DebugFile), Why: why, Module: m}})
	})
	opt := crash.Options{Purpose: locate.SymFirst}
	if apple != nil {
		if err := by.SymbolicateApple(v.Context(), apple, opt); err != nil {
			return err
		}
		return use(apple)
	}
	p.show("walking the stacks of "+console.Count(len(dump.Threads), "thread"), 0, 0)
	report, err := by.Process(v.Context(), dump, opt)
	if err != nil {
		return err
	}
	defer report.Release()
	return use(report)
}
