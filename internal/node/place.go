package node

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
	"symbolon/internal/source"
)

// OpenPlace opens s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or a folder, which it creates if
// isOutput is set. The credentials and the address of a bucket come from a source with
// this bucket or from the shared cache, and otherwise from where AWS's and Google's own
// tools find them.
func (n *Node) OpenPlace(place string, isOutput bool) (bucket.Bucket, error) {
	c := source.Config{Type: source.Filesystem, Path: place}
	if scheme, rest, ok := strings.Cut(place, "://"); ok {
		if c = n.objects(map[string]string{"s3": source.S3, "gs": source.GCS}[scheme], rest); c.Type == "" {
			return nil, fault.New(fault.Malformed, source.CleanURL(place), "invalid scheme: must be s3 or gs")
		}
	}
	switch {
	case isOutput:
		return openWritable(c, n.cfg.Network, n.client)
	case c.Type == source.Filesystem:
		return dir.OpenFollowing(place)
	}
	return openBucket(c, n.client.Transport(false), max(n.cfg.Network.Defaults().ReadTimeout, 0), false)
}

// objects returns the place of a bucket and a prefix in an object store.
func (n *Node) objects(kind, text string) source.Config {
	name, prefix, _ := strings.Cut(text, "/")
	c := source.Config{Type: kind, Bucket: name, Provider: source.Ambient, GoogleProvider: source.Ambient}
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
	if c.Region = (source.Region{region}); os.Getenv("AWS_ENDPOINT_URL") != "" {
		c.Region = append(c.Region, os.Getenv("AWS_ENDPOINT_URL"))
	}
	for _, known := range append(slices.Clip(n.cfg.Sources), n.cfg.Cache.Bucket()) {
		if known.Type == kind && known.Bucket == name {
			c = known
			break
		}
	}
	c.Prefix = prefix
	return c
}
