package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/bucket/s3"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/sentry"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
)

// untrusted are all kinds of places that a request may lead to, by what asks the
// server at an address for a file, as it is put together for requests.
var untrusted = map[string]func(t *testing.T, c *web.Client, at string) error{
	"http": func(t *testing.T, c *web.Client, at string) error {
		_, _, err := get(t, newGuarded(t, c, config(at)))
		return err
	},
	"index": func(t *testing.T, c *web.Client, at string) error {
		cfg := config(at)
		cfg.HasIndex, cfg.Layout.Type = true, source.Symstore
		return listing(t, newGuarded(t, c, cfg))
	},
	"s3": func(t *testing.T, c *web.Client, at string) error {
		b, err := s3.New(s3.Config{Bucket: "b", Region: "r", Endpoint: at, AccessKey: bin.NewSecret("k"), SecretKey: bin.NewSecret("s")},
			s3.Deps{Transport: c.Transport(true), Env: noEnv, Now: time.Now})
		return fromStore(t, c, source.Config{ID: "s", Type: source.S3, Bucket: "b", Region: source.Region{"r", at}}, b, err)
	},
	"gcs": func(t *testing.T, c *web.Client, at string) error {
		b, err := gcs.New(gcs.Config{Bucket: "b", Endpoint: at, BearerToken: bin.NewSecret("k")},
			gcs.Deps{Transport: c.Transport(true), Env: noEnv, Now: time.Now})
		return fromStore(t, c, source.Config{ID: "s", Type: source.GCS, Bucket: "b", URL: source.NewURL(at)}, b, err)
	},
	"sentry, list": func(t *testing.T, c *web.Client, at string) error { return listing(t, project(t, c, at)) },
	"sentry, file": func(t *testing.T, c *web.Client, at string) error {
		_, err := project(t, c, at).Fetch(t.Context(), source.Candidate{Path: "1"}, &bytes.Buffer{})
		return err
	},
	"source link": func(t *testing.T, c *web.Client, at string) error {
		_, err := c.Text(t.Context(), at+"/a.c", nil, true)
		return err
	},
}

func noEnv(string) string { return "" }

// listing is the failure of what must be asked before there are places.
func listing(t *testing.T, s source.Source) error {
	t.Helper()
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "a.pdb", DebugID: debugID}, []string{source.PDB, source.Breakpad})
	if err == nil && len(list) > 0 {
		return errors.New("it has files")
	}
	return err
}

func fromStore(t *testing.T, c *web.Client, cfg source.Config, b bucket.Bucket, err error) error {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s, err := tree.Far(cfg, tree.Deps{Bucket: b, Decoder: source.NewDecoder(bin.Limit{}, nil), Line: c.RequestLine(c.Share()), Ahead: c.Ahead(), Shelf: c.Shelf(true), Guarded: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = get(t, s)
	return err
}

func project(t *testing.T, c *web.Client, at string) source.Source {
	t.Helper()
	cfg := source.Config{ID: "s", Type: source.Sentry, URL: source.NewURL(at), Token: bin.NewSecret("k")}
	server, err := web.NewGuarded(c, cfg, c.Share())
	if err != nil {
		t.Fatal(err)
	}
	s, err := sentry.New(cfg, sentry.Server{Ask: server.Ask, Key: server.Key(), Shelf: c.Shelf(true), Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fewer are of each range one address, and of one range all its forms.
func fewer() map[string]string {
	out := map[string]string{}
	for _, row := range append(special4, special6...) {
		out[edges(row)[0].String()] = row
	}
	for name, form := range forms {
		out[form([4]byte{127, 0, 0, 1})] = name
		out[form([4]byte{169, 254, 169, 254})] = name
	}
	return out
}

// Sources of requests of any kind, and addresses of source code in debug
// information, reach no special address, neither directly nor by a name.
func TestNoSourceOfARequestReachesASpecialAddress(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	names := map[string]string{}
	client := newClient(t, web.Config{ConnectTimeout: 10 * time.Second, MaxTries: 1, DenyListThreshold: -1})
	client.UseResolver(resolver(nameServer(t, func(name string) []string {
		mu.Lock()
		defer mu.Unlock()
		return []string{names[name]}
	})))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 32)
	try := func(kind, what, at string) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := untrusted[kind](t, client, at); err == nil || !strings.Contains(err.Error(), "destination is restricted") {
				t.Errorf("%s at %s: %v", kind, what, err)
			}
		})
	}
	for text, row := range fewer() {
		host := text
		if strings.Contains(text, ":") {
			host = "[" + text + "]"
		}
		mu.Lock()
		name := fmt.Sprintf("name%d.test", len(names))
		names[name] = text
		mu.Unlock()
		if !web.Reserved(netip.MustParseAddr(text)) {
			t.Errorf("%s (%s) counts as public", text, row)
			continue // nothing of ours is to leave the machine
		}
		for kind := range untrusted {
			try(kind, text, "http://"+host+":9")
			try(kind, text+" by a name", "http://"+name+":9")
		}
	}
	wg.Wait()
}

// A server that may be asked leads on to one that may not.
func TestNoSourceOfARequestIsLedToAPrivateAddress(t *testing.T) {
	for kind, ask := range untrusted {
		for _, to := range []string{"http://" + private, "http://[::ffff:" + private + "]", "http://private.test", "http://rebind.test"} {
			var asked atomic.Int32
			p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, port, _ := strings.Cut(r.Host, ":")
				w.Header().Set("Connection", "close")
				http.Redirect(w, r, to+":"+port+"/secret", http.StatusTemporaryRedirect)
			}, firstPublic)
			if err := ask(t, p.client, strings.TrimSuffix(p.url(), "/")); err == nil {
				t.Errorf("%s led to %s has something", kind, to)
			}
			if asked.Load() == 0 {
				t.Errorf("%s led to %s: the first server was not asked", kind, to)
			}
		}
	}
}

// The ranges of a large file are asked for over connections of their own: by
// then the name of the server has become another one. A web server sends all of
// the file with its first answer.
func TestRebindingIsCaughtOnRanges(t *testing.T) {
	t.Parallel()
	data := noise(3*source.Piece + 99)
	for kind, whole := range map[string]bool{"http": true, "sentry, file": true, "s3": false, "gcs": false} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "close")
				w.Header().Set("ETag", `"one"`)
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			}, firstPublic)
			err := untrusted[kind](t, p.client, strings.TrimSuffix(p.url(), "/"))
			if (err == nil) != whole || err != nil && !strings.Contains(err.Error(), "destination is restricted") {
				t.Error(err)
			}
			if p.answers.Load() <= 2 {
				t.Error("no other connection was made for a range")
			}
		})
	}
}
