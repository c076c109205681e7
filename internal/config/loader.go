package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"symbolon/internal/console"
	"symbolon/internal/source"
)

// Options are the inputs of Load, the weakest first.
type Options struct {
	File             string    // name of the file, for messages
	Data             []byte    // what is in it
	Symbolicator     []byte    // a configuration of Symbolicator; may be nil
	SymbolicatorFile string    // its name, for messages
	Foreign          []Foreign // variables that were made for another program
	Environ          []string  // NAME=VALUE, as os.Environ has them
	Others           []string  // our variables that set no key
	Flags            []Flag    // flags that set one key
	Sets             []string  // KEY=VALUE, from --set

	Sources []source.Config    // from flags; nil: those of the rest
	Check   func(Config) error // looks at what Validate does not: the world; its errors begin with their keys; may be nil
}

// Foreign is a variable with a name of another program and a value in the way
// of our own variables.
type Foreign struct {
	Name  string
	Key   string
	Value string
	Err   error // the reason for a missing value
}

// Flag is a flag that sets one key.
type Flag struct{ Name, Key, Value string }

// A FlagError is the error of values of flags, if there are no other mistakes.
type FlagError struct{ error }

func (e *FlagError) Unwrap() error { return e.error }

// Loaded has the results of Load other than the values.
type Loaded struct {
	Notices []string          // for people, one line each
	Origins map[string]string // path of a key -> where its value came from; not those that have their default
}

type loader struct {
	Loaded
	root      *field
	variables map[string]string
	mistakes  []mistake
	places    map[string]origin // of keys and sections that were written
	failed    map[string]bool   // keys with a value that could not be read
	meant     map[string]bool   // keys that an unknown one was probably meant to be

	isCheck bool // Options.Check looks at the world

	doc    *document
	expand bool               // ${NAME} in texts
	origin func(place) string // of values of doc
}

// note remembers that the value of a key was written at p of the document. The
// place of a section is that of the first key in it.
func (l *loader) note(path string, p place) {
	from := origin{l.origin(p), l.doc.number, p, l.doc.isFlag}
	if from.isFlag {
		from.text = l.doc.name
	}
	l.places[path] = from
	for path != "" {
		path = parent(path)
		if _, known := l.places[path]; known {
			return
		}
		l.places[path] = from
	}
}

// parent returns the path of the section or list that path is in.
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

func (l *loader) file(v reflect.Value, o Options) error {
	l.open(o.File)
	n, err := l.doc.parse(o.Data)
	if err != nil || n.kind == null {
		return err
	}
	if n.kind != mapNode {
		return l.doc.wrong(n.place, "the file has no keys")
	}
	l.section(l.root, v, "", n)
	return nil
}

// fill gives v, which is at path, the value n. A null does not change it.
func (l *loader) fill(f *field, v reflect.Value, path string, n *node) error {
	if n.kind == null {
		return nil
	}
	if f.lone && n.kind == textNode {
		n = &node{kind: listNode, items: []*node{n}, place: n.place}
	}
	kind := [...]nodeKind{scalar: textNode, list: listNode, dict: mapNode, section: mapNode, sections: listNode}[f.shape]
	if n.kind != kind {
		return l.unfit(f, path, n, f.wantedText())
	}
	delete(l.failed, path)
	l.note(path, n.place)
	if f.shape != section {
		l.Origins[path] = l.origin(n.place)
	}
	switch f.shape {
	case scalar:
		return l.scalar(f, v, path, n)
	case section:
		l.section(f, v, path, n)
	case dict:
		l.dict(f, v, path, n)
	case list, sections:
		l.list(f, v, path, n)
	}
	return nil
}

func (l *loader) list(f *field, v reflect.Value, path string, n *node) {
	s := reflect.Zero(v.Type())
	if len(n.items) > 0 {
		s = reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		l.mistake(at, l.element(f, s.Index(i), at, item))
	}
	v.Set(s)
}

// element fills v, one element of the list f.
func (l *loader) element(f *field, v reflect.Value, path string, n *node) error {
	switch {
	case f.shape == list:
		return l.scalar(f, v, path, n)
	case n.kind != mapNode:
		return l.unfit(f, path, n, "a section with the keys "+f.keyList())
	}
	l.note(path, n.place)
	l.section(f, v, path, n)
	return nil
}

