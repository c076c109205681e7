package gcs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/bucket/gcstest"
	"symbolon/internal/fault"
)

// config is a folder in the bucket, with the service account.
func config(s *gcstest.Server, prefix string) gcs.Config {
	return gcs.Config{
		Bucket: gcstest.Bucket, Prefix: prefix, Endpoint: s.URL, TokenURL: s.TokenURL, Write: true,
		ClientEmail: gcstest.Email, PrivateKey: bin.NewSecret(s.Key),
	}
}

func open(t testing.TB, cfg gcs.Config, env map[string]string) *gcs.Bucket {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	deps := gcs.Deps{Transport: transport, Now: time.Now}
	if env != nil {
		deps.Env = func(name string) string { return env[name] }
	}
	b, err := gcs.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, b *gcs.Bucket, key, body string) {
	t.Helper()
	if _, err := b.Put(t.Context(), key, strings.NewReader(body), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, b *gcs.Bucket) (string, error) {
	t.Helper()
	r, _, err := b.Get(t.Context(), "k", 0, -1)
	if err != nil {
		return "", err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	return string(got), err
}

func TestBucket(t *testing.T) {
	s := gcstest.Run(t)
	number := 0
	buckettest.Run(t, func(t *testing.T) bucket.Bucket {
		number++
		return open(t, config(s, fmt.Sprint("/test ", number, "/")), nil)
	})
}

func TestOneTokenServesAll(t *testing.T) {
	s := gcstest.Run(t)
	b := open(t, config(s, ""), nil)
	put(t, b, "k", "blob")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := read(t, b); got != "blob" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := s.Granted(); n != 1 {
		t.Errorf("%d tokens", n)
	}
	s.Revoke()
	if got, err := read(t, b); got != "blob" || err != nil || s.Granted() != 2 {
		t.Errorf("withdrawn: %q, %v, %d tokens", got, err, s.Granted())
	}
}

func TestEveryWayToHaveCredentials(t *testing.T) {
	s := gcstest.Run(t)
	put(t, open(t, config(s, ""), nil), "k", "blob")
	file, err := json.Marshal(map[string]string{"type": "service_account", "client_email": gcstest.Email, "private_key": s.Key, "token_uri": s.TokenURL})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	base := gcs.Config{Bucket: gcstest.Bucket, Endpoint: s.URL, TokenURL: s.TokenURL}
	for what, c := range map[string]struct {
		change func(*gcs.Config)
		env    map[string]string
	}{
		"account": {func(c *gcs.Config) { c.ClientEmail, c.PrivateKey = gcstest.Email, bin.NewSecret(s.Key) }, nil},
		"account with written line breaks": {func(c *gcs.Config) {
			c.ClientEmail, c.PrivateKey = gcstest.Email, bin.NewSecret(strings.ReplaceAll(s.Key, "\n", `\n`))
		}, nil},
		"account in PKCS 1": {func(c *gcs.Config) {
			block, _ := pem.Decode([]byte(s.Key))
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			der := x509.MarshalPKCS1PrivateKey(key.(*rsa.PrivateKey))
			c.ClientEmail, c.PrivateKey = gcstest.Email, bin.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der})))
		}, nil},
		"bearer":   {func(c *gcs.Config) { c.BearerToken = bin.NewSecret(s.Grant("read_only")) }, nil},
		"file":     {func(c *gcs.Config) { c.Provider = gcs.Ambient }, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": name}},
		"metadata": {func(c *gcs.Config) { c.Provider = gcs.Ambient }, map[string]string{"GCE_METADATA_HOST": strings.TrimPrefix(s.URL, "http://")}},
	} {
		cfg := base
		c.change(&cfg)
		b := open(t, cfg, c.env)
		if got, err := read(t, b); got != "blob" || err != nil {
			t.Errorf("%s: %q, %v", what, got, err)
		}
		_, err := b.Put(t.Context(), "k", strings.NewReader("other"), bucket.Attrs{IfAbsent: true})
		if what != "metadata" && fault.KindOf(err) != fault.Denied {
			t.Errorf("%s: a token that may write: %v", what, err)
		}
	}
	if _, err := read(t, open(t, base, nil)); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "401 Unauthorized: Anonymous caller") {
		t.Errorf("without credentials: %v", err)
	}
	s.Open()
	if got, err := read(t, open(t, base, nil)); got != "blob" || err != nil {
		t.Errorf("a bucket for everybody: %q, %v", got, err)
	}
}

