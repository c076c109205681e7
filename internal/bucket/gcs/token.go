package gcs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jwt"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	tokenURL  = "https://www.googleapis.com/oauth2/v4/token"
	scopes    = "https://www.googleapis.com/auth/devstorage."
	lifetime  = 58 * time.Minute           // of a token, at most
	early     = 3 * time.Minute            // before its end, a token is renewed
	forever   = 100 * 365 * 24 * time.Hour // of a token that is not renewed
	maxAnswer = 64 << 10                   // of an answer other than a blob, or a file with a key
)

// fetch gets a token and the time at which it expires.
type fetch = func(ctx context.Context) (string, time.Time, error)

// provider returns the function that fetches the tokens of the bucket.
func (b *Bucket) provider() (fetch, error) {
	switch {
	case b.cfg.Provider == Ambient && b.deps.Env == nil:
		return nil, fault.New(fault.Denied, b.place, "the credentials of this machine are not for this bucket")
	case b.cfg.Provider == Ambient:
		return b.ambient, nil
	case b.cfg.Provider != Static:
		return nil, fault.New(fault.Unsupported, b.place, "invalid provider of credentials %.40q", b.cfg.Provider)
	case !b.cfg.PrivateKey.IsZero():
		return b.account, nil
	}
	token := b.cfg.BearerToken.Reveal()
	return func(context.Context) (string, time.Time, error) {
		if strings.ContainsAny(token, "\r\n") {
			return "", time.Time{}, fault.New(fault.Denied, b.place, "the bearer token has a line break")
		}
		return token, b.deps.Now().Add(forever), nil
	}, nil
}

// renews reports whether a token that is refused may be replaced by another.
func (b *Bucket) renews() bool { return b.cfg.Provider != Static || !b.cfg.PrivateKey.IsZero() }

func (b *Bucket) scope() string {
	if b.cfg.Write {
		return scopes + "read_write"
	}
	return scopes + "read_only"
}

// account trades an assertion that is signed with the configured key for a
// token. Line breaks in the key may be written as \n.
func (b *Bucket) account(ctx context.Context) (string, time.Time, error) {
	key := strings.ReplaceAll(b.cfg.PrivateKey.Reveal(), `\n`, "\n")
	c := jwt.Config{Email: b.cfg.ClientEmail, PrivateKey: []byte(key), Scopes: []string{b.scope()}, TokenURL: b.cfg.TokenURL}
	return b.trade(ctx, "service account", func(ctx context.Context) (oauth2.TokenSource, error) { return c.TokenSource(ctx), nil })
}

// ambient uses the credentials of the machine, in the order of Google's tools: the file
// that the environment names, a login with gcloud, the metadata service.
func (b *Bucket) ambient(ctx context.Context) (string, time.Time, error) {
	const variable, login = "GOOGLE_APPLICATION_CREDENTIALS", "gcloud/application_default_credentials.json"
	if name := b.deps.Env(variable); name != "" {
		return b.file(ctx, variable, name)
	}
	folder := filepath.Join(b.deps.Env("HOME"), ".config")
	if runtime.GOOS == "windows" {
		folder = b.deps.Env("APPDATA")
	}
	if filepath.IsAbs(folder) {
		token, until, err := b.file(ctx, "gcloud login", filepath.Join(folder, login))
		if !errors.Is(err, fs.ErrNotExist) {
			return token, until, err
		}
	}
	return b.metadata(ctx)
}

// file uses the credentials in a file, which is read each time, as it may be
// replaced.
func (b *Bucket) file(ctx context.Context, place, name string) (string, time.Time, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", time.Time{}, fault.New(fault.Denied, place, "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxAnswer))
	if err != nil {
		return "", time.Time{}, fault.New(fault.Denied, place, "%w", err)
	}
	var head struct{ Type google.CredentialsType }
	if json.Unmarshal(text, &head) != nil {
		return "", time.Time{}, fault.New(fault.Denied, place, "invalid file: must be the JSON of credentials")
	}
	return b.trade(ctx, place, func(ctx context.Context) (oauth2.TokenSource, error) {
		params := google.CredentialsParams{Scopes: []string{b.scope()}}
		c, err := google.CredentialsFromJSONWithTypeAndParams(ctx, text, head.Type, params)
		if err != nil {
			return nil, fault.New(fault.Denied, place, "credentials of type %.40q cannot be used", head.Type)
		}
		return c.TokenSource, nil
	})
}

// metadata asks the metadata service of the machine.
func (b *Bucket) metadata(ctx context.Context) (string, time.Time, error) {
	const place = "metadata service"
	u := &url.URL{
		Scheme: "http", Host: cmp.Or(b.deps.Env("GCE_METADATA_HOST"), "metadata.google.internal"),
		Path: "/computeMetadata/v1/instance/service-accounts/default/token",
	}
	body, err := bucket.Local(ctx, place, func(context.Context) (*http.Request, error) {
		return &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{"Metadata-Flavor": {"Google"}}}, nil
	})
	if err != nil {
		return "", time.Time{}, err
	}
	var token oauth2.Token
	if json.Unmarshal(body, &token) == nil {
		token.Expiry = time.Now().Add(time.Duration(token.ExpiresIn) * time.Second)
	}
	return b.granted(place, &token)
}

// granted checks a token.
func (b *Bucket) granted(place string, token *oauth2.Token) (string, time.Time, error) {
	good := min(time.Until(token.Expiry), lifetime)
	if token.AccessToken == "" || good <= 0 || strings.ContainsAny(token.AccessToken, "\r\n") {
		return "", time.Time{}, fault.New(fault.Denied, place, "the answer has no token")
	}
	return token.AccessToken, b.deps.Now().Add(good), nil
}

// trade gets a token from a source, whose requests go through the connections
// of the bucket.
func (b *Bucket) trade(ctx context.Context, place string, open func(context.Context) (oauth2.TokenSource, error)) (string, time.Time, error) {
	s := &bucket.Sender{Exchange: bucket.Exchange{Transport: b.deps.Transport, Place: place, Idle: b.deps.ReadTimeout}, Context: ctx, Refusal: detail}
	source, err := open(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: s}))
	if err != nil {
		return "", time.Time{}, err
	}
	token, err := source.Token()
	switch {
	case err == nil:
		return b.granted(place, token)
	case s.Failed != nil:
		return "", time.Time{}, s.Failed
	}
	// The cause may quote the key or the answer.
	return "", time.Time{}, fault.New(fault.Denied, place, "no token: must have an RSA key in PEM, and an http or https address of the token service")
}

// detail describes a refusal, without the parts of the request that the answer repeats.
func detail(req *http.Request, status int, body, answer []byte) string {
	text := bucket.Status(status)
	var said struct {
		Error       string
		Description string `json:"error_description"`
	}
	if json.NewDecoder(bytes.NewReader(answer)).Decode(&said) != nil || said.Error == "" {
		return text
	}
	secrets := strings.Fields(req.Header.Get("Authorization"))
	if form, err := url.ParseQuery(string(body)); err == nil {
		for _, name := range [...]string{"assertion", "refresh_token", "client_secret", "subject_token"} {
			secrets = append(secrets, form.Get(name))
		}
	}
	return text + ": " + bucket.Line(bucket.Hide(strings.TrimSuffix(said.Error+": "+said.Description, ": "), secrets...))
}