func (l *loader) section(f *field, v reflect.Value, path string, n *node) {
	for i, k := range n.keys {
		at, err := join(path, k.text), error(nil)
		if sub := f.find(k.text); sub == nil {
			err = l.doc.wrong(k.place, "%s", l.unknown(f, path, k.text))
		} else if item := n.items[i]; sub.lone && (item.kind == null || item.kind == listNode && len(item.items) != 2) {
			err = l.doc.wrong(k.place, "invalid %s: must be a name, or a list of a name and an address", at)
		} else {
			err = l.fill(sub, v.Field(sub.index), at, n.items[i])
		}
		l.mistake(at, err)
	}
}

func (l *loader) dict(f *field, v reflect.Value, path string, n *node) {
	m := reflect.Zero(v.Type())
	if len(n.keys) > 0 {
		m = reflect.MakeMap(v.Type())
	}
	for i, k := range n.keys {
		item := reflect.New(f.typ).Elem()
		at := join(path, k.text)
		l.mistake(at, l.scalar(f, item, at, n.items[i]))
		l.Origins[at] = l.origin(n.items[i].place)
		m.SetMapIndex(reflect.ValueOf(k.text).Convert(v.Type().Key()), item)
	}
	v.Set(m)
}

func (l *loader) scalar(f *field, v reflect.Value, path string, n *node) error {
	if n.kind != textNode {
		return l.unfit(f, path, n, wanted(f.typ).Error())
	}
	text := n.text
	if l.expand {
		var err error
		if text, err = expand(text, l.variables); err != nil {
			return l.doc.wrong(n.place, "%s: %w", shownKey(path), err)
		}
	}
	if f.secret && text == redacted {
		return l.doc.wrong(n.place, "%s is %s, which replaces a secret in output: must be the secret itself", shownKey(path), redacted)
	}
	if err := setText(v, text); err != nil {
		return l.unfit(f, path, n, err.Error())
	}
	return nil
}

// unfit returns an error for a value n that path does not accept. It has the
// value as written, not as expanded, and nothing that may be a secret.
func (l *loader) unfit(f *field, path string, n *node, want string) error {
	given := n.describe()
	if n.kind == textNode && (f.secret || f.shape >= section) {
		given = "a text"
	}
	return l.doc.wrong(n.place, "%s is %s: must be %s", shownKey(path), given, want)
}

func (f *field) wantedText() string {
	switch f.shape {
	case list:
		return "a list, each item " + wanted(f.typ).Error()
	case dict:
		return "names, each with " + wanted(f.typ).Error()
	case section:
		return "a section with the keys " + f.keyList()
	case sections:
		return "a list of sections with the keys " + f.keyList()
	}
	return wanted(f.typ).Error()
}

// keyList names the first keys of a section.
func (f *field) keyList() string {
	const few = 6
	var keys []string
	for _, sub := range f.fields {
		keys = append(keys, sub.key)
	}
	if len(keys) > few {
		return strings.Join(keys[:few], ", ") + ", ..."
	}
	return strings.Join(keys, ", ")
}

// unknown returns a message for a key that the section f at path does not have.
func (l *loader) unknown(f *field, path, key string) string {
	near := l.root.nearestField(f, key)
	if rest, inside := strings.CutPrefix(near, f.prefix()); inside {
		l.meant[path+rest] = true
	} else {
		l.meant[near] = true
	}
	return "unknown key " + shownKey(join(path, key)) + console.DidYouMean(near)
}

// shownKey returns a path of keys for a message. The last key may be any text
// of users, even a whole header: what follows a colon, an equals sign or a space
// may be its secret and is left out.
func shownKey(path string) string {
	if len(path) <= 2*maxKey && plainPath.MatchString(path) {
		return path
	}
	if i := strings.IndexAny(path, ":= "); i >= 0 {
		return shortQuote(path[:i]) + "…"
	}
	return shortQuote(path)
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_.[\]-]+$`)
