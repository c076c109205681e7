package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Print writes the configuration struct v, or the one that v points to, as a
// file that Load reads, without secrets. Each value has its origin in a comment,
// as in Loaded.Origins.
func Print(w io.Writer, v any, origins map[string]string) error {
	at := reflect.Indirect(reflect.ValueOf(v))
	p := &printer{origins: origins}
	p.section(schemaOf(at.Type()), at, "", "")
	_, err := w.Write(p.Bytes())
	return err
}

type printer struct {
	bytes.Buffer
	origins map[string]string
	brief   bool // omit empty values
}

// section writes the fields of v, which is at path, each line after indent.
func (p *printer) section(f *field, v reflect.Value, path, indent string) {
	for _, sub := range f.fields {
		if at := v.Field(sub.index); !p.brief || !empty(sub, at) {
			p.field(sub, at, join(path, sub.key), indent)
		}
	}
}

func (p *printer) field(f *field, v reflect.Value, path, indent string) {
	fmt.Fprintf(p, "%s%s:", indent, f.key)
	deeper := indent + "  "
	switch f.shape {
	case scalar:
		p.scalar(f, v, path)
	case section:
		p.WriteByte('\n')
		p.section(f, v, path, deeper)
	case dict:
		p.open(path, "{}", v.Len())
		for _, name := range sortedNames(v) {
			fmt.Fprintf(p, "%s%s:", deeper, quote(name))
			p.scalar(f, v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())), join(path, name))
		}
	case list:
		p.open(path, "[]", v.Len())
		for i := range v.Len() {
			fmt.Fprintf(p, "%s-", deeper)
			p.scalar(f, v.Index(i), path)
		}
	case sections:
		p.open(path, "[]", v.Len())
		for i := range v.Len() {
			p.element(f, v.Index(i), fmt.Sprintf("%s[%d]", path, i), deeper)
		}
	}
}

// open ends the line of a key whose value has n parts, which follow.
func (p *printer) open(path, empty string, n int) {
	if n == 0 {
		p.WriteString(" " + empty)
	}
	p.comment(path, true)
}

// element writes one of a list of sections: only what is not empty, because
// most keys of such a section belong to one kind of element.
func (p *printer) element(f *field, v reflect.Value, path, indent string) {
	inner := &printer{origins: p.origins, brief: true}
	deeper := indent + "  "
	inner.section(f, v, path, deeper)
	if inner.Len() == 0 {
		fmt.Fprintf(p, "%s- {}\n", indent)
		return
	}
	fmt.Fprintf(p, "%s- %s", indent, strings.TrimPrefix(inner.String(), deeper))
}

// empty reports whether v has no values.
func empty(f *field, v reflect.Value) bool {
	switch f.shape {
	case scalar:
		return v.IsZero() || text(v) == ""
	case section:
		for _, sub := range f.fields {
			if !empty(sub, v.Field(sub.index)) {
				return false
			}
		}
		return true
	}
	return v.Len() == 0
}

func (p *printer) scalar(f *field, v reflect.Value, path string) {
	text, whole := f.shown(v)
	p.WriteString(" " + f.quoted(text))
	p.comment(path, whole)
}

// comment ends a line with the origin of the value at path.
func (p *printer) comment(path string, whole bool) {
	origin := cmp.Or(p.origins[path], "default")
	if !whole {
		origin += ", its secrets left out"
	}
	p.WriteString(" # " + strings.Map(oneLine, origin) + "\n")
}

// sortedNames returns the keys of the map v.
func sortedNames(v reflect.Value) []string {
	names := make([]string, 0, v.Len())
	for _, k := range v.MapKeys() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}
