package elastic

import (
	"cmp"
	"errors"
	"fmt"

	"symbolon/internal/bin"
	"symbolon/internal/ingest/symbfile"
	"symbolon/internal/token"
)

// Config configures the door. The zero value is the default.
type Config struct {
	APIKeys      []bin.Secret    `yaml:"api_keys" help:"Keys for uploads to the project default, each the base64 of ID:SECRET, in addition to those of symbolon token add. Without any token every upload of symbfiles is refused."`
	ReadKeys     []bin.Secret    `yaml:"read_keys" help:"Keys that may only read the project default, in the same form. None: every client may read it, until such a token is added."`
	Store        string          `yaml:"store" help:"Former name of state."`
	MaxAddresses int             `yaml:"max_addresses" least:"-1" help:"Addresses that one request may look up. -1: no limit."`
	Uploads      symbfile.Config `yaml:"uploads" help:"Limits of uploads."`
}

// Defaults returns c with default values for its zero fields.
func (c Config) Defaults() Config {
	c.MaxAddresses = cmp.Or(c.MaxAddresses, 2_000_000)
	return c
}

// Tokens returns the keys of the configuration.
func (c Config) Tokens() []token.Token {
	var all []token.Token
	for i, k := range c.APIKeys {
		all = append(all, token.Fixed(k.Reveal(), token.Key(fmt.Sprintf("elastic.api_keys[%d]", i), token.Upload)))
	}
	for i, k := range c.ReadKeys {
		all = append(all, token.Fixed(k.Reveal(), token.Key(fmt.Sprintf("elastic.read_keys[%d]", i), token.Read)))
	}
	return all
}

// Validate returns an error if a field of c is invalid.
func (c Config) Validate() error {
	var errs []error
	for name, list := range map[string][]bin.Secret{"api_keys": c.APIKeys, "read_keys": c.ReadKeys} {
		for i, k := range list {
			if _, ok := token.Decode(k.Reveal()); !ok {
				errs = append(errs, fmt.Errorf("%s[%d] is not a key: must be the base64 of ID:SECRET", name, i))
			}
		}
	}
	return errors.Join(errs...)
}
