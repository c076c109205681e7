package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/fault"
)

// maxMistakes bounds how many mistakes are listed. A file with more of them is
// hardly a configuration.
const maxMistakes = 30

// mistake lists err, which is wrong with the key at path, unless it is nil.
func (l *loader) mistake(path string, err error) {
	if err != nil {
		l.failed[path] = true
		l.add(err)
	}
}

// add lists err.
func (l *loader) add(err error) {
	m := mistake{error: err, document: math.MaxInt}
	errors.As(err, &m)
	l.mistakes = append(l.mistakes, m)
}

// all returns the mistakes in the order in which they were written, at most
// maxMistakes of them.
func (l *loader) all() error {
	slices.SortStableFunc(l.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.place.line, b.place.line), cmp.Compare(a.place.column, b.place.column))
	})
	var errs []error
	isFlags := len(l.mistakes) > 0
	for i, m := range l.mistakes {
		isFlags = isFlags && m.isFlag
		if i == maxMistakes {
			errs = append(errs, fault.New(fault.Malformed, "", "there are more mistakes than these %d", maxMistakes))
			break
		}
		errs = append(errs, m.error)
	}
	err := errors.Join(errs...)
	if len(errs) == 1 {
		err = errs[0]
	}
	if isFlags {
		return &FlagError{err}
	}
	return err
}

// validate validates the section f at path and all sections in it, except for
// those that could not be read.
func (l *loader) validate(f *field, v reflect.Value, path string) {
	if l.failed[path] {
		return
	}
	for _, sub := range f.fields {
		if sub.shape == scalar && !l.failed[join(path, sub.key)] {
			l.invalid(f, path, sub.check(v.Field(sub.index)))
		}
	}
	f.eachSection(v, path, l.validate)
	if checked, ok := v.Interface().(interface{ Validate() error }); ok {
		l.invalid(f, path, checked.Validate())
	}
}

// check returns an error if the tags of f do not allow the scalar v.
func (f *field) check(v reflect.Value) error {
	switch {
	case v.IsZero():
		return nil
	case len(f.values) > 0 && !slices.Contains(f.values, v.String()):
		return fmt.Errorf("%s is %s: must be %s", f.key, shortQuote(v.String()), console.OneOf(f.values))
	case !f.least.IsValid() || v.Int() >= f.least.Int():
		return nil
	case f.least.IsZero():
		return fmt.Errorf("%s is %s: must not be negative", f.key, text(v))
	}
	return fmt.Errorf("%s is %s: must be at least %s", f.key, text(v), text(f.least))
}

// invalid lists err, or the errors that it joins, which the section f at path
// has. The text of each begins with a key of the section, if it is about one.
func (l *loader) invalid(f *field, path string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			l.invalid(f, path, err)
		}
		return
	}
	if err == nil {
		return
	}
	at, separator := path, ": "
	key := leadingPath(err.Error())
	first, _, _ := strings.Cut(key, ".")
	sub := f.find(strings.Split(first, "[")[0])
	if sub != nil {
		at, separator = join(path, key), "."
	}
	inner := sub != nil && sub.shape == section && key == sub.key // the text is about keys in there
	if l.follows(path, err.Error()) || inner && l.follows(at, err.Error()) {
		return
	}
	if path != "" {
		err = fmt.Errorf("%s%s%w", path, separator, err)
	}
	from, written := l.places[at]
	for !written && at != "" {
		at = parent(at)
		from, written = l.places[at]
	}
	l.add(mistake{fault.New(fault.Malformed, from.text, "%w", err), from.document, from.place, from.isFlag && !l.isCheck})
}

// follows reports whether a text about the section at path names a key with a
// mistake that is listed already: the text may only follow from it.
func (l *loader) follows(path, text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '/' && !inPath(r) }) {
		if len(word) <= maxKey && l.unread(join(path, strings.TrimRight(word, "."))) {
			return true
		}
	}
	return false
}

// unread reports whether a value at path, or one that was meant for path, could not be
// read.
func (l *loader) unread(path string) bool {
	if _, written := l.places[path]; written {
		return l.failed[path]
	}
	unread := l.meant[path]
	for ; path != "" && !unread; path = parent(path) {
		unread = l.failed[path]
	}
	return unread
}

// leadingPath returns the path of a key that text begins with.
func leadingPath(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, inPath))]
}

func inPath(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("_.[]", r)
}
