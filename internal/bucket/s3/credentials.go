package s3

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	early     = 5 * time.Minute // that credentials are renewed before they expire
	maxSecret = 64 << 10        // of a file with a token
	forever   = 100 * 365 * 24 * time.Hour
)

// credentials sign requests. Without an access key they do not.
type credentials struct{ access, secret, token string }

// all are the texts that no output may show.
func (c credentials) all() []string { return []string{c.token, c.secret, c.access} }

// fetch gets credentials that are good until some time.
type fetch = func(ctx context.Context) (credentials, time.Time, error)

// provider is where the credentials of the bucket come from.
func (b *Bucket) provider() (fetch, error) {
	ambient := map[string]fetch{Container: b.container, Instance: b.instance, WebIdentity: b.webIdentity}[b.cfg.Provider]
	switch {
	case b.cfg.Provider == Static:
		c := credentials{b.cfg.AccessKey.Reveal(), b.cfg.SecretKey.Reveal(), b.cfg.SessionToken.Reveal()}
		return func(context.Context) (credentials, time.Time, error) { return c, b.deps.Now().Add(forever), nil }, nil
	case ambient == nil:
		return nil, fault.New(fault.Unsupported, b.place, "no credentials come from %.40q", b.cfg.Provider)
	case b.deps.Env == nil:
		return nil, fault.New(fault.Denied, b.place, "the credentials of this machine are not for this bucket")
	}
	return ambient, nil
}

// given is what services that hand out credentials answer.
type given struct {
	Code            string // of the metadata service
	AccessKeyID     string `json:"AccessKeyId" xml:"AccessKeyId"`
	SecretAccessKey string
	Token           string
	SessionToken    string // of the token service
	Expiration      time.Time
}

func (g given) credentials(place string) (credentials, time.Time, error) {
	if g.AccessKeyID == "" || g.SecretAccessKey == "" || g.Expiration.IsZero() || g.Code != "" && g.Code != "Success" {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "the answer has no credentials")
	}
	return credentials{g.AccessKeyID, g.SecretAccessKey, g.Token + g.SessionToken}, g.Expiration, nil
}

// The hosts that serve the credentials of containers without TLS.
const (
	ecsHost  = "169.254.170.2"
	eksHost  = "169.254.170.23"
	eksHost6 = "fd00:ec2::23"
)

// container asks the agent of the container.
func (b *Bucket) container(ctx context.Context) (credentials, time.Time, error) {
	const full, relative = "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
	stop := func(kind fault.Kind, format string, args ...any) (credentials, time.Time, error) {
		return credentials{}, time.Time{}, fault.New(kind, "container credentials", format, args...)
	}
	text := b.deps.Env(full)
	if path := b.deps.Env(relative); path != "" {
		text = "http://" + ecsHost + path
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return stop(fault.Denied, "neither %s nor %s is set", relative, full)
	case err != nil || !trusted(u):
		return stop(fault.Denied, "%s is neither an https address nor one of this machine", full)
	}
	header := http.Header{}
	token := b.deps.Env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := b.deps.Env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		if token, err = secretFile(file); err != nil {
			return credentials{}, time.Time{}, err
		}
	}
	if strings.ContainsAny(token, "\r\n") {
		return stop(fault.Denied, "the authorization token has a line break")
	}
	if token != "" {
		header.Set("Authorization", token)
	}
	body, err := b.local(ctx, http.MethodGet, u, header)
	if err != nil {
		return credentials{}, time.Time{}, err
	}
	return fromJSON("container credentials", body)
}

// trusted tells whether credentials may be asked for at an address.
func trusted(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	local := host == ecsHost || host == eksHost || host == eksHost6 || host == "localhost" || ip.IsLoopback()
	return u.Scheme == "https" && host != "" || u.Scheme == "http" && local
}

