package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Reference writes the reference page of Config, in Markdown.
func Reference(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(introduction)
	root := schemaOf(reflect.TypeFor[Config]())
	root.reference(&b, root.defaults())
	b.WriteString("\n## Variables of Eliot\n\nThese are read too, with less priority than Symbolon's own variables. Other variables that begin with `ELIOT_` are ignored. Each is reported in the log.\n\n| Variable | Key |\n|---|---|\n")
	for _, c := range counterparts {
		note := ""
		if c.name == portVariable {
			note = ", on all interfaces; only if one of the others is set"
		}
		fmt.Fprintf(&b, "| `%s` | `%s`%s |\n", c.name, c.key, note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

const introduction = `# Configuration

The server needs no configuration. Values come from these places, in increasing priority: the defaults below, the file of ` + "`--config`" + `, environment variables, flags. ` + "`--set KEY=VALUE`" + ` sets any key. ` + "`symbolon config print`" + ` shows every value and where it was set.

The file is YAML. Keys of a section are indented below it: ` + "`cache.disk.max_bytes`" + ` is ` + "`max_bytes`" + ` in ` + "`disk`" + ` in ` + "`cache`" + `. Unknown keys are errors. In values, ` + "`${NAME}`" + ` is the value of a variable, ` + "`${NAME:-text}`" + ` the same with a default for an unset or empty variable, and ` + "`$${`" + ` is a literal ` + "`${`" + `.

In variables and flags, elements of lists are separated by commas; lists of sections are written as YAML: ` + "`SYMBOLON_SOURCES='[{id: a, type: http, url: https://example.org/}]'`" + `. An empty variable is treated as unset.

A size is a number of bytes with a unit: ` + "`64MiB`, `10GB`" + `. A duration is ` + "`30s`, `10m`, `1h30m`, `7d`" + `. Zero and an empty value mean the default.
`

// reference writes the table of the section f, whose defaults v has, and then
// those of the sections in it.
func (f *field) reference(b *bytes.Buffer, v reflect.Value) {
	rows := 0
	for _, sub := range f.fields {
		if sub.shape == section {
			continue
		}
		if rows++; rows == 1 {
			fmt.Fprintf(b, "\n## %s\n\n", cmp.Or(f.prefix(), "Top level"))
			if f.help != "" {
				fmt.Fprintf(b, "%s\n\n", f.help)
			}
			b.WriteString("| Key | Type | Default | Variable | Meaning |\n|---|---|---|---|---|\n")
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", code(sub.path), sub.typeText(),
			code(sub.flowText(v.Field(sub.index))), code(sub.variable()), cell(sub.help))
	}
	for _, sub := range f.fields {
		switch sub.shape {
		case section:
			sub.reference(b, v.Field(sub.index))
		case sections:
			sub.reference(b, sub.defaults())
		}
	}
}

// cell returns text for a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// code returns text as code in a table; no text is an empty cell.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + cell(text) + "`"
}
