package config

import (
	"reflect"
	"strings"
)

// Key is one key of a configuration.
type Key struct {
	Path    string // "cache.disk.max_bytes"; "sources[].url" inside a list
	Type    string // for people: "size", "list of text"
	Default string // as a file would have it; may be empty
	Help    string
	Env     string // the variable that sets it; empty inside a list
	Secret  bool   // no output shows its value, or not all of it
}

// Keys lists the keys of the configuration struct v, or of the struct that v points to,
// in the order of its fields. A section is not a key; a list of sections is one, and so
// is each key of its elements.
func Keys(v any) []Key {
	f := schemaOf(reflect.Indirect(reflect.ValueOf(v)).Type())
	return f.keys(f.defaults())
}

// defaults returns a value of the type of f, or of its elements, that has the
// defaults.
func (f *field) defaults() reflect.Value {
	v := reflect.New(f.typ).Elem()
	f.applyDefaults(v, "")
	return v
}

// keys lists the keys below f with the defaults that v, a value of f, has.
func (f *field) keys(v reflect.Value) []Key {
	var all []Key
	for _, sub := range f.fields {
		at := v.Field(sub.index)
		if sub.shape != section {
			all = append(all, Key{
				Path: sub.path, Type: sub.typeText(), Default: sub.flowText(at),
				Help: sub.help, Env: sub.variable(), Secret: sub.secret,
			})
		}
		switch sub.shape {
		case section:
			all = append(all, sub.keys(at)...)
		case sections:
			all = append(all, sub.keys(sub.defaults())...)
		}
	}
	return all
}

// flowText returns the value v of f in one line, as a file would have it, or
// nothing if it is empty.
func (f *field) flowText(v reflect.Value) string {
	switch f.shape {
	case scalar:
		if text, _ := f.shown(v); text != "" {
			return f.quoted(text)
		}
	case list:
		var items []string
		for i := range v.Len() {
			text, _ := f.shown(v.Index(i))
			items = append(items, f.quoted(text))
		}
		if items != nil {
			return "[" + strings.Join(items, ", ") + "]"
		}
	case dict:
		var items []string
		for _, name := range sortedNames(v) {
			text, _ := f.shown(v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())))
			items = append(items, quote(name)+": "+f.quoted(text))
		}
		if items != nil {
			return "{" + strings.Join(items, ", ") + "}"
		}
	}
	return ""
}
