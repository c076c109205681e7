package node_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/gcs"
	"symbolon/internal/bucket/gcstest"
	"symbolon/internal/bucket/s3test"
	"symbolon/internal/config"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/source/web"
)

func storeClient(t *testing.T, network web.Config) *web.Client {
	t.Helper()
	client := web.NewClient(network, time.Now, slog.New(slog.DiscardHandler))
	t.Cleanup(client.Close)
	return client
}

// fetchFirst fetches the Breakpad file of a.so.
func fetchFirst(t *testing.T, s source.Source) (string, error) {
	t.Helper()
	id, err := ident.ParseBreakpadID("0F1E2D3C4B5A69788796A5B4C3D2E1F01")
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: "a.so", DebugID: id}, []string{source.Breakpad})
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	var got bytes.Buffer
	_, err = s.Fetch(t.Context(), list[0], &got)
	return got.String(), err
}

const storedPath = "a.so/0F1E2D3C4B5A69788796A5B4C3D2E1F01/a.so.sym"

// TestStoresOfTheConfigurationAreOpened goes from Symbolicator's keys to a file.
func TestStoresOfTheConfigurationAreOpened(t *testing.T) {
	aws, google := s3test.Run(t), gcstest.Run(t)
	file := filepath.Join(aws.Folder, "in", filepath.FromSlash(storedPath))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("of aws"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := gcs.New(gcs.Config{
		Bucket: gcstest.Bucket, Endpoint: google.URL, BearerToken: bin.NewSecret(google.Grant("read_write")),
	}, gcs.Deps{Transport: http.DefaultTransport, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), storedPath, strings.NewReader("of google"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Read(config.Options{
		File: "c.yaml", Environ: []string{"SECRET=" + s3test.SecretKey, "TOKEN=" + google.Grant("read_only")},
		Data: fmt.Appendf(nil, `sources:
- {id: aws, type: s3, bucket: %s, prefix: in/, region: [us-east-1, '%s/'], access_key: %s, secret_key: "${SECRET}"}
- {id: google, type: gcs, bucket: %s, url: %s, bearer_token: "${TOKEN}"}
`, s3test.Bucket, aws.Endpoint(), s3test.AccessKey, gcstest.Bucket, google.URL),
	})
	if err != nil {
		t.Fatal(err)
	}
	configured, err := node.OpenConfigured(cfg, storeClient(t, cfg.Network))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range configured {
		if got, err := fetchFirst(t, s); got != "of "+s.ID() || err != nil {
			t.Errorf("%s: %q, %v", s.ID(), got, err)
		}
	}
}

// TestStoresOfRequestsAreGuarded shows that a request can neither lead the server
// to its own network by the address of a store, nor use its credentials.
func TestStoresOfRequestsAreGuarded(t *testing.T) {
	asked := 0
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/")
	t.Setenv("GCE_METADATA_HOST", "127.0.0.1:1")
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	at := server.Listener.Addr().String()
	client := storeClient(t, web.Config{})
	for _, c := range []source.Config{
		{ID: "a", Type: source.S3, Bucket: "b", Region: source.Region{"", "http://" + at}},
		{ID: "a", Type: source.S3, Bucket: "b", Region: source.Region{"", "http://" + at}, AccessKey: bin.NewSecret("k"), SecretKey: bin.NewSecret("s")},
		{ID: "a", Type: source.GCS, Bucket: "b", URL: source.NewURL("http://" + at)},
	} {
		s, err := node.OpenSource(c, client, client.Share())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fetchFirst(t, s); fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), "destination is restricted") || strings.Contains(err.Error(), at) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []source.Config{
		{ID: "a", Type: source.S3, Bucket: "b", Provider: source.Container},
		{ID: "a", Type: source.S3, Bucket: "b", Provider: source.Instance},
		{ID: "a", Type: source.S3, Bucket: "b", Provider: source.WebIdentity},
		{ID: "a", Type: source.GCS, Bucket: "b", GoogleProvider: source.Ambient},
	} {
		if _, err := node.OpenSource(c, client, client.Share()); err == nil || !strings.Contains(err.Error(), "must bring its own credentials") {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := node.OpenSource(c, client, nil); err != nil {
			t.Errorf("%+v of the configuration: %v", c, err)
		}
	}
	if asked > 0 {
		t.Errorf("the server was led to its own network %d times", asked)
	}
}

// objectStores returns a source in each kind of store, at an address.
func objectStores(address string) []source.Config {
	return []source.Config{
		{ID: "a", Type: source.S3, Bucket: "b", Region: source.Region{"", address}, AccessKey: bin.NewSecret("k"), SecretKey: bin.NewSecret("s")},
		{ID: "a", Type: source.GCS, Bucket: "b", URL: source.NewURL(address), BearerToken: bin.NewSecret("t")},
	}
}

func TestAnObjectStoreThatFailsIsBlocked(t *testing.T) {
	var asked, answer atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if status := int(answer.Load()); status > 0 {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(status)
			if status >= 400 {
				return
			}
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	host := server.Listener.Addr().String()
	for _, c := range objectStores(server.URL) {
		for _, test := range []struct {
			name   string
			answer int64
			head   time.Duration // for an answer
			whole  time.Duration // for a download
			words  string
		}{
			{"errors", 500, 0, 0, "500 Internal Server Error"},
			{"no answer", 0, 20 * time.Millisecond, 0, "no answer within 20ms"},
			{"no answer in the time of a download", 0, 0, 20 * time.Millisecond, "not finished within 20ms"},
			{"no end of an answer", 200, 0, 20 * time.Millisecond, "not finished within 20ms"},
		} {
			answer.Store(test.answer)
			c.Timeout = test.whole
			client := storeClient(t, web.Config{DenyListThreshold: 1, HeadTimeout: test.head})
			s, err := node.OpenSource(c, client, nil)
			if err != nil {
				t.Fatal(err)
			}
			asked.Store(0)
			if _, err := fetchFirst(t, s); err == nil {
				t.Errorf("%s, %s: the first fetch has no error", c.Type, test.name)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("%s, %s: %d requests before the block, want 1", c.Type, test.name, n)
			}
			if _, err := fetchFirst(t, s); fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), "host "+host+" is not asked before") || !strings.Contains(err.Error(), test.words) {
				t.Errorf("%s, %s: the error of a blocked host is %v", c.Type, test.name, err)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("%s, %s: %d requests to the blocked host", c.Type, test.name, n-1)
			}
			if _, isBlocked := client.Blocked()[s.(*tree.Source).Host()]; !isBlocked {
				t.Errorf("%s, %s: the host of the source is not blocked: %v", c.Type, test.name, client.Blocked())
			}
		}
	}
}

func TestAnObjectStoreThatAnswersIsNotBlocked(t *testing.T) {
	var answer atomic.Int64
	began := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer.Load() == 0 {
			began <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.WriteHeader(int(answer.Load()))
	}))
	defer server.Close()
	for _, c := range objectStores(server.URL) {
		client := storeClient(t, web.Config{DenyListThreshold: 1})
		s, err := node.OpenSource(c, client, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range []int64{301, 400, 401, 403, 404} {
			answer.Store(status)
			if _, err := fetchFirst(t, s); err == nil {
				t.Errorf("%s: status %d gives the file", c.Type, status)
			}
		}
		answer.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		go func() {
			<-began
			cancel()
		}()
		if _, err := s.Fetch(ctx, source.Candidate{Path: "a"}, io.Discard); err == nil {
			t.Errorf("%s: a fetch that its caller canceled has no error", c.Type)
		}
		if blocked := client.Blocked(); len(blocked) > 0 {
			t.Errorf("%s: blocked: %v", c.Type, blocked)
		}
	}
}

func TestABlockDoesNotHideTheErrorThatLedToIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	defer server.Close()
	for _, c := range objectStores(server.URL) {
		s, err := node.OpenSource(c, storeClient(t, web.Config{DenyListThreshold: 2}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fetchFirst(t, s); err == nil || !strings.Contains(err.Error(), "503") || strings.Contains(err.Error(), "is not asked") {
			t.Errorf("%s: error %v, want the one of the store", c.Type, err)
		}
	}
}
