package source

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The sources of the credentials of an object store.
const (
	Static      = "static"
	Container   = "container"
	Instance    = "instance"
	WebIdentity = "web_identity"
	Ambient     = "ambient"
)

// Region is the name of a region of S3, optionally with the address of its store.
type Region []string

// UnmarshalJSON parses a text or a list of texts.
func (r *Region) UnmarshalJSON(data []byte) error {
	var name *string
	if json.Unmarshal(data, &name) == nil {
		if *r = nil; name != nil {
			*r = Region{*name}
		}
		return nil
	}
	var list []string
	if json.Unmarshal(data, &list) != nil {
		return errors.New("a region is a text or a list of two texts")
	}
	*r = list
	return nil
}

// UnmarshalJSON parses an object, or an empty array.
func (l *Layout) UnmarshalJSON(data []byte) error {
	type object Layout
	return unmarshalObject(data, (*object)(l))
}

// UnmarshalJSON parses an object, or an empty array.
func (f *Filters) UnmarshalJSON(data []byte) error {
	type object Filters
	return unmarshalObject(data, (*object)(f))
}

// unmarshalObject parses an object without required keys. PHP and Lua write [] for an
// empty one, which Symbolicator accepts.
func unmarshalObject(data []byte, into any) error {
	var list []struct{}
	if json.Unmarshal(data, &list) == nil && len(list) == 0 {
		return nil
	}
	return json.Unmarshal(data, into)
}

// Name returns the name of the region, or "".
func (r Region) Name() string {
	if len(r) == 0 {
		return ""
	}
	return r[0]
}

// Endpoint returns the address of the store, or "" for AWS.
func (r Region) Endpoint() string {
	if len(r) < 2 {
		return ""
	}
	return r[1]
}

// Place returns the place of the source for people, without secrets.
func (c Config) Place() string {
	switch c.Type {
	case HTTP, Sentry:
		return c.URL.String()
	case Filesystem:
		return c.Path
	}
	place := map[string]string{S3: "s3://", GCS: "gs://"}[c.Type] + strings.TrimSuffix(c.Bucket+"/"+c.Prefix, "/")
	if at := cmp.Or(c.Region.Endpoint(), c.URL.String()); at != "" {
		place += " at " + at
	}
	return place
}

// belongs returns the keys that depend on the type of a source, with their types.
func (c Config) belongs() []keyOf {
	return []keyOf{
		{"url", !c.URL.IsZero(), []string{HTTP, GCS, Sentry}},
		{"path", c.Path != "", []string{Filesystem}},
		{"accept_invalid_certs", c.AcceptInvalidCerts, []string{HTTP}},
		{"follow_symlinks", c.FollowSymlinks, []string{Filesystem}},
		{"timeout", c.Timeout != 0, []string{HTTP, S3, GCS, Sentry}},
		{"headers", len(c.Headers) > 0, []string{HTTP}},
		{"token", !c.Token.IsZero(), []string{Sentry}},
		{"cookies", !c.Cookies.IsZero(), []string{Sentry}},
		{"bucket", c.Bucket != "", []string{S3, GCS}},
		{"prefix", c.Prefix != "", []string{S3, GCS}},
		{"region", len(c.Region) > 0, []string{S3}},
		{"aws_credentials_provider", c.Provider != "", []string{S3}},
		{"access_key", !c.AccessKey.IsZero(), []string{S3}},
		{"secret_key", !c.SecretKey.IsZero(), []string{S3}},
		{"session_token", !c.SessionToken.IsZero(), []string{S3}},
		{"gcs_credentials_provider", c.GoogleProvider != "", []string{GCS}},
		{"client_email", c.ClientEmail != "", []string{GCS}},
		{"private_key", !c.PrivateKey.IsZero(), []string{GCS}},
		{"bearer_token", !c.BearerToken.IsZero(), []string{GCS}},
	}
}

type keyOf struct {
	key   string
	set   bool
	types []string
}

func (c Config) validPlace() (errs []error) {
	const types = HTTP + ", " + Filesystem + ", " + S3 + ", " + GCS + ", " + Sentry
	valid := map[string]func() error{HTTP: c.validURL, Filesystem: c.validFolder, S3: c.validS3, GCS: c.validGCS, Sentry: c.validSentry}[c.Type]
	switch {
	case c.Type == "":
		return []error{fmt.Errorf("the type is missing: must be one of %s", types)}
	case valid == nil:
		return []error{fmt.Errorf("invalid type %q: must be one of %s", c.Type, types)}
	}
	for _, k := range c.belongs() {
		if k.set && !slices.Contains(k.types, c.Type) {
			errs = append(errs, fmt.Errorf("%s is for type %s, not for %s", k.key, enumerated(k.types), c.Type))
		}
	}
	if err := valid(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// enumerated returns a list as in a sentence.
func enumerated(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

func (c Config) validURL() error {
	_, err := c.URL.Parse()
	return err
}

func (c Config) validSentry() error {
	if !c.Token.IsZero() && !c.Cookies.IsZero() {
		return errors.New("both a token and cookies: must be one of them")
	}
	if c.Token.IsZero() && c.Cookies.IsZero() {
		return errors.New("type sentry needs a token or cookies")
	}
	return c.validURL()
}

func (c Config) validFolder() error {
	if c.Path == "" {
		return fmt.Errorf("type %s needs a path", Filesystem)
	}
	return nil
}

func (c Config) validS3() error {
	keys := !c.AccessKey.IsZero() || !c.SecretKey.IsZero() || !c.SessionToken.IsZero()
	switch {
	case c.Bucket == "":
		return fmt.Errorf("type %s needs a bucket", S3)
	case len(c.Region) > 2:
		return errors.New("region is a name, or a list of a name and an address")
	case !slices.Contains([]string{"", Static, Container, Instance, WebIdentity, Ambient}, c.Provider):
		return fmt.Errorf("invalid aws_credentials_provider %q: must be %s, %s, %s, %s or %s", c.Provider, Static, Container, Instance, WebIdentity, Ambient)
	case (c.Provider == "" || c.Provider == Static) && keys && (c.AccessKey.IsZero() || c.SecretKey.IsZero()):
		return errors.New("access_key and secret_key must be set together")
	case c.Region.Endpoint() != "":
		return validEndpoint(c.Region.Endpoint())
	}
	return nil
}

// validEndpoint returns an error unless text is the address of a store. It does
// not repeat the text, which may have a secret anywhere.
func validEndpoint(text string) error {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := NewURL(text).Parse()
	switch {
	case err != nil:
		return fmt.Errorf("the second part of region: %w", err)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("the address in region cannot have user info, a query or a fragment")
	}
	return nil
}

func (c Config) validGCS() error {
	account, token := c.ClientEmail != "" || !c.PrivateKey.IsZero(), !c.BearerToken.IsZero()
	switch {
	case c.Bucket == "":
		return fmt.Errorf("type %s needs a bucket", GCS)
	case !slices.Contains([]string{"", Static, Ambient}, c.GoogleProvider):
		return fmt.Errorf("invalid gcs_credentials_provider %q: must be %s or %s", c.GoogleProvider, Static, Ambient)
	case c.GoogleProvider == Ambient && (account || token):
		return fmt.Errorf("client_email, private_key and bearer_token are for gcs_credentials_provider %s, not for %s", Static, Ambient)
	case account && (c.ClientEmail == "" || c.PrivateKey.IsZero()):
		return errors.New("client_email and private_key must be set together")
	case account && token:
		return errors.New("both a service account and a bearer_token: must be one of them")
	}
	if !c.URL.IsZero() {
		return c.validURL()
	}
	return nil
}
