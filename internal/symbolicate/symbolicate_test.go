package symbolicate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/metric"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/trial/rig"
)

const id = rig.ID

// engine returns an engine over a symbol server that has modules a.so and b.so, and
// whose answer for slow.so does not end before the test.
func engine(t *testing.T, cfg symbolicate.Config) *symbolicate.Engine {
	t.Helper()
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.URL.Path[1:], "/")
		switch name {
		case "a.so", "b.so":
			fmt.Fprintf(w, "MODULE Linux x86_64 %s %s\nINFO CODE_ID 0123 %s.bin\nFUNC 1000 10 0 one_%s\nFUNC 1010 10 0 two_%s\n", id, name, name, name, name)
		case "deep.so":
			fmt.Fprintf(w, "MODULE Linux x86_64 %s deep.so\nFILE 0 a.c\nINLINE_ORIGIN 0 inner\nFUNC 1000 10000 0 outer\n", id)
			for depth := range 200 {
				fmt.Fprintf(w, "INLINE %d 1 0 0 1000 10000\n", depth)
			}
			fmt.Fprint(w, "1000 10000 7 0\n")
		case "template.so":
			fmt.Fprintf(w, "MODULE Linux x86_64 %s template.so\nFUNC 1000 10 0 _Z5wringIiEvT_\n", id)
		case "costly.so":
			fmt.Fprintf(w, "MODULE Linux x86_64 %s costly.so\nFUNC 1000 10 0 %s\nFUNC 1010 10 0 %s\n", id, costly, ordinary)
		case "slow.so":
			<-done
		default:
			http.NotFound(w, r)
		}
	}))
	l := rig.Open(t, rig.Options{Sources: rig.Web(t, source.Config{}, server.URL)})
	t.Cleanup(func() {
		close(done)
		server.Close()
	})
	return symbolicate.New(cfg, l.Tables, time.Now)
}

// costly is a name whose parts each contain the previous part twice.
const (
	costly   = "_RINvC1a1bTuuETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX_ETB15_B15_ETB1f_B1f_EE"
	ordinary = "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE"
)

