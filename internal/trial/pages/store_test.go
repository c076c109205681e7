package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/trial"
)

// write writes a file to a new folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAMissingModuleIsRepairedInTheBrowser goes from a module that a client asked for in
// vain to its symbols.
func TestAMissingModuleIsRepairedInTheBrowser(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{})
	kettle := trial.Module{File: "kettle.so", ID: trial.KettleID}
	ask := func() string { return s.V5([]trial.Module{kettle}, trial.Frame{Module: 0, Offset: 0x1001}).Text(0) }
	before := ask()
	b := newTab(t, s)
	b.open("/ui/missing")
	b.shows("1 module")
	b.looks("missing")
	b.click("table a", "kettle.so")
	b.shows("not found")
	b.looks("module-missing")
	b.choose("form.drop input[multiple]", write(t, "kettle.so.sym", trial.KettleSym))
	b.click("form.drop button", "Upload")
	b.shows("Uploaded: the lookup below includes the new files.")
	b.shows("found in")
	if after := ask(); after == before {
		t.Errorf("the interface still answers %q", after)
	}
	b.open("/ui/missing")
	b.shows("No module is missing.")
}

// TestUploadsAreManagedInTheBrowser uploads files, reads what became of them, keeps the
// upload, and deletes a file and then the rest.
func TestUploadsAreManagedInTheBrowser(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Set: []string{`uploads.keep=[{project: "def*", keep: "30d after upload"}]`}})
	b := newTab(t, s)
	b.open("/ui/uploads")
	b.shows("There are no uploads.")
	b.fill("form.drop input[name=labels]", "version=1.2, channel=<b>beta</b>")
	pot := trial.NewSym(1, 3)
	b.choose("form.drop input[multiple]", write(t, "kettle.so.sym", trial.KettleSym), write(t, pot.File+".sym", string(pot.Bytes())), write(t, "<img src=x>.txt", "hello"))
	b.click("form.drop button", "Upload")
	b.shows("2 files accepted, 1 refused.")
	b.shows("<img src=x>.txt")
	b.looks("uploaded")
	b.click("main a[href*='ui/uploads/']", "")
	b.shows("rule 1 of uploads.keep: 30d after upload")
	b.shows("channel=<b>beta</b>, version=1.2")
	b.looks("upload")
	b.fill("input[name=until]", "2999-12-31")
	b.click("button", "Keep")
	b.shows("2999-12-31 23:59:59 UTC")
	b.click("tr:first-child a", "Delete…")
	b.shows("No lookup finds it afterwards.")
	b.looks("upload-delete")
	b.fill("input[name=why]", "it is of another build")
	b.click("button.danger", "Delete")
	b.shows("Deleted: no lookup finds the files from now on.")
	b.looks("uploads")
	b.click("details summary", "")
	b.shows("unknown format")
	b.click("tbody a", "")
	b.shows("2999-12-31")
	b.lacks("kettle.so.sym")
	b.click("a.button", "Delete the upload…")
	b.fill("input[name=why]", "all of it")
	b.click("button.danger", "Delete")
	b.shows("There are no uploads.")
}

// TestTheFirstTokenGoesOnWithTheSession makes the token that closes the pages, another one,
// limits it and revokes it.
func TestTheFirstTokenGoesOnWithTheSession(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{})
	b := newTab(t, s)
	b.open("/ui/tokens")
	b.shows("There are no tokens")
	b.looks("tokens-none")
	b.fill("input[name=name]", "me")
	b.click("button", "Create the token")
	b.shows("This browser is signed in with the new one.")
	b.shows("export DEBUGINFOD_URLS=" + s.URL + "/t/")
	b.looks("token-new")
	b.click("main a", "All tokens")
	b.shows("Sign out")
	b.fill("input[name=name]", "\u202eic \u202c<script>alert(1)</script>")
	b.fill("input[name=labels]", "product=pot")
	b.click("button", "Create the token")
	b.shows("How to use it")
	b.lacks("Sign in with it")
	b.click("main a", "All tokens")
	b.shows("<script>alert(1)</script>")
	b.shows("from 127.0.0.1")
	b.looks("tokens")
	b.click("tr:first-child a", "Limit…")
	b.click("form.card input[value=upload]", "")
	b.click("form.card input[value=read]", "")
	b.looks("token-limit")
	b.fill("form.card input[name=expires]", "2999-12-31")
	b.click("button.danger", "Limit")
	b.shows("The token is limited.")
	b.shows("2999-12-31")
	b.click("tr:first-child a", "Revoke…")
	b.looks("token-revoke")
	b.click("button.danger", "Revoke")
	b.shows("The token is revoked.")
	b.lacks("<script>")
	other := newTab(t, s)
	other.allow("401")
	other.allow("Password forms") // a token has no user name
	other.open("/ui/tokens")
	other.shows("Sign in")
}

func TestProjectsAreMadePublicInTheBrowser(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{})
	b := newTab(t, s)
	b.open("/ui/projects")
	b.shows("default")
	b.fill("input[name=name]", "web")
	b.click("button", "Create")
	b.shows("The project was changed.")
	b.click("a[aria-label='Make public: web']", "")
	b.shows("All clients of this server may read its files from then on.")
	b.looks("projects")
	b.click("button.danger", "Make public")
	b.shows("Make private…")
	b.awaits(`[...document.querySelectorAll('tr')].some(r => r.innerText.includes('web') && r.innerText.includes('public'))`)
}
