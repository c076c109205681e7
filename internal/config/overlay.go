package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"symbolon/internal/console"
)

// variables makes a map of an environment; of two with one name the last
// counts.
func variables(environ []string) map[string]string {
	m := make(map[string]string)
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			m[name] = value
		}
	}
	return m
}

// foreign applies the variables that were made for another program.
func (l *loader) foreign(v reflect.Value, o Options) {
	for _, given := range o.Foreign {
		l.begin(given.Name, "environment "+given.Name)
		err := given.Err
		if err != nil {
			err = l.doc.wrong(place{}, "%w", err)
		} else {
			err = l.set(v, given.Key, given.Value)
		}
		l.mistake(given.Key, err)
	}
}

// environ applies our own variables.
func (l *loader) environ(v reflect.Value, o Options) {
	known := slices.Clone(o.Others)
	l.root.walk(func(f *field) {
		name := f.variable()
		if name == "" {
			return
		}
		known = append(known, name)
		if value := l.variables[name]; value != "" {
			l.begin(name, "environment "+name)
			l.mistake(f.path, l.set(v, f.path, value))
		}
	})
	var unknown []string
	for name, value := range l.variables {
		if strings.HasPrefix(name, variablePrefix) && value != "" && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		l.Notices = append(l.Notices, "unknown variable "+shownKey(name)+console.DidYouMean(nearestVariable(name, known)))
	}
}

// nearestVariable compares names without the prefix that all of them have.
func nearestVariable(name string, known []string) string {
	var bare []string
	for _, k := range known {
		bare = append(bare, strings.TrimPrefix(k, variablePrefix))
	}
	if near := console.Nearest(strings.TrimPrefix(name, variablePrefix), bare); near != "" {
		return variablePrefix + near
	}
	return ""
}

// sets applies the assignments of flags.
func (l *loader) sets(v reflect.Value, o Options) {
	for _, s := range o.Sets {
		path, value, ok := strings.Cut(s, "=")
		l.beginFlag("--set " + shownKey(path))
		err := l.doc.wrong(place{}, "must be KEY=VALUE")
		if ok {
			err = l.set(v, path, value)
		}
		l.mistake(path, err)
	}
	for _, f := range o.Flags {
		l.beginFlag(f.Name)
		l.mistake(f.Key, l.set(v, f.Key, f.Value))
	}
}

// sources replaces the sources by those of flags.
func (l *loader) sources(v reflect.Value, o Options) {
	if o.Sources == nil {
		return
	}
	l.beginFlag("--source")
	const path = "sources"
	v.Field(l.root.find(path).index).Set(reflect.ValueOf(o.Sources))
	l.forget(path)
	delete(l.failed, path)
	l.note(path, place{})
	l.Origins[path] = l.origin(place{})
}

// open makes the loader read a document of this name, with variables in texts.
func (l *loader) open(name string) {
	number := 1
	if l.doc != nil {
		number += l.doc.number
	}
	l.doc = &document{name: name, number: number}
	l.expand, l.origin = true, l.doc.at
}

// begin makes the loader read values that come from a place of this name.
func (l *loader) begin(name, origin string) {
	l.open(name)
	l.expand, l.origin = false, func(place) string { return origin }
}

// beginFlag makes the loader read values of a flag.
func (l *loader) beginFlag(name string) {
	l.begin(name, "flag")
	l.doc.isFlag = true
}

