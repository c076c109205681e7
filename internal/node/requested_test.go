package node_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/trial"
)

// namedSources are sources of each type that a request may name, at an address.
func namedSources(at string) []string {
	return []string{
		fmt.Sprintf(`{"id":"named","type":"http","url":"http://%s/"}`, at),
		fmt.Sprintf(`{"id":"named","type":"http","url":"http://%s/","is_public":true,"accept_invalid_certs":true}`, at),
		fmt.Sprintf(`{"id":"named","type":"http","url":"http://%s/","has_index":true,"layout":{"type":"symstore"}}`, at),
		fmt.Sprintf(`{"id":"named","type":"s3","bucket":"b","region":["r","http://%s"],"access_key":"k","secret_key":"s"}`, at),
		fmt.Sprintf(`{"id":"named","type":"s3","bucket":"b","region":["r","http://%s"]}`, at),
		fmt.Sprintf(`{"id":"named","type":"gcs","bucket":"b","url":"http://%s","bearer_token":"k"}`, at),
		fmt.Sprintf(`{"id":"named","type":"sentry","url":"http://%s/","token":"k"}`, at),
		fmt.Sprintf(`{"id":"sentry:project","type":"sentry","url":"http://%s/","token":"k"}`, at),
	}
}

const scraping = `,"scraping":{"enabled":true,"allowed_origins":["*"],"headers":{"X-Key":"k"}}`

// TestRequestsReachNothingOfThisNetwork sends requests that name sources in the
// server's own network, in several spellings, and debug information that does.
func TestRequestsReachNothingOfThisNetwork(t *testing.T) {
	t.Parallel()
	u := trial.NewUpstream(t)
	u.Do("", trial.File([]byte("text\n")))
	_, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(u.URL, "http://"), "/"), ":")
	t.Cleanup(func() { // after all hosts
		if n := u.Count(""); n != 0 {
			t.Errorf("%d requests arrived", n)
		}
	})
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
		"[64:ff9b:1::7f00:1]", "[2002:7f00:1::1]", "169.254.169.254", "[fd00:ec2::254]", "10.0.0.1",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			restricted(t, host+":"+port)
		})
	}
}

// restricted sends requests that lead to an address that may not be reached.
func restricted(t *testing.T, at string) {
	folder, module := trial.PDBFolder(t, fixture.SourceLinkedPDB(at))
	s := open(t, t.TempDir(), "sentry: {allow_request_sources: true}\nnetwork: {connect_timeout: 300ms, max_tries: 1}\n"+
		"sources:\n- {id: folder, type: filesystem, path: '"+folder+"'}\n")
	for _, named := range namedSources(at) {
		r := s.symbolicate(t, "", trial.Kettle, `,"sources":[`+named+`]`)
		told := strings.Contains(r.Text, `"download failed: destination is restricted"`)
		silent := strings.Contains(named, "has_index") || strings.Contains(named, `"sentry"`) // a list that cannot be fetched is empty
		if r.Status != "completed" {
			t.Errorf("%s: %s", named, r.Text)
		}
		if r.module().Status == "found" || strings.Contains(r.Text, `"status":"ok"`) {
			t.Errorf("%s: the module is found: %s", named, r.Text)
		}
		if told == silent {
			t.Errorf("%s: the failure is reported: %v, want %v: %s", named, told, !silent, r.Text)
		}
	}
	r := s.symbolicate(t, "", module, scraping)
	if r.frame() != "symbolicated" || r.Stacks[0].Frames[0].Context != "" {
		t.Fatal(r.Text)
	}
	if !slices.ContainsFunc(r.module().Candidates, func(c replyCandidate) bool {
		return c.Source == "sourcelink" && c.Download.Status == "error" && c.Download.Details == "download failed: destination is restricted"
	}) {
		t.Errorf("a link to %s: %s", at, r.Text)
	}
}

// TestAFolderOfARequestMayComeLater names a folder before it is there.
func TestAFolderOfARequestMayComeLater(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "other"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := open(t, t.TempDir(), fmt.Sprintf("sentry: {allow_request_sources: true, request_filesystem_root: %q}\n", root))
	late := filepath.Join(root, "late")
	named := fmt.Sprintf(`,"sources":[{"id":"late","type":"filesystem","path":%q}]`, late)
	if r := s.symbolicate(t, "", trial.Kettle, named); r.module().Status != "missing" {
		t.Fatal(r.Text)
	}
	file := filepath.Join(late, filepath.FromSlash(trial.KettlePath))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(trial.KettleSym), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.symbolicate(t, "", trial.Kettle, named); r.module().Status != "found" {
		t.Errorf("when the folder is there: %s", r.Text)
	}
}

