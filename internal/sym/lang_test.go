package sym_test

import (
	"testing"

	"symbolon/internal/sym"
)

func TestParseLang(t *testing.T) {
	seen := map[string]bool{}
	for l := range sym.Langs {
		name := l.String()
		if got, ok := sym.ParseLang(name); got != l || !ok || seen[name] {
			t.Errorf("language %d is %q, which is %d, %t", l, name, got, ok)
		}
		seen[name] = true
	}
	if _, ok := sym.ParseLang("latin"); ok || sym.Langs.String() != "" {
		t.Error("an unknown language has a name")
	}
}
