package config

import "symbolon/internal/console"

// maxKey is longer than a part of a key. Longer words are texts of users.
const maxKey = 64

// nearestField returns the path of the field that key below f most likely means,
// or nothing: a similar key of f, or else the only field of the same name.
func (root *field) nearestField(f *field, key string) string {
	var beside, others []string
	for _, sub := range f.fields {
		beside = append(beside, sub.key)
	}
	if near := console.Nearest(key, beside); near != "" {
		return join(f.prefix(), near)
	}
	root.walk(func(sub *field) {
		if sub.key == key {
			others = append(others, sub.path)
		}
	})
	if len(others) == 1 {
		return others[0]
	}
	return ""
}
