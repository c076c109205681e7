// Package config has the configuration of the server: one struct made of the Config
// structs of the other packages, with functions that read and print it. It does not
// construct the configured parts.
//
// # The way in
//
// [Load] fills any such struct from, in rising order of precedence, its defaults, a YAML
// file, environment variables and assignments KEY=VALUE of flags. It is driven by the
// struct alone: the yaml tag of a field is its key, the help tag its documentation,
// `secret:"true"` keeps its value out of every output, `least:"1"` and `oneof:"a b"`
// bound its values besides zero, and methods Defaults and Validate, where a type has
// them, are called for every struct at any depth. [Read] is Load for [Config].
//
// The file is read strictly. An unknown key, a value of the wrong type, a tag, a second
// document is a *fault.Error whose place is file, line and column and whose detail names
// the key by its path. Reading continues after a mistake, and all sections are validated,
// so that all mistakes are listed at once. The texts of Validate begin with the key that
// they are about and name the other keys that they depend on; a text that names a key
// with a mistake is omitted, because it may be a consequence of that mistake.
//
// In texts of the file, ${NAME} is the value of a variable, which must exist,
// ${NAME:-text} has a default for a missing or empty variable, and $${ is the text ${
// itself. A key with the value null is treated as missing. Anchors, aliases and merge
// keys work.
//
// The variable of a key is its path in upper case, joined by "_", after SYMBOLON_. In
// variables and assignments, lists are separated by commas, maps are NAME=VALUE separated
// by commas, and both may be written as YAML in [] or {}, which is the only way for lists
// of sections. An empty variable is treated as not set. A variable that starts with
// SYMBOLON_ and belongs to no key is a notice, not an error.
//
// # The way out
//
// [Print] writes the effective configuration as a file that Load would read,
// and where each value came from; [Keys] lists all keys, [Reference] writes
// the reference page. None of them shows a secret.
//
// All functions may be called concurrently, for different destinations.
package config
