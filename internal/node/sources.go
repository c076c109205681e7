package node

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/config"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	project "symbolon/internal/source/sentry"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
)

// Builtin is a source of files that the program contains.
type Builtin struct {
	Name    string
	Bucket  bucket.Bucket
	Example string // a request whose modules are in the bucket
}

// configured has the sources of the configuration, in its order.
type configured struct {
	all    []source.Source
	public []source.Source // available without a token
}

func (c *configured) add(s source.Source, isPublic bool) {
	c.all = append(c.all, s)
	if isPublic {
		c.public = append(c.public, s)
	}
}

// openConfigured opens the sources of a configuration, and after them builtin, which
// may be nil.
func openConfigured(cfg *config.Config, builtin *Builtin, client *web.Client, log *slog.Logger) (out configured, err error) {
	for _, c := range cfg.Sources {
		network := cfg.Network
		if c.ID == cfg.State {
			network = uploadNetwork(cfg)
		}
		s, err := openSource(c, network, client, nil)
		if err != nil && c.Type == source.Filesystem {
			log.Warn("cannot open the folder of a source; each lookup tries again", "source", c.ID, "path", c.Path, "reason", err)
			s, err = tree.New(c, dir.Later(c.Path, c.FollowSymlinks), client.Decoder(network, false), time.Now)
		}
		if err != nil {
			return out, fmt.Errorf("source %s: %w", c.ID, err)
		}
		out.add(s, c.IsPublic)
	}
	if builtin != nil {
		c := source.Config{ID: builtin.Name, Type: source.Filesystem, Path: "/built-in"}
		s, err := tree.New(c, builtin.Bucket, client.Decoder(cfg.Network, false), time.Now)
		if err != nil {
			return out, err
		}
		out.add(s, true)
	}
	return out, nil
}

// uploadNetwork returns the bounds for reading uploads. Their size was checked when
// they were taken, and they may be compressed at any ratio.
func uploadNetwork(cfg *config.Config) web.Config {
	network := cfg.Network.Defaults()
	network.MaxDownloadRatio = -1
	if network.MaxDownloadSize > 0 {
		network.MaxDownloadSize = max(network.MaxDownloadSize, cfg.Elastic.Uploads.Defaults().MaxFile)
	}
	return network
}

// CheckSources opens each valid source of a configuration by itself and returns the
// errors. It makes no request.
func CheckSources(cfg *config.Config, log *slog.Logger) (errs []error) {
	client := web.NewClient(cfg.Network, time.Now, log)
	defer client.Close()
	one := *cfg
	for i, c := range cfg.Sources {
		if len(c.Mistakes()) > 0 {
			continue
		}
		one.Sources = []source.Config{c}
		if _, err := openConfigured(&one, nil, client, log); err != nil {
			errs = append(errs, fmt.Errorf("sources[%d]: %w", i, err))
		}
	}
	return errs
}

// openSource opens a source. With a share it is a source that a request named: it
// reaches public addresses only and uses no credentials of this machine.
func openSource(c source.Config, network web.Config, client *web.Client, share *web.Share) (source.Source, error) {
	switch c.Type {
	case source.HTTP:
		return openWeb(c, client, share)
	case source.Sentry:
		return openProject(c, network, client, share)
	case source.S3, source.GCS:
		return openObjects(c, network, client, share)
	}
	if share != nil {
		b, err := dir.Open(c.Path)
		if err != nil {
			return nil, err
		}
		return tree.NewGuarded(c, b, client.Decoder(network, true), time.Now)
	}
	open := dir.Open
	if c.FollowSymlinks {
		open = dir.OpenFollowing
	}
	b, err := open(c.Path)
	if err != nil {
		return nil, err
	}
	return tree.New(c, b, client.Decoder(network, false), time.Now)
}

// openWeb opens a source on a web server.
func openWeb(c source.Config, client *web.Client, share *web.Share) (*web.Source, error) {
	if share != nil {
		return web.NewGuarded(client, c, share)
	}
	return web.New(client, c)
}

// openProject opens a project of Sentry.
func openProject(c source.Config, network web.Config, client *web.Client, share *web.Share) (source.Source, error) {
	server, err := openWeb(c, client, share)
	if err != nil {
		return nil, err
	}
	return project.New(c, project.Server{
		Ask: server.Ask, Key: server.Key(), Shelf: client.Shelf(share != nil), Life: max(network.SentryIndexTTL, 0),
	})
}

// errOwnCredentials refuses a source of a request that would use the credentials of
// this machine.
var errOwnCredentials = fault.New(fault.Denied, "", "a source of a request must bring its own credentials")

// openObjects opens a source in an object store.
func openObjects(c source.Config, network web.Config, client *web.Client, share *web.Share) (source.Source, error) {
	network = network.Defaults()
	isGuarded, line := share != nil, client.Line()
	if isGuarded {
		line = client.RequestLine(share)
	}
	if own := c.Provider + c.GoogleProvider; isGuarded && own != "" && own != source.Static {
		return nil, errOwnCredentials
	}
	b, err := openBucket(c, client.StoreTransport(share), max(network.ReadTimeout, 0), false)
	if err != nil {
		return nil, err
	}
	return tree.Far(c, tree.Deps{
		Bucket: b, Host: b.Host(), Decoder: client.Decoder(network, isGuarded), Timeout: c.DownloadTimeout(network.MaxDownloadTimeout), Line: line,
		Ahead: client.Ahead(), Shelf: client.Shelf(isGuarded), Guarded: isGuarded, Now: time.Now,
	})
}

// openWritable opens a bucket, or a folder, which it creates if necessary.
func openWritable(place source.Config, network web.Config, client *web.Client) (bucket.Bucket, error) {
	if place.Type != source.Filesystem {
		return openBucket(place, client.Transport(false), max(network.Defaults().ReadTimeout, 0), true)
	}
	if err := os.MkdirAll(place.Path, 0o700); err != nil {
		return nil, err
	}
	return dir.Open(place.Path)
}

// remote is a bucket in an object store.
type remote interface {
	bucket.Bucket
	Host() string
}

// openBucket opens a bucket in an object store.
func openBucket(c source.Config, transport http.RoundTripper, readTimeout time.Duration, isWritable bool) (remote, error) {
	if c.Type == source.GCS {
		return gcs.New(gcs.Config{
			Bucket: c.Bucket, Prefix: c.Prefix, Endpoint: c.URL.Reveal(), Provider: c.GoogleProvider,
			ClientEmail: c.ClientEmail, PrivateKey: c.PrivateKey, BearerToken: c.BearerToken, Write: isWritable,
		}, gcs.Deps{Transport: transport, Env: os.Getenv, Now: time.Now, ReadTimeout: readTimeout})
	}
	return s3.New(s3.Config{
		Bucket: c.Bucket, Prefix: c.Prefix, Region: c.Region.Name(), Endpoint: c.Region.Endpoint(), Provider: c.Provider,
		AccessKey: c.AccessKey, SecretKey: c.SecretKey, SessionToken: c.SessionToken,
	}, s3.Deps{Transport: transport, Env: os.Getenv, Now: time.Now, ReadTimeout: readTimeout})
}
