package debugfile_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/object"
)

func TestArchivesThatEndWithinAMemberSaySo(t *testing.T) {
	for _, name := range []string{"ar", "ar of BSD", "ar of Microsoft"} {
		whole := archivers[name](t, member{"readme", []byte("text")}, member{"a.o", oneELF("a")}, member{"longer.than.sixteen", oneELF("b")})
		for n := len("!<arch>\n") + 1; n < len(whole); n++ {
			if next := n + n%2; next == len(whole) || bytes.HasPrefix(whole[min(next+58, len(whole)):], []byte("`\n")) {
				continue // at the end of a member
			}
			f, err := debugfile.Open(bin.Bytes(whole[:n]), object.Options{})
			if err != nil {
				if fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), "ends too early") &&
					!strings.Contains(err.Error(), "cut off") {
					t.Errorf("%s of %d bytes: %v", name, n, err)
				}
				continue
			}
			d := f.Objects()[0].Info().Damage
			if !slices.ContainsFunc(d, func(d object.Damage) bool { return d.Kind == "damaged members" && d.Count == 1 }) {
				t.Errorf("%s of %d bytes: %d objects, damage %+v", name, n, len(f.Objects()), d)
			}
		}
	}
}

func TestAMemberThatIsCutOffIsNamed(t *testing.T) {
	whole := arGNU(t, member{"a.o", oneELF("a")}, member{"longer.than.sixteen", oneELF("b")})
	size := len(oneELF("b"))
	f, err := debugfile.Open(bin.Bytes(whole[:len(whole)-size-size%2+3]), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := f.Objects()[0].Info().Damage
	if want := "member \"longer.than.sixteen\""; len(d) != 1 || !strings.Contains(d[0].Places[0], "ends too early, after 3 of the ") ||
		!strings.HasSuffix(d[0].Places[0], want) {
		t.Errorf("damage %+v", d)
	}
}