// instance asks the metadata service of the machine, version 2.
func (b *Bucket) instance(ctx context.Context) (credentials, time.Time, error) {
	const place, roles = "instance credentials", "/latest/meta-data/iam/security-credentials/"
	text := b.deps.Env("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	if text == "" {
		text = "http://169.254.169.254"
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "AWS_EC2_METADATA_SERVICE_ENDPOINT is no address")
	}
	token, err := b.local(ctx, http.MethodPut, below(at, "/latest/api/token"), http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"300"}})
	if err != nil {
		return credentials{}, time.Time{}, err
	}
	header := http.Header{"X-Aws-Ec2-Metadata-Token": {strings.TrimSpace(string(token))}}
	names, err := b.local(ctx, http.MethodGet, below(at, roles), header)
	if err != nil {
		return credentials{}, time.Time{}, err
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(names)), "\n")
	if name == "" {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "this machine has no role")
	}
	body, err := b.local(ctx, http.MethodGet, below(at, roles+name), header)
	if err != nil {
		return credentials{}, time.Time{}, err
	}
	return fromJSON(place, body)
}

// below is the address of a path at a service.
func below(at *url.URL, path string) *url.URL {
	return &url.URL{Scheme: at.Scheme, Host: at.Host, Path: strings.TrimRight(at.Path, "/") + path}
}

// webIdentity trades the token of a file, which others renew, for credentials.
func (b *Bucket) webIdentity(ctx context.Context) (credentials, time.Time, error) {
	const place = "web identity credentials"
	role, file, session := b.deps.Env("AWS_ROLE_ARN"), b.deps.Env("AWS_WEB_IDENTITY_TOKEN_FILE"), b.deps.Env("AWS_ROLE_SESSION_NAME")
	if role == "" || file == "" {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are not both set")
	}
	if session == "" {
		session = "symbolon"
	}
	token, err := secretFile(file)
	if err != nil {
		return credentials{}, time.Time{}, err
	}
	at := b.deps.Env("AWS_ENDPOINT_URL_STS")
	if at == "" {
		at = "https://sts." + b.cfg.Region + ".amazonaws.com"
		if strings.HasPrefix(b.cfg.Region, "cn-") {
			at += ".cn"
		}
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "AWS_ENDPOINT_URL_STS is no address")
	}
	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"},
		"RoleArn": {role}, "RoleSessionName": {session}, "WebIdentityToken": {token},
	}
	e := bucket.Exchange{
		Transport: b.deps.Transport, Place: place, Body: []byte(form.Encode()), Idle: b.deps.ReadTimeout,
		Request: func(context.Context) (*http.Request, error) {
			header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
			return &http.Request{Method: http.MethodPost, URL: below(u, "/"), Host: u.Host, Header: header}, nil
		},
		Verdict: func(resp *http.Response, body []byte) (*fault.Error, bool) {
			a, detail := read(body), bucket.Status(resp.StatusCode)
			if a.Code != "" {
				detail = bucket.Line(bucket.Hide(a.Code+": "+a.Message, token))
			}
			if busy := bucket.Busy(resp.StatusCode); busy {
				return fault.New(fault.Transport, place, "%s", detail), true
			}
			return fault.New(fault.Denied, place, "%s", detail), false
		},
	}
	body, err := e.Bytes(ctx)
	if err != nil {
		return credentials{}, time.Time{}, err
	}
	var got struct {
		Credentials given `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if xml.Unmarshal(body, &got) != nil {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "the answer cannot be read")
	}
	return got.Credentials.credentials(place)
}

// local asks a service of this machine: not through a proxy, which would see
// the credentials.
func (b *Bucket) local(ctx context.Context, method string, u *url.URL, header http.Header) ([]byte, error) {
	return bucket.Local(ctx, u.Scheme+"://"+u.Host, func(context.Context) (*http.Request, error) {
		return &http.Request{Method: method, URL: u, Host: u.Host, Header: header}, nil
	})
}

func fromJSON(place string, body []byte) (credentials, time.Time, error) {
	var g given
	if json.Unmarshal(body, &g) != nil {
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "the answer cannot be read")
	}
	return g.credentials(place)
}

// secretFile is the text in a file that holds a token.
func secretFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fault.New(fault.Denied, "token file", "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err != nil {
		return "", fault.New(fault.Denied, "token file", "%w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
