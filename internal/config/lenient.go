package config

import (
	"fmt"
	"reflect"

	"symbolon/internal/source"
)

// theirSources sets our sources to those of Symbolicator's file, without the
// settings that Symbolicator ignores and ours do not have. Each omission and
// change is a notice.
func (l *loader) theirSources(v reflect.Value, n *node) error {
	const path = "sources"
	f := l.root.find(path)
	for _, item := range n.items {
		l.dropKeys(f, path, item)
	}
	if err := l.put(v, path, n); err != nil || n.kind == null {
		return err
	}
	list := v.Field(f.index).Interface().([]source.Config)
	taken := make(map[string]bool, len(list))
	for i := range list {
		taken[list[i].ID] = true
	}
	seen := make(map[string]bool, len(list))
	for i := range list {
		note := func(format string, args ...any) {
			at := fmt.Sprintf("%s: %s[%d]: ", l.origin(n.items[i].place), path, i)
			l.Notices = append(l.Notices, at+fmt.Sprintf(format, args...))
		}
		lenient, left := list[i].Lenient()
		for _, text := range left {
			note("%s, and is left out", text)
		}
		// Ids tell sources apart in tokens, answers and metrics.
		if id := lenient.ID; seen[id] && id != "" {
			for number := 2; taken[lenient.ID]; number++ {
				lenient.ID = fmt.Sprintf("%s-%d", id, number)
			}
			note("it has the id of an earlier one, %s, and is called %s here", shortQuote(id), shortQuote(lenient.ID))
		}
		taken[lenient.ID], seen[lenient.ID] = true, true
		list[i] = lenient
	}
	return nil
}
