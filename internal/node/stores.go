package node

import (
	"net/http"
	"os"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	project "symbolon/internal/source/sentry"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
)

// errOwnCredentials keeps requests from using what only the configuration may.
var errOwnCredentials = fault.New(fault.Denied, "", "a source of a request must bring its own credentials")

// openFar opens a source in an object store.
func openFar(c source.Config, network web.Config, client *web.Client, g *guest) (source.Source, error) {
	network = network.Defaults()
	guarded, line := g != nil, client.Line()
	if guarded {
		line = client.GuestLine(g.share)
	}
	if own := c.Provider + c.GoogleProvider; guarded && own != "" && own != source.Static {
		return nil, errOwnCredentials
	}
	b, err := openBucket(c, client.Transport(guarded), max(network.ReadTimeout, 0))
	if err != nil {
		return nil, err
	}
	return tree.Far(c, tree.Deps{
		Bucket: b, Decoder: client.Decoder(network, guarded), Timeout: c.DownloadTimeout(network.MaxDownloadTimeout), Line: line,
		Ahead: client.Ahead(), Shelf: client.Shelf(guarded), Guarded: guarded, Now: time.Now,
	})
}

// openBucket opens the bucket of a source.
func openBucket(c source.Config, transport http.RoundTripper, patience time.Duration) (bucket.Bucket, error) {
	if c.Type == source.GCS {
		return gcs.New(gcs.Config{
			Bucket: c.Bucket, Prefix: c.Prefix, Endpoint: c.URL.Reveal(), Provider: c.GoogleProvider,
			ClientEmail: c.ClientEmail, PrivateKey: c.PrivateKey, BearerToken: c.BearerToken,
		}, gcs.Deps{Transport: transport, Env: os.Getenv, Now: time.Now, ReadTimeout: patience})
	}
	return s3.New(s3.Config{
		Bucket: c.Bucket, Prefix: c.Prefix, Region: c.Region.Name(), Endpoint: c.Region.Endpoint(), Provider: c.Provider,
		AccessKey: c.AccessKey, SecretKey: c.SecretKey, SessionToken: c.SessionToken,
	}, s3.Deps{Transport: transport, Env: os.Getenv, Now: time.Now, ReadTimeout: patience})
}

// openWeb opens a source that is a web server.
func openWeb(c source.Config, client *web.Client, g *guest) (*web.Source, error) {
	if g != nil {
		return web.NewGuarded(client, c, g.share)
	}
	return web.New(client, c)
}

// openProject opens a source that is a project of Sentry.
func openProject(c source.Config, network web.Config, client *web.Client, g *guest) (source.Source, error) {
	server, err := openWeb(c, client, g)
	if err != nil {
		return nil, err
	}
	return project.New(c, project.Server{Ask: server.Ask, Key: server.Key(), Shelf: client.Shelf(g != nil), Life: max(network.SentryIndexTTL, 0)})
}
