package config

import (
	"fmt"
	"reflect"
)

// fillDefaults applies the defaults to v. A zero that was
// written becomes the default as well, with a notice.
func (l *loader) fillDefaults(v reflect.Value) {
	zero := make(map[string]bool)
	l.root.eachScalar(v, "", func(f *field, at reflect.Value, path string) {
		zero[path] = l.Origins[path] != "" && at.IsZero() && !l.failed[path]
	})
	l.root.applyDefaults(v, "")
	l.root.eachScalar(v, "", func(f *field, at reflect.Value, path string) {
		if zero[path] && !at.IsZero() {
			text, _ := f.shown(at)
			l.Notices = append(l.Notices, fmt.Sprintf("%s: the value of %s means the default, %s", l.Origins[path], path, text))
			delete(l.Origins, path)
		}
	})
}

// eachScalar calls visit for the scalars of v, which is a value of f at path,
// and then for those of the sections in it.
func (f *field) eachScalar(v reflect.Value, path string, visit func(f *field, v reflect.Value, path string)) {
	for _, sub := range f.fields {
		if sub.shape == scalar {
			visit(sub, v.Field(sub.index), join(path, sub.key))
		}
	}
	f.eachSection(v, path, func(f *field, v reflect.Value, path string) { f.eachScalar(v, path, visit) })
}

// applyDefaults calls the Defaults of v, which is a section f, and of all
// sections in it, from the outside inwards.
func (f *field) applyDefaults(v reflect.Value, path string) {
	if m := v.MethodByName("Defaults"); m.IsValid() {
		v.Set(m.Call(nil)[0])
	}
	f.eachSection(v, path, (*field).applyDefaults)
}
