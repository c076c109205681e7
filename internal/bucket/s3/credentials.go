package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	early     = 5 * time.Minute // before they expire, credentials are renewed
	forever   = 100 * 365 * 24 * time.Hour
	maxAnswer = 64 << 10 // of an answer other than a blob
)

// credentials sign requests. Without an access key they do not.
type credentials struct{ access, secret, token string }

// all returns the texts that no output may show.
func (c credentials) all() []string { return []string{c.token, c.secret, c.access} }

// fetch gets credentials and the time at which they expire.
type fetch = func(ctx context.Context) (credentials, time.Time, error)

// opener makes a provider of the SDK, whose requests the client sends.
type opener = func(ctx context.Context, client *http.Client) (aws.CredentialsProvider, error)

// provider returns the function that fetches the credentials of the bucket.
func (b *Bucket) provider() (fetch, error) {
	if b.cfg.Provider == Static {
		c := credentials{b.cfg.AccessKey.Reveal(), b.cfg.SecretKey.Reveal(), b.cfg.SessionToken.Reveal()}
		return func(context.Context) (credentials, time.Time, error) { return c, b.deps.Now().Add(forever), nil }, nil
	}
	open := map[string]opener{Container: b.container, Instance: b.instance, WebIdentity: b.webIdentity, Ambient: b.ambient}[b.cfg.Provider]
	switch {
	case open == nil:
		return nil, fault.New(fault.Unsupported, b.place, "invalid provider of credentials %.40q", b.cfg.Provider)
	case b.deps.Env == nil:
		return nil, fault.New(fault.Denied, b.place, "the credentials of this machine are not for this bucket")
	}
	place := strings.ReplaceAll(b.cfg.Provider, "_", " ") + " credentials"
	return func(ctx context.Context) (credentials, time.Time, error) { return b.retrieve(ctx, place, open) }, nil
}

// retrieve gets credentials from a provider of the SDK.
func (b *Bucket) retrieve(ctx context.Context, place string, open opener) (credentials, time.Time, error) {
	s := &bucket.Sender{
		Exchange: bucket.Exchange{Transport: near{b.deps.Transport}, Place: place, Idle: b.deps.ReadTimeout},
		Context:  ctx, Refusal: refusal,
	}
	var c aws.Credentials
	p, err := open(ctx, &http.Client{Transport: s})
	if err == nil {
		c, err = p.Retrieve(ctx)
	}
	var process *processcreds.ProviderError
	switch {
	case s.Failed != nil:
		return credentials{}, time.Time{}, s.Failed
	case errors.As(err, &process): // it may quote the output
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "credential_process failed, or its output is invalid")
	case err != nil:
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "%s", bucket.Line(err.Error()))
	case c.AccessKeyID == "" || c.SecretAccessKey == "":
		return credentials{}, time.Time{}, fault.New(fault.Denied, place, "the answer has no credentials")
	}
	expires := b.deps.Now().Add(forever)
	if c.CanExpire {
		expires = c.Expires
	}
	return credentials{c.AccessKeyID, c.SecretAccessKey, c.SessionToken}, expires, nil
}

// refusal describes an answer of a service for credentials, without the parts of the
// request that it repeats.
func refusal(req *http.Request, status int, body, answer []byte) string {
	a := read(answer)
	if a.Code == "" {
		return bucket.Status(status)
	}
	form, _ := url.ParseQuery(string(body)) // an invalid form has no values to hide
	return bucket.Line(bucket.Hide(a.Code+": "+a.Message, form.Get("WebIdentityToken"), req.Header.Get("Authorization")))
}

// once leaves further tries to the Exchange.
func once() aws.Retryer { return aws.NopRetryer{} }

// The hosts that serve the credentials of containers without TLS.
const (
	ecsHost  = "169.254.170.2"
	eksHost  = "169.254.170.23"
	eksHost6 = "fd00:ec2::23"
)