// TestTheMetricsTellNoSourcesOfRequests names sources of all types, whose ids are
// whatever requests say, and maybe secret.
func TestTheMetricsTellNoSourcesOfRequests(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := open(t, t.TempDir(), fmt.Sprintf("sentry: {allow_request_sources: true, request_filesystem_root: %q}\nnetwork: {connect_to_reserved_ips: true}\n", root))
	u := trial.NewUpstream(t)
	for _, named := range append(namedSources(strings.Trim(strings.TrimPrefix(u.URL, "http://"), "/")),
		fmt.Sprintf(`{"id":"named","type":"filesystem","path":%q}`, root), fmt.Sprintf(`{"id":"named","type":"filesystem","path":%q}`, filepath.Join(root, "none"))) {
		named = strings.ReplaceAll(named, `"named"`, `"id-of-a-request"`)
		s.symbolicate(t, "", trial.Kettle, `,"sources":[`+named+`]`)
	}
	text := sendTo(t, http.MethodGet, s.url+"/metrics", "", "").Text
	if strings.Contains(text, "id-of-a-request") || !strings.Contains(text, `source="request"`) {
		t.Error("the metrics tell ids of sources that requests name")
	}
}

// TestRequestsUseNoCredentialsOfThisMachine lets requests name sources in this
// network, and looks at what arrives there.
func TestRequestsUseNoCredentialsOfThisMachine(t *testing.T) {
	account := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(account, []byte(`{"type":"service_account","client_email":"`+trial.Canary+`1","private_key":"`+trial.Canary+`2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": trial.Canary + "3", "AWS_SECRET_ACCESS_KEY": trial.Canary + "4", "AWS_SESSION_TOKEN": trial.Canary + "5",
		"GOOGLE_APPLICATION_CREDENTIALS": account, "NETRC": account, "HTTP_PROXY": "http://user:" + trial.Canary + "6@127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	u := trial.NewUpstream(t)
	var signed atomic.Int32
	u.Do("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if all := fmt.Sprint(r.URL, r.Header); trial.Leaks(all) != nil {
			t.Errorf("it is sent %s", all)
		}
		if r.Header.Get("Authorization") != "" {
			signed.Add(1)
		}
		http.NotFound(w, r)
	}))
	at := strings.TrimSuffix(strings.TrimPrefix(u.URL, "http://"), "/")
	folder, module := trial.PDBFolder(t, fixture.SourceLinkedPDB(at))
	s := open(t, t.TempDir(), "sentry: {allow_request_sources: true}\nnetwork: {connect_to_reserved_ips: true}\n"+
		"sources:\n- {id: folder, type: filesystem, path: '"+folder+"'}\n- {id: secret, type: http, url: '"+u.URL+"', headers: {Authorization: "+trial.Canary+"7}, filters: {path_patterns: [none]}}\n")
	for _, named := range namedSources(at) {
		before := u.Count("")
		if r := s.symbolicate(t, "", trial.Kettle, `,"sources":[`+named+`]`); r.module().Status != "missing" || u.Count("") == before {
			t.Errorf("%s: %d requests, %s", named, u.Count("")-before, r.Text)
		}
	}
	before := u.Count("")
	if r := s.symbolicate(t, "", module, scraping); r.frame() != "symbolicated" || u.Count("") == before {
		t.Errorf("a link: %d requests, %s", u.Count("")-before, r.Text)
	}
	if signed.Load() == 0 {
		t.Error("the credentials of requests are not used")
	}
	for _, provider := range []string{
		`"type":"s3","aws_credentials_provider":"container"`, `"type":"s3","aws_credentials_provider":"instance"`,
		`"type":"s3","aws_credentials_provider":"web_identity"`, `"type":"s3","aws_credentials_provider":"ambient"`,
		`"type":"gcs","gcs_credentials_provider":"ambient"`,
	} {
		before := u.Count("")
		r := s.symbolicate(t, "", trial.Kettle, `,"sources":[{"id":"x","bucket":"b",`+provider+`}]`)
		if r.Code != http.StatusForbidden || u.Count("") != before || trial.Leaks(r.Text) != nil {
			t.Errorf("%s: %d %s", provider, r.Code, r.Text)
		}
	}
	for _, bucket := range []string{"../b", "bucket with space/..", "a/b?c#d"} {
		for _, kind := range []string{"s3", "gcs"} {
			r := s.symbolicate(t, "", trial.Kettle, `,"sources":[{"id":"x","type":"`+kind+`","bucket":"`+bucket+`"}]`)
			if r.Code != http.StatusBadRequest || !strings.Contains(r.Text, "name of a bucket") {
				t.Errorf("%s %s: %d %s", kind, bucket, r.Code, r.Text)
			}
		}
	}
}
