package bin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. Its text is a whole number and a unit: KiB, MiB,
// GiB, TiB are powers of 1024; KB, MB, GB, TB are powers of 1000; B or no unit
// is bytes. Case does not matter, digits may be grouped by "_". The only
// negative text is -1; each setting that accepts it documents its meaning.
type Size int64

// units lists the units in the order of preference of String among texts of the
// same length.
var units = [...]struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// ParseSize parses the text of a Size.
func ParseSize(text string) (Size, error) {
	if text == "-1" {
		return -1, nil
	}
	digits := strings.TrimRightFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '_' })
	unit := int64(1)
	if rest := text[len(digits):]; rest != "" {
		unit = 0
		name := strings.TrimPrefix(rest, " ")
		for _, u := range units {
			if strings.EqualFold(u.name, name) {
				unit = u.bytes
			}
		}
	}
	n, ok := parseDigits(digits)
	if !ok || unit == 0 {
		return 0, fmt.Errorf("invalid size %q: must be a number and a unit, such as 64MiB or 10GB", text)
	}
	if n > math.MaxInt64/uint64(unit) {
		return 0, fmt.Errorf("invalid size %q: must be less than 8 EiB", text)
	}
	return Size(int64(n) * unit), nil
}

// parseDigits parses digits grouped by single underscores. A number that does
// not fit becomes MaxUint64, which is too large with any unit.
func parseDigits(text string) (uint64, bool) {
	var n uint64
	if text == "" {
		return 0, false
	}
	for i := range len(text) {
		d := text[i]
		if d == '_' {
			if i == 0 || i == len(text)-1 || text[i-1] == '_' {
				return 0, false
			}
			continue
		}
		if d < '0' || d > '9' {
			return 0, false
		}
		if n > (math.MaxUint64-9)/10 {
			n = math.MaxUint64
			continue
		}
		n = n*10 + uint64(d-'0')
	}
	return n, true
}

// String returns the shortest text that ParseSize parses as s.
func (s Size) String() string {
	best := strconv.FormatInt(int64(s), 10)
	if s <= 0 {
		return best
	}
	for _, u := range units[:len(units)-1] {
		if int64(s)%u.bytes != 0 {
			continue
		}
		text := strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		if len(text) < len(best) || best[len(best)-1] != 'B' && len(text) == len(best) {
			best = text
		}
	}
	return best
}

func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Size) UnmarshalText(text []byte) error {
	v, err := ParseSize(string(text))
	if err != nil {
		return err
	}
	*s = v
	return nil
}
