package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"symbolon/internal/source"
)

// redacted replaces a secret in output.
const redacted = "[redacted]"

const day = 24 * time.Hour

// setText sets v to the value of text. The error describes valid texts and does
// not repeat this one.
func setText(v reflect.Value, text string) error {
	t := v.Type()
	if t == durationType {
		d, ok := parseDuration(text)
		if !ok {
			return wanted(t)
		}
		v.SetInt(int64(d))
		return nil
	}
	if r, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if r.UnmarshalText([]byte(text)) != nil {
			return wanted(t)
		}
		return nil
	}
	switch {
	case t.Kind() == reflect.String:
		v.SetString(text)
		return nil
	case t.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			return wanted(t)
		}
		v.SetBool(text == "true")
		return nil
	}
	return setNumber(v, strings.ReplaceAll(text, "_", ""))
}

func setNumber(v reflect.Value, text string) error {
	t := v.Type()
	switch {
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, t.Bits())
		if errors.Is(err, strconv.ErrRange) {
			greatest := int64(math.MaxInt64) >> (64 - t.Bits())
			return fmt.Errorf("a whole number from %d to %d", -greatest-1, greatest)
		}
		if err != nil {
			return wanted(t)
		}
		v.SetInt(n)
	case v.CanUint():
		n, err := strconv.ParseUint(text, 10, t.Bits())
		if err != nil {
			return fmt.Errorf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
		}
		v.SetUint(n)
	default:
		n, err := strconv.ParseFloat(text, t.Bits())
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return wanted(t)
		}
		v.SetFloat(n)
	}
	return nil
}

// wanted describes the texts of values of type t.
func wanted(t reflect.Type) error {
	switch name := scalarName(t); name {
	case "true or false", "text":
		return errors.New(name)
	case "duration":
		return errors.New("a duration such as 30s, 10m or 7d")
	case "size":
		return errors.New("a size such as 64MiB")
	default:
		return errors.New("a " + name)
	}
}

// parseDuration reads what time.ParseDuration reads, with whole days in front
// of it. Negative is only -1, which settings use for "off".
func parseDuration(text string) (time.Duration, bool) {
	if text == "-1" {
		return -1, true
	}
	var days int64
	rest := text
	if head, tail, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(head, 10, 63)
		if err != nil || n > uint64(math.MaxInt64/day) {
			return 0, false
		}
		days, rest = int64(n), tail
		if rest == "" {
			rest = "0"
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || d > math.MaxInt64-time.Duration(days)*day {
		return 0, false
	}
	return time.Duration(days)*day + d, true
}

func durationText(d time.Duration) string {
	switch {
	case d == -1:
		return "-1"
	case d > 0 && d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// text returns the scalar v as setText reads it.
func text(v reflect.Value) string {
	if v.Type() == durationType {
		return durationText(time.Duration(v.Int()))
	}
	if holder, ok := v.Interface().(interface{ Reveal() string }); ok {
		return holder.Reveal()
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		if b, err := m.MarshalText(); err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(v.Interface())
}

// shown returns the scalar v of f without secrets, and whether it is complete.
func (f *field) shown(v reflect.Value) (string, bool) {
	full := text(v)
	if full == "" {
		return "", true
	}
	clean := full
	switch _, holds := v.Interface().(interface{ Reveal() string }); {
	case holds:
		clean = fmt.Sprint(v.Interface())
	case f.secret:
		clean = redacted
	case v.Kind() == reflect.String && strings.Contains(full, "://"):
		// A setting without the secret tag may be an address with a password.
		if u, err := url.Parse(full); err != nil || u.User != nil || u.RawQuery != "" {
			clean = source.CleanURL(full)
		}
	}
	return clean, clean == full
}

// quoted returns text, a value of f, as a YAML scalar that expand does not change.
func (f *field) quoted(text string) string {
	switch k := f.typ.Kind(); {
	case k == reflect.Bool, k >= reflect.Int && k <= reflect.Float64:
		return text
	}
	return quote(strings.ReplaceAll(text, "${", "$${"))
}

// quote returns text as a YAML scalar that reads as this text and nothing else,
// in quotes unless it is a plain word. YAML has all escapes of Go.
func quote(text string) string {
	if plainWord.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	return strconv.Quote(strings.ToValidUTF8(text, "\ufffd"))
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z/_]([A-Za-z0-9/_.+:-]*[A-Za-z0-9/_.+-])?$`)
	yamlWord  = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`) // another type in some version of YAML
)

// oneLine replaces, for strings.Map, characters that end a line or control a terminal.
func oneLine(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}
