package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"symbolon/internal/fault"
)

// fillDefaults applies the defaults to v. A zero that somebody wrote is a
// default like one that nobody wrote, which deserves a notice.
func (l *loader) fillDefaults(v reflect.Value) {
	zero := make(map[string]bool)
	l.root.visit(v, "", func(f *field, path string, at reflect.Value) {
		if l.Origins[path] != "" && f.shape == scalar && at.IsZero() {
			zero[path] = true
		}
	})
	l.root.applyDefaults(v)
	l.root.visit(v, "", func(f *field, path string, at reflect.Value) {
		if zero[path] && !at.IsZero() {
			text, _ := f.shown(at)
			l.Notices = append(l.Notices, fmt.Sprintf("%s: the value of %s stands for the default, %s", l.Origins[path], path, text))
			delete(l.Origins, path)
		}
	})
}

// visit calls fn for all values below v, which is a value of f at path.
func (f *field) visit(v reflect.Value, path string, fn func(f *field, path string, v reflect.Value)) {
	for _, sub := range f.fields {
		at, subPath := v.Field(sub.index), join(path, sub.key)
		fn(sub, subPath, at)
		switch sub.shape {
		case section:
			sub.visit(at, subPath, fn)
		case sections:
			for i := range at.Len() {
				sub.visit(at.Index(i), fmt.Sprintf("%s[%d]", subPath, i), fn)
			}
		}
	}
}

// applyDefaults calls the Defaults of v, which is a section f, and of all
// sections in it, from the outside inwards.
func (f *field) applyDefaults(v reflect.Value) {
	if m := v.MethodByName("Defaults"); m.IsValid() {
		v.Set(m.Call(nil)[0])
	}
	for _, sub := range f.fields {
		at := v.Field(sub.index)
		switch sub.shape {
		case section:
			sub.applyDefaults(at)
		case sections:
			for i := range at.Len() {
				sub.applyDefaults(at.Index(i))
			}
		}
	}
}

// Validate asks v, a configuration struct or a pointer to one, and all
// sections in it whether they are valid. The error is a *fault.Error that
// names the key.
func Validate(v any) error {
	at := reflect.Indirect(reflect.ValueOf(v))
	l := &loader{root: schemaOf(at.Type())}
	return l.all(l.validate(l.root, at, ""))
}

// validate asks the innermost sections first: they know best. It does not ask
// those that have a mistake already, which may have led to others.
func (l *loader) validate(f *field, v reflect.Value, path string) error {
	for _, sub := range f.fields {
		at, subPath := v.Field(sub.index), join(path, sub.key)
		switch sub.shape {
		case section:
			if err := l.validate(sub, at, subPath); err != nil {
				return err
			}
		case sections:
			for i := range at.Len() {
				if err := l.validate(sub, at.Index(i), fmt.Sprintf("%s[%d]", subPath, i)); err != nil {
					return err
				}
			}
		}
	}
	checked, ok := v.Interface().(interface{ Validate() error })
	if !ok || slices.ContainsFunc(l.failed, func(at string) bool { return below(at, path) }) {
		return nil
	}
	if err := checked.Validate(); err != nil {
		return l.mistake(path, l.invalid(f, path, err))
	}
	return nil
}

// below says whether a path is that of a section or of a key in it.
func below(path, section string) bool {
	rest, inside := strings.CutPrefix(path, section)
	return inside && (section == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// invalid adds to err, which the section f at path has, the key that it is
// about and where that was set. The texts of sections begin with one of their
// keys, where they are about one.
func (l *loader) invalid(f *field, path string, err error) error {
	text := err.Error()
	first := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz0123456789_"))]
	if f.find(first) != nil {
		return fault.New(fault.Malformed, l.Origins[join(path, first)], "%w", prefixed(path, ".", err))
	}
	place := ""
	for _, sub := range f.fields {
		if place == "" {
			place = l.Origins[join(path, sub.key)]
		}
	}
	return fault.New(fault.Malformed, place, "%w", prefixed(path, ": ", err))
}

func prefixed(path, separator string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s%s%w", path, separator, err)
}
