package trial_test

import (
	"os"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

func TestMain(m *testing.M) { os.Exit(trial.Main(m)) }

// TestAServerIsStartedAskedAndEnded is the whole way once, without any fault.
func TestAServerIsStartedAskedAndEnded(t *testing.T) {
	sym, none := trial.NewSym(1, 3000), trial.NewSym(2, 10)
	up := trial.NewUpstream(t)
	up.Do(sym.Path(), sym)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	a := s.V5([]trial.Module{sym.Module, none.Module}, append(sym.Frames(0, 0, 2999), none.Frames(1, 5)...)...)
	if a.Text(0) != sym.Answer(0) || a.Text(1) != sym.Answer(2999) || a.Text(2) != "" {
		t.Errorf("answer: %s", a.Body)
	}
	if !a.Found(sym.Module) || a.Found(none.Module) || a.Reasons(none.Module) == "" {
		t.Errorf("modules: %s", a.Body)
	}
	waittest.Until(t, "the table is built", func() bool { return s.Metric("table_builds_total", `outcome="built"`) == 1 })
	if x := s.Explain(sym.Module); !x.Found || len(x.Tried) != 1 || !x.Tried[0].Chosen {
		t.Errorf("explain: %+v", x)
	}
	if n := s.Metric("downloads_total", `outcome="ok"`); n != 1 || up.Count(sym.Path()) != 1 || up.Count(none.Path()) != 1 {
		t.Errorf("%v downloads, %d and %d requests", n, up.Count(sym.Path()), up.Count(none.Path()))
	}
	if len(s.Lines("msg=request", "/symbolicate/v5")) != 1 {
		t.Errorf("log: %s", s.Log())
	}
	if code := s.Terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Restart()
	if wrong := s.Ask(sym, 7); wrong != "" {
		t.Error(wrong)
	}
	if now, peak := s.Memory(); now < 1<<20 || peak < now {
		t.Errorf("memory %d, at most %d", now, peak)
	}
}
