package web

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/bin"
)

// short is the length up to which a secret is not searched for, because it would
// match everywhere.
const short = 3

// hide returns a pattern for the secrets of the source, whole and in parts, in
// every form in which a server or a library may repeat them.
func (s *Source) hide(password string) *regexp.Regexp {
	secrets := []string{password, s.query.Reveal()}
	if values, err := url.ParseQuery(s.query.Reveal()); err == nil {
		for _, list := range values {
			secrets = append(secrets, list...)
		}
	}
	for _, value := range s.headers {
		whole := value.Reveal()
		_, token, _ := strings.Cut(whole, " ") // of "Bearer TOKEN"
		secrets = append(secrets, whole, token)
		for pair := range strings.SplitSeq(whole, ";") { // of cookies
			_, value, _ := strings.Cut(pair, "=")
			secrets = append(secrets, value)
		}
	}
	var forms []string
	for _, secret := range secrets {
		if len(secret) > short {
			for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
				forms = append(forms, regexp.QuoteMeta(form))
			}
		}
	}
	if len(forms) == 0 {
		return nil
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // the whole before its parts
	return regexp.MustCompile("(?i:" + strings.Join(forms, "|") + ")")
}

// scrub redacts the secrets of the source in a text of a server or a library.
func (s *Source) scrub(text string) string {
	if s.hidden == nil {
		return text
	}
	return s.hidden.ReplaceAllLiteralString(text, bin.NewSecret(text).String())
}