// set gives the key at path below v the value of text.
func (l *loader) set(v reflect.Value, path, text string) error {
	f, at := l.root, v
	rest, reached := path, ""
	for f.shape == section {
		word, tail, more := strings.Cut(rest, ".")
		bare, _, indexed := strings.Cut(word, "[")
		sub := f.find(bare)
		if sub == nil || indexed && sub.shape != list && sub.shape != sections {
			return l.doc.wrong(place{}, "%s", l.unknown(f, reached, word))
		}
		f, at, rest, reached = sub, at.Field(sub.index), tail, join(reached, bare)
		switch {
		case f.shape == section && !more:
			return l.doc.wrong(place{}, "%s is a section: set one of its keys, %s", reached, f.keyList())
		case f.shape == dict && more && rest != "":
			return l.setEntry(f, at, reached, rest, text)
		case f.shape != section && (more || indexed):
			return l.doc.wrong(place{}, "%s is a %s, which is set as a whole", reached, f.typeText())
		}
	}
	n, err := l.parseValue(f, text)
	if err != nil {
		return err
	}
	l.forget(reached)
	return l.fill(f, at, reached, n)
}

// forget drops the places and mistakes of the value at path.
func (l *loader) forget(path string) {
	below := func(p string) bool {
		rest, inside := strings.CutPrefix(p, path)
		return inside && (strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "."))
	}
	maps.DeleteFunc(l.Origins, func(p, _ string) bool { return below(p) })
	maps.DeleteFunc(l.places, func(p string, _ origin) bool { return below(p) })
	for _, marks := range []map[string]bool{l.failed, l.meant} {
		maps.DeleteFunc(marks, func(p string, _ bool) bool { return below(p) })
	}
}

// setEntry sets one entry of a dict. It copies the map, which
// the caller may still use.
func (l *loader) setEntry(f *field, v reflect.Value, path, name, text string) error {
	item := reflect.New(f.typ).Elem()
	if err := l.scalar(f, item, join(path, name), &node{kind: textNode, text: text}); err != nil {
		return err
	}
	m := reflect.MakeMap(v.Type())
	for _, k := range v.MapKeys() {
		m.SetMapIndex(k, v.MapIndex(k))
	}
	m.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), item)
	v.Set(m)
	l.note(path, place{})
	l.Origins[join(path, name)] = l.origin(place{})
	return nil
}

// parseValue makes a node of a text outside of the file.
func (l *loader) parseValue(f *field, text string) (*node, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case f.shape == scalar:
		return &node{kind: textNode, text: text}, nil
	case strings.HasPrefix(trimmed, "["), strings.HasPrefix(trimmed, "{"):
		return l.doc.parse([]byte(trimmed))
	case f.shape == sections:
		return nil, l.doc.wrong(place{}, "%s takes %s, such as [{%s: ...}]", f.path, f.wantedText(), f.fields[0].key)
	}
	n := &node{kind: listNode}
	if f.shape == dict {
		n.kind = mapNode
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if f.shape == dict {
			name, value, ok := strings.Cut(part, "=")
			if !ok {
				return nil, l.doc.wrong(place{}, "%s: an entry without a value: must be NAME=VALUE, separated by commas", f.path)
			}
			n.keys = append(n.keys, key{text: strings.TrimSpace(name)})
			part = strings.TrimSpace(value)
		}
		n.items = append(n.items, &node{kind: textNode, text: part})
	}
	return n, nil
}

// reference matches a variable in a text, and the escape of ${.
var reference = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)

// expand replaces ${NAME} and ${NAME:-text} by the values of variables.
func expand(text string, vars map[string]string) (_ string, first error) {
	text = reference.ReplaceAllStringFunc(text, func(match string) string {
		if match == "$${" {
			return "${"
		}
		inside, closed := strings.CutSuffix(match[len("${"):], "}")
		name, instead, hasDefault := strings.Cut(inside, ":-")
		value, isSet := vars[name]
		var err error
		switch {
		case !closed:
			err = errors.New("a ${ without its }; $${ is the text ${ itself")
		case !variableName.MatchString(name):
			err = fmt.Errorf("%s cannot be the name of a variable; $${ is the text ${ itself", shortQuote(name))
		case hasDefault && value == "":
			value = instead
		case !isSet:
			err = fmt.Errorf("variable %s is not set; ${%s:-text} has a text for that case", name, name)
		}
		first = cmp.Or(first, err)
		return value
	})
	return text, first
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
