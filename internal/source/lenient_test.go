package source_test

import (
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/source"
)

func TestLenientSourceIsWithoutWhatSymbolicatorPassesOver(t *testing.T) {
	key := bin.NewSecret("canary")
	url := source.NewURL("http://a.test/")
	for name, c := range map[string]struct {
		given source.Config
		left  string // the messages, joined
		ok    func(source.Config) bool
	}{
		"nothing": {source.Config{Type: source.HTTP, URL: url, Headers: map[string]bin.Secret{"a": key}}, "",
			func(c source.Config) bool { return len(c.Headers) == 1 }},
		"headers": {source.Config{Type: source.HTTP, URL: url, Headers: map[string]bin.Secret{"Bad:canary": key, "Host": key, "a": key, "b": bin.NewSecret("x\ny")}},
			`header "Bad:"… cannot be sent; header "Host" cannot be sent; header "b" cannot be sent`,
			func(c source.Config) bool { return len(c.Headers) == 1 && !c.Headers["a"].IsZero() }},
		"keys of another type": {source.Config{Type: source.HTTP, URL: url, Path: "/x", Region: source.Region{"r"}},
			"path is for type filesystem, not for http; region is for type s3, not for http",
			func(c source.Config) bool { return c.Path == "" && c.Region == nil && !c.URL.IsZero() }},
		"half an account beside a token": {source.Config{Type: source.GCS, Bucket: "b", ClientEmail: "x@y", BearerToken: key},
			"client_email is not used", func(c source.Config) bool { return !c.BearerToken.IsZero() && c.ClientEmail == "" }},
		"an account beside a token": {source.Config{Type: source.GCS, Bucket: "b", ClientEmail: "x@y", PrivateKey: key, BearerToken: key},
			"bearer_token is not used", func(c source.Config) bool { return c.BearerToken.IsZero() && !c.PrivateKey.IsZero() }},
		"cookies beside a token": {source.Config{Type: source.Sentry, URL: url, Token: key, Cookies: key},
			"cookies is not used", func(c source.Config) bool { return !c.Token.IsZero() && c.Cookies.IsZero() }},
		"half of the keys": {source.Config{Type: source.S3, Bucket: "b", AccessKey: key},
			"access_key is one half", func(c source.Config) bool { return c.AccessKey.IsZero() }},
	} {
		c.given.ID = "s"
		had := len(c.given.Headers)
		got, left := c.given.Lenient()
		told := strings.Join(left, "; ")
		if err := got.Validate(); err != nil || !c.ok(got) || !strings.Contains(told, c.left) || (c.left == "") != (told == "") {
			t.Errorf("%s: %v, told %q", name, err, told)
		}
		if strings.Contains(told, "canary") || len(c.given.Headers) != had {
			t.Errorf("%s: %q; %v", name, told, c.given.Headers)
		}
	}
}

// What Symbolicator does not take either stays wrong.
func TestLenientSourceIsStillValidated(t *testing.T) {
	for want, c := range map[string]source.Config{
		`invalid type "ftp"`:                   {ID: "s", Type: "ftp"},
		"the type is missing":                  {ID: "s", Path: "/x"},
		"has no id":                            {Type: source.Filesystem, Path: "/x"},
		"client_email and private_key must":    {ID: "s", Type: source.GCS, Bucket: "b", ClientEmail: "x@y"},
		"type sentry needs a token or cookies": {ID: "s", Type: source.Sentry, URL: source.NewURL("http://a.test/")},
		"type filesystem needs a path":         {ID: "s", Type: source.Filesystem},
		`invalid layout "breakpad": must be`:   {ID: "s", Type: source.Filesystem, Path: "/x", Layout: source.Layout{Type: "breakpad"}},
	} {
		got, _ := c.Lenient()
		if err := got.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
