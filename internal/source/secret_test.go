package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/source"
)

const canary = "CANARY-8d1f"

// holder keeps its fields where fmt cannot call their methods.
type holder struct {
	secret  bin.Secret
	url     source.URL
	headers map[string]bin.Secret
}

func TestSecretsAreNeverShown(t *testing.T) {
	secret := bin.NewSecret(canary)
	address := source.NewURL("https://" + canary + ":" + canary + "@host/path?sig=" + canary + "#" + canary)
	config := source.Config{ID: "s", Type: source.HTTP, URL: address, Headers: map[string]bin.Secret{"Authorization": secret}}
	values := []any{secret, &secret, address, &address, config, &config,
		holder{secret, address, config.Headers}, &holder{secret, address, config.Headers}}
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	logJSON := slog.New(slog.NewJSONHandler(&out, nil))
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
		log.Info("x", "v", v)
		logJSON.Info("x", "v", v)
	}
	for _, v := range []interface{ MarshalYAML() (any, error) }{secret, address} {
		y, err := v.MarshalYAML()
		fmt.Fprint(&out, y, err)
	}
	hexed := fmt.Sprintf("%x", canary)
	if strings.Contains(out.String(), canary) || strings.Contains(strings.ToLower(out.String()), hexed) {
		t.Errorf("a secret is shown in:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "https://host/path") {
		t.Error("the address is not shown at all")
	}
	if secret.Reveal() != canary || !strings.Contains(address.Reveal(), canary) {
		t.Error("a secret is lost")
	}
}

func TestNoSecretShowsAsNothing(t *testing.T) {
	if s := fmt.Sprint(bin.Secret{}, bin.NewSecret(""), source.URL{}); strings.TrimSpace(s) != "" {
		t.Errorf("got %q", s)
	}
}

func TestSecretsAreReadFromText(t *testing.T) {
	var c source.Config
	err := json.Unmarshal([]byte(`{"id":"s","type":"http","url":"https://u:p@host/","headers":{"X-Key":"k"},
		"layout":{"type":"native","casing":"lowercase"},"is_public":true,"filters":{"filetypes":["pdb"],"path_patterns":["*x*"]}}`), &c)
	if err != nil {
		t.Fatal(err)
	}
	want := source.Config{ID: "s", Type: "http", URL: source.NewURL("https://u:p@host/"), Headers: map[string]bin.Secret{"X-Key": bin.NewSecret("k")},
		Layout: source.Layout{Type: "native", Casing: "lowercase"}, IsPublic: true,
		Filters: source.Filters{FileTypes: []string{"pdb"}, PathPatterns: []string{"*x*"}}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v", c)
	}
}

// aToken has the form of the tokens of the server.
const aToken = "QUJDREVGR0g6QUJDREVGR0hJSktMTU5PUFFSU1RVVlc"

func TestCleanURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://host:8443/a%2Fb/c%20d?x=1": "https://host:8443/a%2Fb/c%20d",
		"https://u:p@host/a?b#c":            "https://host/a",
		"http://[::1]:80/":                  "http://[::1]:80/",
		"user:pass@host/path":               "[redacted]",
		"https://host/t/" + aToken + "/x":   "https://host/t/[redacted]/x",
		"user@host/path":                    "[redacted]",
		"http:user:pass@host":               "[redacted]",
		"http://host/%zz":                   "[redacted]",
		"":                                  "[redacted]",
	} {
		if got := source.CleanURL(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCredentialIDTellsSetsApart(t *testing.T) {
	s := bin.NewSecret
	ids := map[string]bool{}
	for _, id := range []string{
		source.CredentialID(s("ab"), s("c")), source.CredentialID(s("a"), s("bc")), source.CredentialID(s("abc"), s("")),
		source.CredentialID(s(""), s("abc")), source.CredentialID(s(canary)),
	} {
		if id == "" || ids[id] || strings.Contains(id, canary) {
			t.Errorf("id %q", id)
		}
		ids[id] = true
	}
	if id := source.CredentialID(s(""), bin.Secret{}); id != "" {
		t.Errorf("no credentials are %q", id)
	}
}

func FuzzCleanURL(f *testing.F) {
	f.Add("https://u:", "@host/path?q=", "#f")
	f.Add("//", "@h", "")
	f.Add("http://h/?", "&x=", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		// The path and the host are not secret; user info and query are.
		text := a + canary + "@" + b + "?" + canary + c
		if strings.ContainsAny(a, "/?#") && strings.Index(a, "//") != len(a)-2 {
			return
		}
		got := source.CleanURL(text)
		if strings.Contains(got, "?") || bytes.Contains([]byte(got), []byte("@"+canary)) || strings.Contains(got, canary+"@") {
			t.Errorf("%q shows as %q", text, got)
		}
	})
}