// TestCredentialFilesOfGoogleWork uses the files of logins and of workloads
// elsewhere, the first where gcloud puts it.
func TestCredentialFilesOfGoogleWork(t *testing.T) {
	s := gcstest.Run(t)
	put(t, open(t, config(s, ""), nil), "k", "blob")
	home := t.TempDir()
	save := func(name string, content any) string {
		t.Helper()
		text, err := json.Marshal(content)
		name = filepath.Join(home, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o700)
		}
		if err == nil {
			err = os.WriteFile(name, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	user := map[string]any{"type": "authorized_user", "client_id": "id", "client_secret": "secret", "refresh_token": gcstest.RefreshToken, "token_uri": s.TokenURL}
	save(".config/gcloud/application_default_credentials.json", user)
	subject := filepath.Join(home, "subject")
	if err := os.WriteFile(subject, []byte(gcstest.SubjectToken), 0o600); err != nil {
		t.Fatal(err)
	}
	workload := save("workload.json", map[string]any{
		"type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
		"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": s.TokenURL,
		"credential_source": map[string]string{"file": subject},
	})
	for name, env := range map[string]map[string]string{
		"gcloud login":        {"HOME": home},
		"user named":          {"GOOGLE_APPLICATION_CREDENTIALS": save("user.json", user)},
		"workload federation": {"HOME": home, "GOOGLE_APPLICATION_CREDENTIALS": workload},
	} {
		cfg := gcs.Config{Bucket: gcstest.Bucket, Endpoint: s.URL, Provider: gcs.Ambient}
		if got, err := read(t, open(t, cfg, env)); got != "blob" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestBadCredentialsAreDeniedAndSaySo(t *testing.T) {
	const canary = "CANARY"
	s := gcstest.Run(t)
	other := gcstest.Run(t)
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(elliptical)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := func(name, text string) map[string]string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": name}
	}
	block := func(der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	for _, key := range []string{block([]byte(canary)), block(der)} {
		cfg := gcs.Config{Bucket: gcstest.Bucket, Endpoint: s.URL, TokenURL: s.TokenURL, ClientEmail: gcstest.Email, PrivateKey: bin.NewSecret(key)}
		if _, err := read(t, open(t, cfg, nil)); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "must have an RSA key") {
			t.Errorf("a key that is not an RSA key: %v", err)
		}
	}
	for want, c := range map[string]struct {
		key, bearer, email string
		env                map[string]string
	}{
		"service account: denied: no token: must have an RSA key in PEM": {key: canary},

		"denied: 400 Bad Request: invalid_grant: Invalid JWT Signatu": {key: other.Key},
		"denied: 400 Bad Request: invalid_grant: Invalid issuer.":     {key: s.Key, email: "another"},
		"denied: 401 Unauthorized: Invalid Credentials":               {bearer: canary},
		"the bearer token has a line break":                           {bearer: canary + "\n"},
		"must be the JSON of credentials":                             {env: file("a", canary)},
		`credentials of type "magic" cannot be used`:                  {env: file("b", `{"type":"magic","secret":"`+canary+`"}`)},
		"denied: 400 Bad Request: invalid_grant: No assertion.":       {env: file("e", `{"type":"authorized_user","refresh_token":"`+canary+`","client_id":"x","token_uri":"`+s.TokenURL+`"}`)},
		"no such file": {env: map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(folder, "none")}},
		"an http or https address of the token service":                                 {env: file("c", `{"type":"service_account","private_key":`+quote(s.Key)+`,"token_uri":"ftp://x"}`)},
		"GOOGLE_APPLICATION_CREDENTIALS: denied: no token: must have an RSA key in PEM": {env: file("d", `{"type":"service_account","private_key":"`+canary+`"}`)},
	} {
		cfg := gcs.Config{
			Bucket: gcstest.Bucket, Endpoint: s.URL, TokenURL: s.TokenURL, ClientEmail: gcstest.Email,
			PrivateKey: bin.NewSecret(c.key), BearerToken: bin.NewSecret(c.bearer),
		}
		if c.email != "" {
			cfg.ClientEmail = c.email
		}
		if c.env != nil {
			cfg.Provider = gcs.Ambient
		}
		_, err := read(t, open(t, cfg, c.env))
		text := fmt.Sprintf("%v %+v %#v %+v", err, err, err, cfg)
		if fault.KindOf(err) != fault.Denied || !strings.Contains(text, want) || strings.Contains(text, canary) || strings.Contains(text, "BEGIN") {
			t.Errorf("%s, want %q", text, want)
		}
	}
}

func quote(text string) string {
	b, _ := json.Marshal(text) // a text is always JSON
	return string(b)
}

func TestUnusableConfigurationIsRefused(t *testing.T) {
	for _, c := range []struct {
		cfg  gcs.Config
		kind fault.Kind
	}{
		{gcs.Config{}, fault.Malformed},
		{gcs.Config{Bucket: "a/b"}, fault.Malformed},
		{gcs.Config{Bucket: "b", Endpoint: "storage"}, fault.Malformed},
		{gcs.Config{Bucket: "b", Endpoint: "http://u:CANARY@h"}, fault.Malformed},
		{gcs.Config{Bucket: "b", Provider: "magic"}, fault.Unsupported},
		{gcs.Config{Bucket: "b", Provider: gcs.Ambient}, fault.Denied},
	} {
		if _, err := gcs.New(c.cfg, gcs.Deps{Now: time.Now}); fault.KindOf(err) != c.kind || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%+v: %v, want %v", c.cfg, err, c.kind)
		}
	}
}

func TestStatusOfAFailure(t *testing.T) {
	for status, want := range map[int]struct {
		kind  fault.Kind
		tries int
	}{
		403: {fault.Denied, 1}, 404: {fault.NotFound, 1}, 408: {fault.Timeout, 3}, 429: {fault.Transport, 3},
		500: {fault.Transport, 3}, 503: {fault.Transport, 3}, 302: {fault.Transport, 1}, 401: {fault.Denied, 1},
	} {
		tries := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tries++
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"of %s"}}`, r.Header.Get("Authorization"))
		}))
		b := open(t, gcs.Config{Bucket: "b", Endpoint: server.URL, BearerToken: bin.NewSecret("CANARY")}, nil)
		_, err := read(t, b)
		server.Close()
		if fault.KindOf(err) != want.kind || tries != want.tries || !strings.Contains(err.Error(), ": of Bearer [redacted]") || !strings.HasPrefix(err.Error(), "gs://b/k: ") {
			t.Errorf("%d: %v after %d tries, want %v after %d", status, err, tries, want.kind, want.tries)
		}
		if f := fault.Of(err); (f.Kind == fault.Timeout) != (f.Status == status) {
			t.Errorf("%d: %v has the status %d", status, f, f.Status)
		}
	}
}
