package shared

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Config of the tier, and of its bucket. The zero value is off. The keys of the
// bucket are named as those of sources.
type Config struct {
	Path           string        `yaml:"path" help:"Folder through which nodes share finished tables, created if it is missing. Without a path and a bucket nothing is shared this way."`
	Type           string        `yaml:"type" oneof:"s3 gcs" help:"Type of the bucket: s3, S3 or a store with its protocol and If-None-Match; gcs, Google Cloud Storage."`
	Bucket         string        `yaml:"bucket" help:"Name of the bucket through which nodes share finished tables."`
	Prefix         string        `yaml:"prefix" help:"Folder in the bucket; empty: the whole bucket."`
	Region         string        `yaml:"region" help:"Region of an s3 bucket."`
	Endpoint       string        `yaml:"endpoint" help:"Address of a store other than AWS, with the bucket in the path; for gcs another address of the service."`
	Provider       string        `yaml:"aws_credentials_provider" help:"Source of the credentials for s3: static, the keys here; container, the agent of the container (ECS, EKS); instance, the metadata service of the machine; web_identity, a token in a file; ambient, the sources of the AWS command line: variables, profiles (SSO, roles, processes), then those three."`
	AccessKey      bin.Secret    `yaml:"access_key" help:"Access key for s3."`
	SecretKey      bin.Secret    `yaml:"secret_key" help:"Secret key for s3."`
	SessionToken   bin.Secret    `yaml:"session_token" help:"Session token that belongs to the keys for s3, if they are temporary."`
	GoogleProvider string        `yaml:"gcs_credentials_provider" help:"Source of the credentials for gcs: static, the keys here; ambient, the file that GOOGLE_APPLICATION_CREDENTIALS names, else a login with gcloud, else the metadata service of the machine."`
	ClientEmail    string        `yaml:"client_email" help:"Service account for gcs."`
	PrivateKey     bin.Secret    `yaml:"private_key" help:"Private key of the service account, in PEM."`
	BearerToken    bin.Secret    `yaml:"bearer_token" help:"Token for gcs, instead of a service account."`
	Timeout        time.Duration `yaml:"timeout" least:"1ms" help:"How long to wait for the first bytes of an answer before it counts as a miss."`
	FetchTimeout   time.Duration `yaml:"fetch_timeout" help:"How long reading or writing a whole entry may take."`
	Negatives      time.Duration `yaml:"negatives" least:"0" help:"Longest time for which a failure to get a file is shared; 0: not at all."`
	MaxEntry       bin.Size      `yaml:"max_entry" least:"0" help:"Size of the largest table that is shared, as it is on disk."`
}

// Defaults returns c with its zero fields filled in.
func (c Config) Defaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 500*time.Millisecond)
	c.FetchTimeout = cmp.Or(c.FetchTimeout, time.Minute)
	c.MaxEntry = cmp.Or(c.MaxEntry, 1<<30)
	return c
}

// On reports whether the tier is used.
func (c Config) On() bool { return c.Path != "" || c.Bucket != "" }

// Validate returns an error for each invalid field of c, but those that the
// bucket itself checks.
func (c Config) Validate() error {
	c = c.Defaults()
	var errs []error
	if c.FetchTimeout < c.Timeout {
		errs = append(errs, fmt.Errorf("fetch_timeout is %v: must be at least the timeout, %v", c.FetchTimeout, c.Timeout))
	}
	switch prefix := strings.Trim(c.Prefix, "/"); {
	case len(prefix) > bucket.MaxKey/2:
		errs = append(errs, fmt.Errorf("prefix has %d bytes: must have at most %d", len(prefix), bucket.MaxKey/2))
	case prefix != "":
		if err := bucket.Check(prefix); err != nil {
			errs = append(errs, fmt.Errorf("prefix: %s", fault.Of(err).Detail))
		}
	}
	return errors.Join(errs...)
}