func names(res *symbolicate.Result, req *symbolicate.Request) string {
	var out []string
	for i, f := range req.Frames {
		text := "-"
		calls, err := res.Frames(i)
		if err != nil {
			return err.Error()
		}
		for _, fr := range calls {
			name, _ := res.AppendText(nil, f.Module, fr.Func)
			text = string(name)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestAnswersAreInOrderOfFrames(t *testing.T) {
	e := engine(t, symbolicate.Config{})
	req := &symbolicate.Request{
		Modules: []ident.Module{rig.Module("a.so"), rig.Module("b.so"), rig.Module("gone.so"), rig.Module("unasked.so")},
		Frames: []symbolicate.Frame{
			{Module: 1, Addr: 0x1015}, {Module: -1, Addr: 0x1000}, {Module: 0, Addr: 0x1000}, {Module: 2, Addr: 0x1000},
			{Module: 1, Addr: 0x1001}, {Module: 0, Addr: 0x9000}, {Module: 1, Addr: 0x1015}, {Module: 0, Addr: 0x1010},
		},
	}
	for range 3 { // from the file, and then perhaps from the table
		res, err := e.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := names(res, req), "two_b.so - one_a.so - one_b.so - two_b.so two_a.so"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		m := res.Modules
		for i, want := range []string{"asked found", "asked found", "asked", ""} {
			var got []string
			if m[i].Asked {
				got = append(got, "asked")
			}
			if m[i].Found {
				got = append(got, "found")
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("module %d is %q, want %q", i, got, want)
			}
		}
		if m[0].Name != "a.so.bin" {
			t.Errorf("code file %q", m[0].Name)
		}
		if fault.KindOf(m[2].Report.Fault) != fault.NotFound {
			t.Errorf("a missing module: %v", m[2].Report.Fault)
		}
		res.Release()
	}
}

func TestNamesHaveTheirResultsUnlessTheyAreCalled(t *testing.T) {
	e := engine(t, symbolicate.Config{})
	for isCalled, want := range map[bool]string{false: "void wring<int>(int)", true: "wring<int>(int)"} {
		req := &symbolicate.Request{
			Modules: []ident.Module{rig.Module("template.so")}, Purpose: locate.Debug, Called: isCalled,
			Frames: []symbolicate.Frame{{Addr: 0x1000}},
		}
		res, err := e.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(res, req); got != want {
			t.Errorf("called %t: the name is %s, want %s", isCalled, got, want)
		}
		res.Release()
	}
}

func TestWorkOnNamesIsLimited(t *testing.T) {
	e := engine(t, symbolicate.Config{})
	req := &symbolicate.Request{
		Modules: []ident.Module{rig.Module("costly.so")}, Purpose: locate.Debug,
		Frames: []symbolicate.Frame{{Addr: 0x1000}, {Addr: 0x1010}},
	}
	res, err := e.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	if got := names(res, req); got != costly+" std::mem::align_of::<std::mem::Discriminant>" {
		t.Fatalf("at first: %s", got)
	}
	for n := 0; names(res, req) != costly+" "+ordinary; n++ {
		if n > 20_000 {
			t.Fatal("20,000 costly names are all demangled")
		}
	}
}

func TestNearestAnswersBeyondTheEnd(t *testing.T) {
	e := engine(t, symbolicate.Config{})
	req := &symbolicate.Request{
		Modules: []ident.Module{rig.Module("a.so")}, Nearest: true,
		Frames: []symbolicate.Frame{{Module: 0, Addr: 0xfff}, {Module: 0, Addr: 0x1008}, {Module: 0, Addr: 0x99999}},
	}
	res, err := e.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	if got, want := names(res, req), "- one_a.so two_a.so"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMissingModulesAreNoted(t *testing.T) {
	var noted []string
	e := engine(t, symbolicate.Config{}).Noting(func(m ident.Module, why *fault.Error) {
		noted = append(noted, m.DebugFile+" "+why.Kind.String())
	})
	req := &symbolicate.Request{
		Modules: []ident.Module{rig.Module("a.so"), rig.Module("gone.so"), rig.Module("unasked.so")},
		Frames:  []symbolicate.Frame{{Module: 0, Addr: 0x1000}, {Module: 1, Addr: 0x1000}},
	}
	for range 2 {
		res, err := e.Unlimited().Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
	}
	if got, want := strings.Join(noted, ", "), "gone.so not found, gone.so not found"; got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
}

func TestSlowModuleIsMissing(t *testing.T) {
	e := engine(t, symbolicate.Config{Deadline: 200 * time.Millisecond})
	req := &symbolicate.Request{
		Modules: []ident.Module{rig.Module("slow.so"), rig.Module("a.so")},
		Frames:  []symbolicate.Frame{{Module: 0, Addr: 0x1000}, {Module: 1, Addr: 0x1000}},
	}
	res, err := e.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	if got, want := names(res, req), "- one_a.so"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r := res.Modules[0].Report; !r.Late || fault.KindOf(r.Fault) != fault.Timeout {
		t.Errorf("the slow module: %+v", r)
	}
}

func TestSlowModulesShareDeadline(t *testing.T) {
	e := engine(t, symbolicate.Config{Deadline: 300 * time.Millisecond, Parallel: 2})
	req := &symbolicate.Request{}
	for i := range 40 {
		m := rig.Module("slow.so")
		m.CodeFile = fmt.Sprint(i) // so that each is a lookup of its own
		req.Modules = append(req.Modules, m)
		req.Frames = append(req.Frames, symbolicate.Frame{Module: int32(i), Addr: 0x1000})
	}
	start := time.Now()
	res, err := e.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	if took := time.Since(start); took > 3*time.Second { // sequentially it would be 6 s
		t.Errorf("it took %v", took)
	}
	for i, m := range res.Modules {
		if !m.Asked {
			t.Errorf("module %d was not asked for", i)
		}
		if m.Found {
			t.Errorf("module %d was found", i)
		}
		if !m.Report.Late {
			t.Errorf("module %d is not reported as late", i)
		}
		if kind := fault.KindOf(m.Report.Fault); kind != fault.Timeout {
			t.Errorf("module %d: kind %v of the fault, want %v", i, kind, fault.Timeout)
		}
	}
}

// TestUnlimitedEngine has a deadline that expires at once: an unlimited engine still opens
// the module, but the deadline applies to its lookups.
func TestUnlimitedEngine(t *testing.T) {
	e := engine(t, symbolicate.Config{Deadline: time.Nanosecond}).Unlimited()
	for frames, found := range map[int]bool{3: true, 300: false} {
		req := &symbolicate.Request{Modules: []ident.Module{rig.Module("deep.so")}}
		for i := range frames {
			req.Frames = append(req.Frames, symbolicate.Frame{Addr: 0x1000 + uint64(i)})
		}
		res, err := e.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Release()
		if calls, err := res.Frames(0); err != nil || len(calls) > 0 != found {
			t.Errorf("%d frames: %d calls, %v", frames, len(calls), err)
		}
		if r := res.Modules[0].Report; r.Late == found || found != (r.Fault == nil) {
			t.Errorf("%d frames: %+v", frames, r)
		}
	}
}

// The clock advances a second with each lookup. All lookups of a limited engine have the
// time of one.
func TestLookupsOfALimitedEngineShareItsTime(t *testing.T) {
	for _, c := range []struct {
		limit time.Duration
		found [2]bool
	}{{time.Hour, [2]bool{true, true}}, {25 * time.Second, [2]bool{true, false}}, {5 * time.Second, [2]bool{false, false}}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, _, _ := strings.Cut(r.URL.Path[1:], "/")
			fmt.Fprintf(w, "MODULE Linux x86_64 %s %s\nFUNC 1000 100 0 one\n", id, name)
		}))
		t.Cleanup(server.Close)
		var clock rig.Clock
		now := func() time.Time { clock.Advance(time.Second); return clock.Now() }
		e := symbolicate.New(symbolicate.Config{}, rig.Open(t, rig.Options{Sources: rig.Web(t, source.Config{}, server.URL)}).Tables, now)
		req := &symbolicate.Request{Modules: []ident.Module{rig.Module("a.so"), rig.Module("b.so")}}
		for i := range 40 {
			req.Frames = append(req.Frames, symbolicate.Frame{Module: int32(i / 20), Addr: 0x1000 + uint64(i)})
		}
		res, err := e.Limited(c.limit).Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Release()
		if _, err := res.Frames(0); err != nil {
			t.Fatal(err)
		}
		if found := [2]bool{res.Modules[0].Found, res.Modules[1].Found}; found != c.found {
			t.Errorf("limit %v: found %v, want %v", c.limit, found, c.found)
		}
	}
}

func TestCancelEndsRun(t *testing.T) {
	e := engine(t, symbolicate.Config{Deadline: -1, Parallel: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := e.Run(ctx, &symbolicate.Request{
		Modules: []ident.Module{rig.Module("slow.so"), rig.Module("a.so")},
		Frames:  []symbolicate.Frame{{Module: 0, Addr: 0x1000}, {Module: 1, Addr: 0x1000}},
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTooManyFrames(t *testing.T) {
	frames := make([]symbolicate.Frame, 40_000)
	for i := range frames {
		frames[i] = symbolicate.Frame{Module: 0, Addr: 0x1000 + uint64(i%32)}
	}
	req := &symbolicate.Request{Modules: []ident.Module{rig.Module("a.so")}, Frames: frames}
	for most, want := range map[int]error{len(frames) - 1: symbolicate.ErrTooManyFrames, len(frames): nil} {
		res, err := engine(t, symbolicate.Config{MaxFrames: most}).Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if calls, err := res.Frames(0); len(calls) != 1 || err != nil {
			t.Errorf("at most %d: the first frame is %v, %v", most, calls, err)
		}
		for i := range frames {
			if _, err = res.Frames(i); err != nil {
				break
			}
		}
		if !errors.Is(err, want) {
			t.Errorf("at most %d: got %v", most, err)
		}
		res.Release()
	}
}

// TestFramesInAnyOrder alternates between windows.
func TestFramesInAnyOrder(t *testing.T) {
	req := &symbolicate.Request{Modules: []ident.Module{rig.Module("a.so"), rig.Module("b.so")}}
	for i := range 70_000 {
		req.Frames = append(req.Frames, symbolicate.Frame{Module: int32(i%3) - 1, Addr: 0x0ff8 + uint64(i*7%48)})
	}
	res, err := engine(t, symbolicate.Config{}).Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	for _, i := range []int{69_999, 0, 32_767, 32_768, 32_766, 65_536, 1, 42_345} {
		f := req.Frames[i]
		want := ""
		if f.Module >= 0 && f.Addr >= 0x1000 && f.Addr < 0x1020 {
			want = []string{"one_", "two_"}[(f.Addr-0x1000)/16] + []string{"a.so", "b.so"}[f.Module]
		}
		calls, err := res.Frames(i)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range calls {
			name, _ := res.AppendText(nil, f.Module, c.Func)
			got += string(name)
		}
		if got != want {
			t.Errorf("frame %d, %+v: got %q, want %q", i, f, got, want)
		}
	}
}

// TestDeepAnswersHalveWindow requests more frames than a window may have.
func TestDeepAnswersHalveWindow(t *testing.T) {
	req := &symbolicate.Request{Modules: []ident.Module{rig.Module("deep.so"), rig.Module("a.so")}}
	for i := range 20_000 {
		req.Frames = append(req.Frames, symbolicate.Frame{Module: int32(i % 4 / 3), Addr: 0x1000 + uint64(i%0x20)})
	}
	for i := range 20_000 {
		req.Frames[i].Addr += uint64(i / 0x20 * 0x20 * (1 - i%4/3) % 0xf000) // all over the deep one
	}
	res, err := engine(t, symbolicate.Config{}).Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	named := metric.Frames.Value("named")
	for i, f := range req.Frames {
		calls, err := res.Frames(i)
		if want := []int{201, 1}[f.Module]; err != nil || len(calls) != want {
			t.Fatalf("frame %d, %+v: %d calls, %v", i, f, len(calls), err)
		}
	}
	if n := res.Room(); n > symbolicate.MostRoom {
		t.Errorf("the window has grown to %d frames", n)
	}
	if n := metric.Frames.Value("named") - named; n != int64(len(req.Frames)) {
		t.Errorf("%d frames are counted", n)
	}
}
