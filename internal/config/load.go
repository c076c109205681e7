package config

import "reflect"

// Load fills the configuration struct that dst points to, applies defaults and validates
// it. Values in dst count as defaults. After an error, dst has the valid part. The error
// is a *fault.Error, or one for each mistake, joined: first those of the file in its
// order, then those of variables and flags. It is a *FlagError if only values of flags
// are invalid.
func Load(dst any, o Options) (*Loaded, error) {
	v := reflect.ValueOf(dst).Elem()
	l := &loader{
		root: schemaOf(v.Type()), variables: variables(o.Environ),
		places: make(map[string]origin), failed: make(map[string]bool), meant: make(map[string]bool),
	}
	l.Origins = make(map[string]string)
	l.mistake("", l.file(v, o))
	l.mistake("", l.foreignFile(v, o))
	l.foreign(v, o)
	l.environ(v, o)
	l.sets(v, o)
	l.sources(v, o)
	l.fillDefaults(v)
	l.validate(l.root, v, "")
	if c, ok := v.Interface().(Config); ok && o.Check != nil && !l.failed[""] {
		l.isCheck = true
		l.invalid(l.root, "", o.Check(c))
	}
	return &l.Loaded, l.all()
}

// Read reads the whole configuration: it is Load for Config, with the variables of Eliot
// that have a counterpart. After an error, the configuration has the valid part.
func Read(o Options) (*Config, *Loaded, error) {
	foreign, notices := eliot(o.Environ)
	o.Foreign = append(foreign, o.Foreign...)
	var c Config
	loaded, err := Load(&c, o)
	loaded.Notices = append(notices, loaded.Notices...)
	if from := loaded.Origins["elastic.store"]; from != "" {
		loaded.Origins["state"] = from
		delete(loaded.Origins, "elastic.store")
	}
	c.Elastic.Store = ""
	return &c, loaded, err
}
