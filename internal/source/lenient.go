package source

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"symbolon/internal/bin"
)

// Lenient returns c without values that Validate rejects and Symbolicator
// ignores: keys of other types, headers that cannot be sent, and credentials that
// are incomplete or superfluous. left describes them in messages without secrets.
func (c Config) Lenient() (lenient Config, left []string) {
	out := func(key, format string, args ...any) {
		if c.clear(key) {
			left = append(left, key+" "+fmt.Sprintf(format, args...))
		}
	}
	for _, k := range c.belongs() {
		if c.Type != "" && !slices.Contains(k.types, c.Type) {
			out(k.key, "is for type %s, not for %s", enumerated(k.types), c.Type)
		}
	}
	for _, key := range c.surplus() {
		out(key, "is not used, as other credentials are complete")
	}
	if c.Type == S3 && c.AccessKey.IsZero() != c.SecretKey.IsZero() && (c.Provider == "" || c.Provider == Static) {
		for _, key := range []string{"access_key", "secret_key", "session_token"} {
			out(key, "is one half of a key pair: the bucket is read without credentials")
		}
	}
	headers := maps.Clone(c.Headers)
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		alone := Config{Headers: map[string]bin.Secret{name: c.Headers[name]}}
		if len(alone.validHeaders()) > 0 {
			delete(headers, name)
			left = append(left, fmt.Sprintf("header %s cannot be sent", shownHeader(name)))
		}
	}
	c.Headers = headers
	return c, left
}

// surplus returns the keys of superfluous credentials: a complete service account
// precedes a token, and a token precedes an incomplete account.
func (c Config) surplus() []string {
	switch {
	case c.Type == Sentry && !c.Token.IsZero():
		return []string{"cookies"}
	case c.Type != GCS || c.BearerToken.IsZero():
		return nil
	case c.ClientEmail != "" && !c.PrivateKey.IsZero():
		return []string{"bearer_token"}
	}
	return []string{"client_email", "private_key"}
}

// clear removes the value of a key, and reports whether it had one.
func (c *Config) clear(key string) bool {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if name == key && !v.Field(i).IsZero() {
			v.Field(i).SetZero()
			return true
		}
	}
	return false
}