// isLocal reports whether a host is this machine, or a service of it.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || host == eksHost6 || host == "fd00:ec2::254" || ip.IsLoopback() || ip.IsLinkLocalUnicast()
}

// near sends requests to this machine without a proxy, which would see the credentials.
type near struct{ far http.RoundTripper }

func (n near) RoundTrip(req *http.Request) (*http.Response, error) {
	if isLocal(req.URL.Hostname()) {
		return bucket.Direct().RoundTrip(req)
	}
	return n.far.RoundTrip(req)
}

// ambient finds credentials as AWS's own tools do: variables, profiles in files
// with all that they may say (SSO, roles to assume, processes, web identities),
// containers, the metadata service.
func (b *Bucket) ambient(ctx context.Context, client *http.Client) (aws.CredentialsProvider, error) {
	options := []func(*config.LoadOptions) error{config.WithRetryer(once), config.WithDefaultRegion(b.cfg.Region)}
	if b.deps.Env("AWS_CA_BUNDLE") == "" { // which only the SDK's own client can have
		options = append(options, config.WithHTTPClient(client))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	return c.Credentials, err
}

// container uses the agent of the container.
func (b *Bucket) container(_ context.Context, client *http.Client) (aws.CredentialsProvider, error) {
	const full, relative = "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
	text := b.deps.Env(full)
	if path := b.deps.Env(relative); path != "" {
		text = "http://" + ecsHost + path
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("neither " + relative + " nor " + full + " is set")
	case err != nil || !isTrusted(u):
		return nil, errors.New("invalid " + full + ": must be an https address, or one of this machine")
	}
	token := b.deps.Env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := b.deps.Env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		text, err := tokenFile(file).GetIdentityToken()
		if err != nil {
			return nil, err
		}
		token = string(text)
	}
	return endpointcreds.New(text, func(o *endpointcreds.Options) {
		o.HTTPClient, o.Retryer, o.AuthorizationToken = client, once(), token
	}), nil
}

// isTrusted reports whether the agent of a container may be at an address.
func isTrusted(u *url.URL) bool {
	host := u.Hostname()
	local := host == ecsHost || host == eksHost || host == eksHost6 || host == "localhost" || net.ParseIP(host).IsLoopback()
	return u.Scheme == "https" && host != "" || u.Scheme == "http" && local
}

// instance uses the metadata service of the machine, version 2.
func (b *Bucket) instance(_ context.Context, client *http.Client) (aws.CredentialsProvider, error) {
	return ec2rolecreds.New(func(o *ec2rolecreds.Options) {
		o.Client = imds.New(imds.Options{
			Endpoint: b.deps.Env("AWS_EC2_METADATA_SERVICE_ENDPOINT"), HTTPClient: client, Retryer: once(), EnableFallback: aws.FalseTernary,
		})
	}), nil
}

// webIdentity trades the token in a file, which others renew, for credentials.
func (b *Bucket) webIdentity(_ context.Context, client *http.Client) (aws.CredentialsProvider, error) {
	role, file := b.deps.Env("AWS_ROLE_ARN"), b.deps.Env("AWS_WEB_IDENTITY_TOKEN_FILE")
	if role == "" || file == "" {
		return nil, errors.New("AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE are not both set")
	}
	o := sts.Options{Region: b.cfg.Region, HTTPClient: client, Retryer: once()}
	if at := b.deps.Env("AWS_ENDPOINT_URL_STS"); at != "" {
		o.BaseEndpoint = &at
	}
	return stscreds.NewWebIdentityRoleProvider(sts.New(o), role, tokenFile(file), func(o *stscreds.WebIdentityRoleOptions) {
		o.RoleSessionName = cmp.Or(b.deps.Env("AWS_ROLE_SESSION_NAME"), "symbolon")
	}), nil
}

// tokenFile is the name of a file with a token.
type tokenFile string

// GetIdentityToken reads the token.
func (f tokenFile) GetIdentityToken() ([]byte, error) {
	text, err := os.ReadFile(string(f))
	return bytes.TrimSpace(text), err
}
