package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// The limits of one document. The parser takes quadratic time and deep
// recursion for some inputs, so all of them are checked before it starts.
const (
	maxBytes   = 1 << 20
	maxTokens  = 1 << 15
	maxAnchors = 1 << 10
	maxLevels  = 32
	maxMerged  = 1 << 18
)

type nodeKind uint8

const (
	null nodeKind = iota
	textNode
	listNode
	mapNode
)

// node is one value of a document. Aliases share the node of their anchor.
type node struct {
	kind  nodeKind
	text  string // of a textNode: as written, whatever YAML thinks that it is
	place place
	keys  []key   // of a mapNode
	items []*node // of a mapNode in the order of keys, of a listNode
}

type key struct {
	text  string
	place place
}

// place is where a node stands in its document; the zero place is the whole
// of it.
type place struct{ line, column int }

// describe says what n is where it is not what was wanted.
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

// shortQuote quotes text, which somebody else chose, for a message.
func shortQuote(text string) string { return fmt.Sprintf("%.60q", text) }

// document is one YAML text and what is needed to read it.
type document struct {
	name    string // for messages
	number  int    // among the documents that are read
	anchors map[string]*node
	merged  int // keys that merge keys brought
}

// at is the name of p for messages.
func (d *document) at(p place) string {
	if p.line == 0 {
		return d.name
	}
	return fmt.Sprintf("%s:%d:%d", d.name, p.line, p.column)
}

func (d *document) wrong(p place, format string, args ...any) error {
	return mistake{fault.New(fault.Malformed, d.at(p), format, args...), d.number, p}
}

// parse reads a text of one document. An empty one is a null.
func (d *document) parse(text []byte) (*node, error) {
	if len(text) > maxBytes {
		return nil, d.wrong(place{}, "it has %d bytes; the limit is %v", len(text), bin.Size(maxBytes))
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, d.wrong(place{}, "it is not UTF-8 text")
	}
	tokens := lexer.Tokenize(string(text))
	if err := d.bound(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	var explained yaml.Error
	switch {
	case errors.As(err, &explained) && explained.GetToken() != nil:
		return nil, d.wrong(placeOf(explained.GetToken()), "%s", unquoted(explained.GetMessage()))
	case err != nil:
		return nil, d.wrong(place{}, "%w", err)
	}
	var root *node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, d.wrong(placeOf(doc.Start), "a second document; one is read")
		}
		if root, err = d.convert(doc.Body, 0); err != nil {
			return nil, err
		}
	}
	if root == nil {
		return &node{}, nil
	}
	return root, nil
}

// unquoted is a message of the YAML library up to where it quotes more of the
// text than a character: that may be a secret whose quotes were forgotten.
func unquoted(message string) string {
	if strings.HasPrefix(message, "mapping key ") {
		return "a key for the second time"
	}
	end := len(message)
	for i := 0; i < end; i++ {
		switch c := message[i]; {
		case c == '\'' && i+2 < end && message[i+2] == c:
			i += 2
		case c == '\'' || c == '"' || c == '`' || c == ':':
			end = i
		}
	}
	return fmt.Sprintf("%.100s", strings.Map(oneLine, strings.TrimSpace(message[:end])))
}

// bound refuses what is too large or too deep for the parser.
func (d *document) bound(tokens token.Tokens) error {
	if len(tokens) > maxTokens {
		return d.wrong(place{}, "it has %d YAML tokens; the limit is %d", len(tokens), maxTokens)
	}
	anchors, flow, dashes, line := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType:
			anchors++
		case token.SequenceEntryType, token.MappingKeyType, token.TagType:
			dashes++
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		}
		if flow > maxLevels || dashes > maxLevels {
			return d.wrong(placeOf(t), "more than %d levels", maxLevels)
		}
		if anchors > maxAnchors {
			return d.wrong(placeOf(t), "more than %d anchors", maxAnchors)
		}
	}
	return nil
}

func placeOf(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{}
	}
	return place{t.Position.Line, t.Position.Column}
}

// convert makes our node of the parser's.
func (d *document) convert(n ast.Node, depth int) (*node, error) {
	at := placeOf(n.GetToken())
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		at = placeOf(m.Values[0].Key.GetToken()) // the parser's is the first colon
	}
	if depth > maxLevels {
		return nil, d.wrong(at, "more than %d levels", maxLevels)
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{place: at}, nil
	case *ast.StringNode:
		return &node{kind: textNode, text: n.Value, place: at}, nil
	case *ast.LiteralNode:
		return &node{kind: textNode, text: n.Value.Value, place: at}, nil
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: textNode, text: n.GetToken().Value, place: at}, nil
	case *ast.SequenceNode:
		return d.convertList(n, at, depth)
	case *ast.MappingNode:
		return d.convertMap(n.Values, at, depth)
	case *ast.AnchorNode:
		named, err := d.convert(n.Value, depth)
		if err == nil {
			d.anchors[n.Name.GetToken().Value] = named
		}
		return named, err
	case *ast.AliasNode:
		// An anchor is known once its value ended, so no alias is inside of
		// what it stands for.
		if named := d.anchors[n.Value.GetToken().Value]; named != nil {
			return named, nil
		}
		return nil, d.wrong(at, "there is no anchor of this name before the alias; a value that begins with * needs quotes")
	case *ast.TagNode:
		return nil, d.wrong(at, "a tag; values are written without")
	}
	return nil, d.wrong(at, "%s is nothing that a configuration has", n.Type().YAMLName())
}

func (d *document) convertList(n *ast.SequenceNode, at place, depth int) (*node, error) {
	out := &node{kind: listNode, place: at}
	for _, v := range n.Values {
		item, err := d.convert(v, depth+1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

// convertMap makes a node of key-value pairs. What a merge key brings stands
// behind them, unless a pair has its key.
func (d *document) convertMap(pairs []*ast.MappingValueNode, at place, depth int) (*node, error) {
	out := &node{kind: mapNode, place: at}
	known := make(map[string]bool)
	add := func(k key, v *node) {
		if !known[k.text] {
			known[k.text] = true
			out.keys, out.items = append(out.keys, k), append(out.items, v)
		}
	}
	var merged []*node
	for _, pair := range pairs {
		value, err := d.convert(pair.Value, depth+1)
		if err != nil {
			return nil, err
		}
		k := key{place: placeOf(pair.Key.GetToken())}
		switch name := pair.Key.(type) {
		case *ast.MergeKeyNode:
			merged = append(merged, value)
			continue
		case *ast.StringNode:
			k.text = name.Value
		case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.NullNode:
			k.text = name.GetToken().Value
		default:
			return nil, d.wrong(k.place, "a key must be a plain word")
		}
		if known[k.text] {
			return nil, d.wrong(k.place, "key %s for the second time", shownKey(k.text))
		}
		add(k, value)
	}
	for _, m := range merged {
		maps := []*node{m}
		if m.kind == listNode {
			maps = m.items
		}
		for _, m := range maps {
			if m.kind != mapNode {
				return nil, d.wrong(m.place, "a merge key takes a section, or a list of sections")
			}
			if d.merged += 1 + len(m.keys); d.merged > maxMerged {
				return nil, d.wrong(at, "merge keys bring more than %d keys", maxMerged)
			}
			for i, k := range m.keys {
				add(k, m.items[i])
			}
		}
	}
	return out, nil
}
