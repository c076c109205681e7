package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"symbolon/internal/fault"
)

type nodeKind uint8

const (
	null nodeKind = iota
	textNode
	listNode
	mapNode
)

// node is one value of a document. An alias is a copy of the value of its
// anchor.
type node struct {
	kind  nodeKind
	text  string // of a textNode: as written, whatever type YAML gives it
	place place
	keys  []key   // of a mapNode
	items []*node // of a mapNode in the order of keys, of a listNode
}

type key struct {
	text  string
	place place
}

// place is the position of a node in its document. The zero place is the whole
// document.
type place struct{ line, column int }

// describe returns the value of n, or its kind, for a message.
func (n *node) describe() string {
	switch n.kind {
	case listNode:
		return "a list"
	case mapNode:
		return "a section"
	case null:
		return "empty"
	}
	return shortQuote(n.text)
}

// shortQuote quotes text of users for a message.
func shortQuote(text string) string { return fmt.Sprintf("%.60q", text) }

// mistake is an error of a document.
type mistake struct {
	error
	document int
	place    place
	isFlag   bool // of a value of a flag, whatever files and folders there are
}

func (m mistake) Unwrap() error { return m.error }

// origin is where a value was written.
type origin struct {
	text     string // for people
	document int
	place    place
	isFlag   bool
}

// document reads one YAML text.
type document struct {
	name   string // for messages
	number int    // orders the documents of a Load
	isFlag bool   // it is the value of a flag

	aliases map[*yaml.Node]bool // anchors whose aliases are being copied
}

// at returns the name of p for messages.
func (d *document) at(p place) string {
	if p.line == 0 {
		return d.name
	}
	return fmt.Sprintf("%s:%d:%d", d.name, p.line, p.column)
}

func (d *document) wrong(p place, format string, args ...any) error {
	return mistake{fault.New(fault.Malformed, d.at(p), format, args...), d.number, p, d.isFlag}
}

// parse reads a text of one document. An empty document is a null.
func (d *document) parse(text []byte) (*node, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, d.wrong(place{}, "%w", err)
	}
	d.aliases = make(map[*yaml.Node]bool)
	root := &node{}
	for {
		var doc yaml.Node
		if err := loader.Load(&doc); err == io.EOF {
			return root, nil
		} else if err != nil {
			return nil, d.syntaxError(err, text)
		}
		body, err := d.convert(doc.Content[0])
		switch {
		case err != nil:
			return nil, err
		case body.kind == null:
		case root.kind != null:
			return nil, d.wrong(place{doc.Line, doc.Column}, "a second document; one is read")
		default:
			root = body
		}
	}
}

// syntaxError returns an error of the YAML library with our place. Messages of
// its scanner and parser are constant. Those of its composer, which resolves
// aliases, quote the text, which may be a secret without its quotes.
func (d *document) syntaxError(err error, text []byte) error {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		return d.wrong(place{}, "invalid YAML")
	}
	at, from := place{e.Mark.Line, e.Mark.Column}, place{e.ContextMark.Line, e.ContextMark.Column}
	if before := text[:min(e.Mark.Index, len(text))]; e.Stage == yaml.ReaderStage {
		start := bytes.LastIndexByte(before, '\n') + 1
		at = place{1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])}
	}
	switch {
	case e.Stage == yaml.ComposerStage, e.ContextMsg == "while scanning an alias":
		return d.wrong(at, "an alias without an anchor before it; a value that begins with * needs quotes")
	case from == place{}, from == at:
		return d.wrong(at, "%s", e.Message)
	case e.Mark.Index >= len(text): // the end is not the place to look at
		return d.wrong(from, "%s %s", e.Message, e.ContextMsg)
	}
	return d.wrong(at, "%s %s that begins at %d:%d", e.Message, e.ContextMsg, from.line, from.column)
}

// convert makes a node of a node of the library.
func (d *document) convert(n *yaml.Node) (*node, error) {
	at := place{n.Line, n.Column}
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 {
		at = place{n.Content[0].Line, n.Content[0].Column} // not that of its anchor
	}
	switch {
	case n.Style&yaml.TaggedStyle != 0 || n.Tag == "!":
		return nil, d.wrong(at, "a tag; values are written without")
	case n.Anchor != "" && n.Tag == "!!null":
		return nil, d.wrong(at, "an anchor without a value; a value that begins with & needs quotes")
	case n.Kind == yaml.AliasNode:
		return d.convertAlias(n)
	case n.Kind == yaml.SequenceNode:
		return d.convertList(n, at)
	case n.Kind == yaml.MappingNode:
		return d.convertMap(n, at)
	case n.Tag == "!!null":
		return &node{place: at}, nil
	}
	return &node{kind: textNode, text: n.Value, place: at}, nil
}

func (d *document) convertAlias(n *yaml.Node) (*node, error) {
	if d.aliases[n.Alias] {
		return nil, d.wrong(place{n.Line, n.Column}, "the value of the anchor has an alias of itself")
	}
	d.aliases[n.Alias] = true
	defer delete(d.aliases, n.Alias)
	return d.convert(n.Alias)
}

func (d *document) convertList(n *yaml.Node, at place) (*node, error) {
	out := &node{kind: listNode, place: at}
	for _, v := range n.Content {
		item, err := d.convert(v)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

// convertMap makes a node of key-value pairs. The pairs of merge keys follow
// them, except for those whose key is there already.
func (d *document) convertMap(n *yaml.Node, at place) (*node, error) {
	out := &node{kind: mapNode, place: at}
	known := make(map[string]bool)
	add := func(k key, v *node) {
		if !known[k.text] {
			known[k.text] = true
			out.keys, out.items = append(out.keys, k), append(out.items, v)
		}
	}
	var merged []*node
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i]
		k := key{name.Value, place{name.Line, name.Column}}
		if name.Kind != yaml.ScalarNode || name.Style&yaml.TaggedStyle != 0 {
			return nil, d.wrong(k.place, "a key must be a plain word")
		}
		value, err := d.convert(n.Content[i+1])
		switch {
		case err != nil:
			return nil, err
		case name.Tag == "!!merge" && value.kind == listNode:
			merged = append(merged, value.items...)
		case name.Tag == "!!merge":
			merged = append(merged, value)
		case known[k.text]:
			return nil, d.wrong(k.place, "key %s for the second time", shownKey(k.text))
		default:
			add(k, value)
		}
	}
	for _, m := range merged {
		if m.kind != mapNode {
			return nil, d.wrong(m.place, "a merge key takes a section, or a list of sections")
		}
		for i, k := range m.keys {
			add(k, m.items[i])
		}
	}
	return out, nil
}
