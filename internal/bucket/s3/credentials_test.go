package s3_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bucket/s3"
	"symbolon/internal/fault"
	"symbolon/internal/waittest"
)

// vault hands out credentials, a new set for each request, and is the store
// that takes the newest of them and those before it that are not revoked.
type vault struct {
	t       *testing.T
	server  *httptest.Server
	life    time.Duration
	given   atomic.Int64 // sets handed out
	revoked atomic.Int64 // sets up to this are not taken any more
	asked   atomic.Int64 // requests to the store
	broken  atomic.Bool
	gate    chan struct{} // credentials are handed out once it is closed; nil: at once
}

func newVault(t *testing.T, life time.Duration) *vault {
	v := &vault{t: t, life: life}
	v.server = fake(t, v.serve)
	return v
}

func (v *vault) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/"+bucketID+"/") {
		v.store(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	path := r.Method + " " + r.URL.Path
	switch {
	case v.broken.Load():
		w.WriteHeader(403)
	case path == "PUT /latest/api/token" && r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") != "":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
		io.WriteString(w, "session-of-metadata")
	case path == "GET /latest/meta-data/iam/security-credentials/" && r.Header.Get("X-Aws-Ec2-Metadata-Token") == "session-of-metadata":
		io.WriteString(w, "the role\nanother")
	case path == "GET /latest/meta-data/iam/security-credentials/the role" && r.Header.Get("X-Aws-Ec2-Metadata-Token") == "session-of-metadata",
		path == "GET /v2/credentials/id" && r.Header.Get("Authorization") == "token of the file":
		n, until := v.next()
		fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"key-%d","SecretAccessKey":"s","Token":"token-%d","Expiration":%q}`, n, n, until)
	case path == "POST /" && string(body) == "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=symbolon&Version=2011-06-15&WebIdentityToken=token+of+the+file":
		n, until := v.next()
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>`+
			`<Credentials><AccessKeyId>key-%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>token-%d</SessionToken>`+
			`<Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, n, n, until)
	case path == "POST /" && strings.Contains(string(body), "Action=AssumeRole&") && strings.Contains(r.Header.Get("Authorization"), "Credential=key-of-profile/"):
		n, until := v.next()
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>`+
			`<Credentials><AccessKeyId>key-%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>token-%d</SessionToken>`+
			`<Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, n, n, until)
	default:
		v.t.Errorf("unexpected %s %q", path, body)
		w.WriteHeader(403)
	}
}

func (v *vault) next() (int64, string) {
	if v.gate != nil {
		<-v.gate
	}
	return v.given.Add(1), time.Now().Add(v.life).UTC().Format(time.RFC3339Nano)
}

func (v *vault) store(w http.ResponseWriter, r *http.Request) {
	v.asked.Add(1)
	var n int64
	fmt.Sscanf(r.Header.Get("X-Amz-Security-Token"), "token-%d", &n)
	if !strings.Contains(r.Header.Get("Authorization"), fmt.Sprintf("Credential=key-%d/", n)) || n == 0 || n > v.given.Load() {
		v.t.Errorf("signed with %q, %q", r.Header.Get("X-Amz-Security-Token"), r.Header.Get("Authorization"))
	}
	if n <= v.revoked.Load() {
		w.WriteHeader(400)
		io.WriteString(w, xmlError("ExpiredToken", "The provided token has expired."))
		return
	}
	io.WriteString(w, "blob")
}

// env is an environment in which all providers lead to v.
func (v *vault) env() map[string]string {
	file := filepath.Join(v.t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("token of the file\n"), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return map[string]string{
		"AWS_CONTAINER_CREDENTIALS_FULL_URI":     v.server.URL + "/v2/credentials/id",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file,
		"AWS_EC2_METADATA_SERVICE_ENDPOINT":      v.server.URL,
		"AWS_ENDPOINT_URL_STS":                   v.server.URL,
		"AWS_ROLE_ARN":                           "arn:aws:iam::1:role/r",
		"AWS_WEB_IDENTITY_TOKEN_FILE":            file,
	}
}

func (v *vault) open(provider string) *s3.Bucket {
	env := v.env()
	cfg := s3.Config{Bucket: bucketID, Endpoint: v.server.URL, Provider: provider}
	return openWith(v.t, cfg, s3.Deps{Env: func(name string) string { return env[name] }})
}

func read(ctx context.Context, b *s3.Bucket) error {
	r, _, err := b.Get(ctx, "k", 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "blob" {
		return fmt.Errorf("%q, %w", got, err)
	}
	return nil
}

var providers = []string{s3.Container, s3.Instance, s3.WebIdentity}

func TestCredentialsOfTheMachineAreFetchedOnce(t *testing.T) {
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			v := newVault(t, time.Hour)
			v.gate = make(chan struct{})
			b := v.open(provider)
			if v.given.Load() != 0 {
				t.Error("asked before they were needed")
			}
			var all, begun sync.WaitGroup
			begun.Add(20)
			for range 20 {
				all.Go(func() {
					begun.Done()
					if err := read(t.Context(), b); err != nil {
						t.Error(err)
					}
				})
			}
			begun.Wait()
			close(v.gate)
			all.Wait()
			if n := v.given.Load(); n != 1 {
				t.Errorf("fetched %d times", n)
			}
		})
	}
}

// TestAmbientCredentialsAreThoseOfTheTools uses what people have on laptops, in CI
// and in clusters.
func TestAmbientCredentialsAreThoseOfTheTools(t *testing.T) {
	const token = "aws_access_key_id = key-1\naws_secret_access_key = s\naws_session_token = token-1\n"
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	const role = "[profile keys]\naws_access_key_id = key-of-profile\naws_secret_access_key = s\n[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = keys\n"
	for name, c := range map[string]struct{ file, profile, variables, bundle string }{
		"profile":  {file: "[profile p]\n" + token, profile: "p"},
		"default":  {file: "[default]\n" + token},
		"process":  {file: `[default]` + "\n" + `credential_process = echo '{"Version":1,"AccessKeyId":"key-1","SecretAccessKey":"s","SessionToken":"token-1"}'` + "\n"},
		"role":     {file: role},
		"own CA":   {file: role, bundle: bundle},
		"token":    {variables: "AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE"},
		"agent":    {variables: "AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"},
		"metadata": {variables: "AWS_EC2_METADATA_SERVICE_ENDPOINT"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVault(t, time.Hour)
			v.given.Store(1)
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			env := v.env()
			if err := os.WriteFile(env["AWS_WEB_IDENTITY_TOKEN_FILE"], []byte("token of the file"), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, value := range env {
				if !strings.Contains(c.variables, name) {
					value = ""
				}
				t.Setenv(name, value)
			}
			t.Setenv("AWS_CONFIG_FILE", file)
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file+".none")
			t.Setenv("AWS_PROFILE", c.profile)
			t.Setenv("AWS_CA_BUNDLE", c.bundle)
			t.Setenv("AWS_ACCESS_KEY_ID", "")
			t.Setenv("AWS_ROLE_SESSION_NAME", "symbolon")
			t.Setenv("AWS_ENDPOINT_URL_STS", v.server.URL)
			b := openWith(t, s3.Config{Bucket: bucketID, Endpoint: v.server.URL, Provider: s3.Ambient}, s3.Deps{Env: os.Getenv})
			if err := read(t.Context(), b); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBrokenProcessTellsNoSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("[default]\ncredential_process = echo CANARY\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CONFIG_FILE", file)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file+".none")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_CA_BUNDLE", "")
	b := openWith(t, s3.Config{Bucket: bucketID, Endpoint: "http://127.0.0.1:1", Provider: s3.Ambient}, s3.Deps{Env: os.Getenv})
	if err := read(t.Context(), b); fault.KindOf(err) != fault.Denied || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "credential_process") {
		t.Error(err)
	}
}

func TestCredentialsAreRenewedBeforeTheyExpire(t *testing.T) {
	v := newVault(t, 4*time.Minute) // less than what they are renewed before
	b := v.open(s3.Container)
	for range 2 {
		if err := read(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if n := v.given.Load(); n != 1 {
		t.Errorf("fetched %d times at once", n)
	}
	var past atomic.Int64
	env := v.env()
	b = openWith(t, s3.Config{Bucket: bucketID, Endpoint: v.server.URL, Provider: s3.Container}, s3.Deps{
		Env: func(name string) string { return env[name] },
		Now: func() time.Time { return time.Now().Add(time.Duration(past.Load())) },
	})
	v.life = time.Hour
	if err := read(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	before := v.given.Load()
	past.Store(int64(57 * time.Minute))
	if err := read(t.Context(), b); err != nil { // without waiting for the new ones
		t.Fatal(err)
	}
	waittest.Until(t, "the credentials are renewed", func() bool { return v.given.Load() != before })
}

// Credentials that were revoked are replaced while requests run.
func TestRotationIsNotNoticed(t *testing.T) {
	v := newVault(t, time.Hour)
	b := v.open(s3.WebIdentity)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 25 {
				if worker == 0 && i%5 == 0 {
					v.revoked.Store(v.given.Load())
				}
				if err := read(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if v.given.Load() < 2 {
		t.Error("never rotated")
	}
}

func TestMissingCredentialsAreDenied(t *testing.T) {
	for _, provider := range providers {
		v := newVault(t, time.Hour)
		v.broken.Store(true)
		if err := read(t.Context(), v.open(provider)); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "403 Forbidden") {
			t.Errorf("%s: %v", provider, err)
		}
		empty := func(string) string { return "" }
		if provider == s3.Instance {
			continue // there it is the address of the metadata service itself
		}
		b := openWith(t, s3.Config{Bucket: bucketID, Endpoint: v.server.URL, Provider: provider}, s3.Deps{Env: empty})
		if err := read(t.Context(), b); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), " set") {
			t.Errorf("%s without an environment: %v", provider, err)
		}
		if v.asked.Load() > 0 {
			t.Errorf("%s: the store was asked without credentials", provider)
		}
	}
}

func TestContainerCredentialsComeFromHereOrOverTLS(t *testing.T) {
	for _, uri := range []string{"http://10.0.0.1/x", "http://evil.example/x", "ftp://localhost/", "http:///x", "https:///x", "http://169.254.170.2.evil.example/"} {
		env := map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": uri}
		cfg := s3.Config{Bucket: bucketID, Endpoint: "http://127.0.0.1:1", Provider: s3.Container}
		b := openWith(t, cfg, s3.Deps{Env: func(name string) string { return env[name] }})
		if err := read(t.Context(), b); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "must be an https address, or one of this machine") {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestWaiterMayLeaveCredentials(t *testing.T) {
	v := newVault(t, time.Hour)
	v.gate = make(chan struct{})
	b := v.open(s3.Container)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := read(ctx, b); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	close(v.gate)
	if err := read(t.Context(), b); err != nil {
		t.Error(err)
	}
	if n := v.given.Load(); n != 1 {
		t.Errorf("fetched %d times, want 1", n)
	}
}
