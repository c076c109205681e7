package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"symbolon/internal/api"
	"symbolon/internal/api/debuginfod"
	"symbolon/internal/api/elastic"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/api/otlp"
	"symbolon/internal/api/profiler"
	"symbolon/internal/api/sentry"
	"symbolon/internal/api/tecken"
	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/cache/redis"
	"symbolon/internal/cache/shared"
	"symbolon/internal/crash"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
	"symbolon/internal/store"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
)

// Config is the whole configuration. The zero value, with its defaults, is a
// server that asks no source.
type Config struct {
	Data        string             `yaml:"data" help:"Data directory, which contains the cache. Default: symbolon in the user's cache directory."`
	State       string             `yaml:"state" help:"Place of uploads and tokens, which is never cleaned: a folder, or the id of a source of the layout elastic, a folder or a bucket, which several nodes may share. Default: store in the data directory if data is set, else symbolon/store in the user's state folder."`
	Memory      bin.Size           `yaml:"memory" least:"64MiB" help:"Memory for open tables (half of it), for building tables (a quarter) and for requests (a quarter). Default: a quarter of the memory of the machine or container, at most 1GiB."`
	Log         Log                `yaml:"log" help:"The log on stderr."`
	HTTP        api.Config         `yaml:"http" help:"The port, and limits for all requests."`
	Access      api.AccessConfig   `yaml:"access" help:"Access control."`
	Mozilla     mozilla.Config     `yaml:"mozilla" help:"The interfaces of Mozilla's symbolication service."`
	Profiler    profiler.Config    `yaml:"profiler" help:"Source code and disassembly for the Firefox Profiler."`
	Sentry      sentry.Config      `yaml:"sentry" help:"The interfaces of Sentry's symbolication service."`
	Elastic     elastic.Config     `yaml:"elastic" help:"The interfaces of Elastic's profilers."`
	Debuginfod  debuginfod.Config  `yaml:"debuginfod" help:"The interface of debuginfod for debuggers."`
	OTLP        otlp.Config        `yaml:"otlp" help:"The interface for profilers that send OpenTelemetry's profiles."`
	Uploads     store.Config       `yaml:"uploads" help:"Uploaded debug files."`
	Tecken      tecken.Config      `yaml:"tecken" help:"The interface of Mozilla's symbol server for uploads."`
	Sources     []source.Config    `yaml:"sources" help:"Sources of symbols, in the order in which they are asked. The objects are those of Symbolicator."`
	Network     web.Config         `yaml:"network" help:"Connections to symbol servers."`
	Cache       Cache              `yaml:"cache" help:"Caches of files and of answers of sources."`
	Locate      locate.Config      `yaml:"locate" help:"The search for the file of a module."`
	Table       table.Config       `yaml:"table" help:"Lookup tables, which are built from symbol files."`
	Symbolicate symbolicate.Config `yaml:"symbolicate" help:"Limits of one request."`
	Crash       crash.Config       `yaml:"crash" help:"Crash files."`
	Batches     []string           `yaml:"batches" help:"Destinations of symbolon batch, with the job: folders, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX. A page of the server shows their progress; they are only read."`
}

// Log configures the log.
type Log struct {
	Level  string `yaml:"level" oneof:"debug info warn error" help:"The lowest level that is logged: debug, info, warn or error."`
	Format string `yaml:"format" oneof:"text json" help:"text for people, json for machines."`
}

// Cache is all that the caches need.
type Cache struct {
	Lifetimes cache.Config  `yaml:"lifetimes" help:"Lifetimes of cached results."`
	Disk      disk.Config   `yaml:"disk" help:"The cache in the data directory."`
	Redis     redis.Config  `yaml:"redis" help:"A cache that several nodes share."`
	Shared    shared.Config `yaml:"shared" help:"A bucket or a folder that several nodes share: larger and slower than Redis, and used after it if there are both."`
}

// Bucket returns the place of c.Shared as the configuration of a source.
func (c Cache) Bucket() source.Config {
	s := c.Shared
	out := source.Config{
		ID: "cache.shared", Type: s.Type, Path: s.Path, Bucket: s.Bucket, Prefix: s.Prefix,
		Provider: s.Provider, AccessKey: s.AccessKey, SecretKey: s.SecretKey, SessionToken: s.SessionToken,
		GoogleProvider: s.GoogleProvider, ClientEmail: s.ClientEmail, PrivateKey: s.PrivateKey, BearerToken: s.BearerToken,
	}
	switch {
	case s.Path != "" && s.Type == "":
		out.Type = source.Filesystem
	case s.Type == source.GCS:
		out.URL = source.NewURL(s.Endpoint)
	case s.Endpoint != "":
		out.Region = source.Region{s.Region, s.Endpoint}
	}
	if s.Region != "" && out.Region == nil {
		out.Region = source.Region{s.Region}
	}
	return out
}

// Validate checks the place of the shared cache.
func (c Cache) Validate() error {
	place := c.Bucket()
	if reflect.DeepEqual(place, source.Config{ID: place.ID}) || !slices.Contains([]string{"", source.Filesystem, source.S3, source.GCS}, place.Type) {
		return nil // it is off, or refused by c.Shared
	}
	var errs []error
	for _, err := range place.Mistakes() {
		errs = append(errs, fmt.Errorf("shared: %w", err))
	}
	return errors.Join(errs...)
}

// Defaults returns l with its zero fields filled in.
func (l Log) Defaults() Log {
	l.Level = cmp.Or(l.Level, "info")
	l.Format = cmp.Or(l.Format, "text")
	return l
}

// Validate checks the rules that concern several sections of c.
func (c Config) Validate() error {
	var errs []error
	first := make(map[string]int)
	for i, s := range c.Sources {
		if j, twice := first[s.ID]; twice && s.ID != "" {
			errs = append(errs, fmt.Errorf("sources[%d].id is %s: sources[%d] has this id too", i, shortQuote(s.ID), j))
		} else if !twice {
			first[s.ID] = i
		}
	}
	return errors.Join(append(errs, c.validState()...)...)
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.State = cmp.Or(c.State, c.Elastic.Store) // the old name
	return c
}

// StateSource returns the index of the source that State names, or -1.
func (c Config) StateSource() int {
	return slices.IndexFunc(c.Sources, func(s source.Config) bool { return c.State != "" && s.ID == c.State })
}

// validState checks that State is a place that can keep uploads.
func (c Config) validState() (errs []error) {
	key := "state"
	switch c = c.Defaults(); {
	case c.State == "":
		return nil
	case c.Elastic.Store == c.State:
		key = "elastic.store"
	case c.Elastic.Store != "":
		errs = append(errs, errors.New("elastic.store is the old name of state, and differs from it: leave elastic.store out"))
	}
	i := c.StateSource()
	nameless := slices.ContainsFunc(c.Sources, func(s source.Config) bool { return s.ID == "" })
	if i < 0 {
		if !nameless && !strings.ContainsAny(c.State, `/\`) {
			errs = append(errs, fmt.Errorf("%s is %s: must be the id of one of the sources, or a folder such as ./uploads", key, shortQuote(c.State)))
		}
		return errs
	}
	s := c.Sources[i].Defaults()
	if s.Layout.Type != source.Elastic || s.Type != source.Filesystem && s.Type != source.S3 && s.Type != source.GCS {
		errs = append(errs, fmt.Errorf("%s is sources[%d]: must be a folder or a bucket of the layout %s", key, i, source.Elastic))
	}
	return errs
}
