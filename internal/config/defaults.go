package config

import (
	"fmt"
	"reflect"
)

// fillDefaults applies the defaults to v. A zero that was
// written becomes the default as well, with a notice.
func (l *loader) fillDefaults(v reflect.Value) {
	zero := make(map[string]bool)
	l.root.visit(v, "", func(f *field, path string, at reflect.Value) {
		if l.Origins[path] != "" && f.shape == scalar && at.IsZero() && !l.failed[path] {
			zero[path] = true
		}
	})
	l.root.applyDefaults(v)
	l.root.visit(v, "", func(f *field, path string, at reflect.Value) {
		if zero[path] && !at.IsZero() {
			text, _ := f.shown(at)
			l.Notices = append(l.Notices, fmt.Sprintf("%s: the value of %s means the default, %s", l.Origins[path], path, text))
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
