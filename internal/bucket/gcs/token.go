package gcs

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	tokenURL  = "https://www.googleapis.com/oauth2/v4/token"
	scopes    = "https://www.googleapis.com/auth/devstorage."
	lifetime  = 58 * time.Minute           // of a token with us
	asserted  = lifetime + 30*time.Second  // that we ask for
	early     = 3 * time.Minute            // that a token is renewed before that
	forever   = 100 * 365 * 24 * time.Hour // of what is never renewed
	maxAnswer = 64 << 10                   // of an answer that is no blob, or a file with a key
	jwtHeader = `{"alg":"RS256","typ":"JWT"}`
)

// fetch gets a token that is good until some time.
type fetch = func(ctx context.Context) (string, time.Time, error)

// account is a service account.
type account struct {
	email, key, at string
}

// provider is where the tokens of the bucket come from.
func (b *Bucket) provider() (fetch, error) {
	switch {
	case b.cfg.Provider == Ambient && b.deps.Env == nil:
		return nil, fault.New(fault.Denied, b.place, "the credentials of this machine are not for this bucket")
	case b.cfg.Provider == Ambient:
		return b.ambient, nil
	case b.cfg.Provider != Static:
		return nil, fault.New(fault.Unsupported, b.place, "no credentials come from %.40q", b.cfg.Provider)
	case !b.cfg.PrivateKey.IsZero():
		own := account{b.cfg.ClientEmail, b.cfg.PrivateKey.Reveal(), b.cfg.TokenURL}
		return func(ctx context.Context) (string, time.Time, error) { return b.trade(ctx, own) }, nil
	}
	token := b.cfg.BearerToken.Reveal()
	return func(context.Context) (string, time.Time, error) {
		if strings.ContainsAny(token, "\r\n") {
			return "", time.Time{}, fault.New(fault.Denied, b.place, "the bearer token has a line break")
		}
		return token, b.deps.Now().Add(forever), nil
	}, nil
}

// renews tells whether there may be another token.
func (b *Bucket) renews() bool { return b.cfg.Provider != Static || !b.cfg.PrivateKey.IsZero() }

func (b *Bucket) scope() string {
	if b.cfg.Write {
		return scopes + "read_write"
	}
	return scopes + "read_only"
}

// ambient asks what the machine has: a service account in a file, else the
// metadata service.
func (b *Bucket) ambient(ctx context.Context) (string, time.Time, error) {
	name := b.deps.Env("GOOGLE_APPLICATION_CREDENTIALS")
	if name == "" {
		return b.metadata(ctx)
	}
	deny := func(format string, args ...any) (string, time.Time, error) {
		return "", time.Time{}, fault.New(fault.Denied, "GOOGLE_APPLICATION_CREDENTIALS", format, args...)
	}
	f, err := os.Open(name)
	if err != nil {
		return deny("%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxAnswer))
	if err != nil {
		return deny("%w", err)
	}
	var file struct {
		Type        string
		ClientEmail string `json:"client_email"`
		PrivateKey  string `json:"private_key"`
		TokenURI    string `json:"token_uri"`
	}
	switch {
	case json.Unmarshal(text, &file) != nil:
		return deny("the file is not the JSON of credentials")
	case file.Type != "service_account":
		return deny("credentials of type %.40q are not supported: there is service_account", file.Type)
	}
	return b.trade(ctx, account{file.ClientEmail, file.PrivateKey, cmp.Or(file.TokenURI, b.cfg.TokenURL)})
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
	return b.granted(place, body)
}

// granted reads a token out of an answer.
func (b *Bucket) granted(place string, body []byte) (string, time.Time, error) {
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.AccessToken == "" || answer.ExpiresIn <= 0 || strings.ContainsAny(answer.AccessToken, "\r\n") {
		return "", time.Time{}, fault.New(fault.Denied, place, "the answer has no token")
	}
	good := lifetime
	if answer.ExpiresIn < int64(lifetime/time.Second) {
		good = time.Duration(answer.ExpiresIn) * time.Second
	}
	return answer.AccessToken, b.deps.Now().Add(good), nil
}

// trade trades an assertion that the account has signed for a token.
func (b *Bucket) trade(ctx context.Context, own account) (string, time.Time, error) {
	const place = "token of the service account"
	assertion, err := own.assert(b.scope(), b.deps.Now())
	if err != nil {
		return "", time.Time{}, err
	}
	u, err := url.Parse(own.at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", time.Time{}, fault.New(fault.Denied, place, "the address of the token service is none")
	}
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	e := bucket.Exchange{
		Transport: b.deps.Transport, Place: place, Body: []byte(form.Encode()), Idle: b.deps.ReadTimeout,
		Request: func(context.Context) (*http.Request, error) {
			header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
			return &http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: header}, nil
		},
		Verdict: func(resp *http.Response, body []byte) (*fault.Error, bool) {
			if bucket.Busy(resp.StatusCode) {
				return fault.New(fault.Transport, place, "%s", bucket.Status(resp.StatusCode)), true
			}
			var answer struct {
				Error       string
				Description string `json:"error_description"`
			}
			detail := bucket.Status(resp.StatusCode)
			if json.Unmarshal(body, &answer) == nil && answer.Error != "" {
				detail += ": " + bucket.Line(bucket.Hide(strings.TrimSuffix(answer.Error+": "+answer.Description, ": "), assertion))
			}
			return fault.New(fault.Denied, place, "%s", detail), false
		},
	}
	body, err := e.Bytes(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	return b.granted(place, body)
}

// assert signs that the account asks for a token.
func (a account) assert(scope string, now time.Time) (string, error) {
	key, err := a.parse()
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": a.email, "scope": scope, "aud": a.at, "iat": now.Unix(), "exp": now.Add(asserted).Unix(),
	})
	if err != nil {
		return "", fault.New(fault.Internal, "service account", "%w", err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(jwtHeader)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fault.New(fault.Denied, "private key", "it cannot sign") // the cause might tell of the key
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// parse reads the private key. Its line breaks may be written as \n.
func (a account) parse() (*rsa.PrivateKey, error) {
	deny := func(why string) (*rsa.PrivateKey, error) {
		return nil, fault.New(fault.Denied, "private key", "%s", why)
	}
	block, _ := pem.Decode([]byte(strings.ReplaceAll(a.key, `\n`, "\n")))
	if block == nil {
		return deny("it is not in PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return deny("it cannot be read")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return deny("it is not an RSA key")
	}
	return key, nil
}
