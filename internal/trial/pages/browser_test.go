package pages_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"symbolon/internal/proctest"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// chromium is the browser of all tests. It starts with the first of them.
var chromium struct {
	sync.Once
	ctx context.Context
	err error
}

var closeBrowser = func() {}

func startBrowser(path string) {
	folder, err := os.MkdirTemp("", "symbolon-browser-*")
	if err != nil {
		chromium.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(folder), chromedp.WindowSize(1280, 900), chromedp.Flag("disable-quic", true))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, leave := chromedp.NewContext(ctx)
	closeBrowser = func() {
		leave()
		end()
		os.RemoveAll(folder)
	}
	chromium.ctx, chromium.err = ctx, chromedp.Do(ctx)
}

// A tab is a tab of the browser with cookies of its own. The test fails if a page writes to
// the console, breaks its policy, or loads something that does not exist.
type tab struct {
	t      testing.TB
	ctx    context.Context
	server *trial.Server

	hasScripts bool // that pages run

	mu       sync.Mutex
	problems []string
	allowed  []string // parts of problems that the test expects
}

// newTab opens a tab for the pages of a server.
func newTab(t testing.TB, s *trial.Server) *tab {
	t.Helper()
	path := proctest.Program(t, "chromium")
	chromium.Do(func() { startBrowser(path) })
	if chromium.err != nil {
		t.Fatalf("start the browser: %v", chromium.err)
	}
	b := &tab{t: t, server: s, hasScripts: true}
	ctx, leave := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	b.ctx = ctx
	t.Cleanup(func() {
		cancel()
		leave()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("the page has a problem: %s", p)
		}
	})
	b.do(chromedp.Steps())
	return b
}

// listen keeps the problems of the page.
func (b *tab) listen(ev any) {
	var problem string
	switch ev := ev.(type) {
	case *log.EventEntryAdded:
		problem = fmt.Sprintf("%s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		text, _ := json.Marshal(ev.Args)
		problem = fmt.Sprintf("console.%s %s", ev.Type, text)
	case *runtime.EventExceptionThrown:
		problem = "exception: " + ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil {
			problem += " " + e.Description
		}
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.allowed {
		if strings.Contains(problem, text) {
			return
		}
	}
	b.problems = append(b.problems, problem)
}

// allow ignores problems with a text, such as the status of a page that is refused.
func (b *tab) allow(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, text)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.server.Log())
	}
}

// open loads a path of the server.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.server.URL + path))
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string, args ...any) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](format(expression, args)))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// format returns an expression in which %s stands for JSON values.
func format(expression string, args []any) string {
	for i, a := range args {
		text, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		args[i] = string(text)
	}
	return fmt.Sprintf(expression, args...)
}

// awaits waits until an expression is true, on this page or one that follows.
func (b *tab) awaits(expression string, args ...any) {
	b.t.Helper()
	text := format(expression, args)
	isTrue := waittest.Becomes(func() bool {
		v, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`!!(`+text+`)`))
		return err == nil && v || b.ctx.Err() != nil
	})
	if !isTrue || b.ctx.Err() != nil {
		page, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		b.t.Fatalf("%s remains false; the page is\n%s\n%s", text, page, b.server.Log())
	}
}

// shows waits until the page contains a text.
func (b *tab) shows(text string) {
	b.t.Helper()
	b.awaits(`document.body && document.body.innerText.includes(%s)`, text)
}

// lacks reports an error if the page contains a text.
func (b *tab) lacks(text string) {
	b.t.Helper()
	if eval[bool](b, `document.body.innerText.includes(%s)`, text) {
		b.t.Errorf("the page shows %q", text)
	}
}

// click clicks the first visible element with a selector and, unless it is empty, a text.
func (b *tab) click(selector, text string) {
	b.t.Helper()
	b.awaits(`(() => {
		const e = [...document.querySelectorAll(%s)].find(e => e.checkVisibility() && (%s === '' || e.textContent.trim() === %s));
		if (e) e.click();
		return e;
	})()`, selector, text, text)
}

// fill sets the value of a field.
func (b *tab) fill(selector, value string) {
	b.t.Helper()
	b.awaits(`(() => {
		const e = document.querySelector(%s);
		if (!e) return false;
		e.value = %s;
		if (e.value !== %s) return false; // the options of a list are not all there yet
		e.dispatchEvent(new Event('input', {bubbles: true}));
		return true;
	})()`, selector, value, value)
}

// choose chooses files in a field, as a person does.
func (b *tab) choose(selector string, files ...string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(selector), files))
}

// press types keys where the focus is.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// prefers sets the theme, "light" or "dark".
func (b *tab) prefers(theme string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
		})
		return err
	}))
}

//go:embed rules.js
var rules string

// check reports what a person with a screen reader, a keyboard or a small screen cannot use:
// by the rules of this package, and with AXE also by those of the axe.min.js of that name,
// which needs the timers of scripts.
func (b *tab) check() {
	b.t.Helper()
	b.awaits(`document.readyState === 'complete'`) // the text of a page is there before its styles
	problems := eval[[]string](b, strings.ReplaceAll(rules, "%", "%%"))
	if name := os.Getenv("AXE"); name != "" && b.hasScripts {
		problems = append(problems, b.axe(name)...)
	}
	for _, problem := range problems {
		b.t.Errorf("%s: %s", eval[string](b, `location.pathname`), problem)
	}
}

// axe returns the problems that axe-core finds.
func (b *tab) axe(name string) (problems []string) {
	b.t.Helper()
	script, err := os.ReadFile(name)
	if err == nil {
		_, err = chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](string(script)))
	}
	if err == nil {
		problems, err = chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run().then(r => r.violations.flatMap(v =>
			v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120) + ' ' + n.failureSummary)))`, chromedp.EvalAwaitPromise))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return problems
}

// looks checks the page in both themes, on a wide and on a narrow screen. With PAGES it
// writes pictures to that folder.
func (b *tab) looks(name string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		b.prefers(theme)
		for suffix, width := range map[string]int64{"": 1200, "-narrow": 360} {
			b.do(chromedp.EmulateViewport(width, 800))
			b.check()
			if folder := os.Getenv("PAGES"); folder != "" {
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, name+"-"+theme+suffix+".png"), picture, 0o600)
				}
				if err != nil {
					b.t.Error(err)
				}
			}
		}
	}
}

// withoutScripts keeps pages from running scripts. The test still can.
func (b *tab) withoutScripts() {
	b.t.Helper()
	b.hasScripts = false
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}
