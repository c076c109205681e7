package source

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"symbolon/internal/bin"
)

// Fingerprint returns a text that differs for different configurations, and for
// different secrets, without having the secrets.
func (c Config) Fingerprint() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("source: encode the configuration: " + err.Error())
	}
	return string(text) + CredentialID(secrets(nil, reflect.ValueOf(c))...)
}

// secrets appends all secrets in v, empty ones too, so that each has a fixed
// position.
func secrets(list []bin.Secret, v reflect.Value) []bin.Secret {
	switch x := v.Interface().(type) {
	case bin.Secret:
		return append(list, x)
	case URL:
		return append(list, x.full)
	case map[string]bin.Secret:
		for _, name := range sortedKeys(x) {
			list = append(list, bin.NewSecret(name), x[name])
		}
		return list
	}
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			list = secrets(list, v.Field(i))
		}
	}
	return list
}

func sortedKeys(m map[string]bin.Secret) []string { return slices.Sorted(maps.Keys(m)) }
