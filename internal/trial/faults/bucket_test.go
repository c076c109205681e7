package faults_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bucket/s3test"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// unreliable is a way to an object store that loses, delays and repeats requests, unless
// it is calm.
type unreliable struct {
	*httptest.Server
	calm atomic.Bool
}

func newUnreliable(t *testing.T, to string) *unreliable {
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	// The host of a request is signed, so it is left as it is.
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = at.Scheme, at.Host }}
	u := &unreliable{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		send := func(w http.ResponseWriter) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			forward.ServeHTTP(w, r)
		}
		fault := rand.IntN(12)
		switch {
		case u.calm.Load():
		case fault == 0: // the request is lost
			panic(http.ErrAbortHandler)
		case fault == 1: // the answer is lost
			send(httptest.NewRecorder())
			panic(http.ErrAbortHandler)
		case fault == 2: // the request arrives twice
			send(httptest.NewRecorder())
		case fault == 3:
			waittest.Delay(r.Context(), rand.N(100*time.Millisecond))
		}
		send(w)
	}))
	t.Cleanup(u.Close)
	return u
}

// TestAnUnreliableBucketLosesNoUpload sends files to two nodes over a store that fails in
// all ways.
func TestAnUnreliableBucketLosesNoUpload(t *testing.T) {
	store := s3test.Run(t).Place()
	t.Run("doors", func(t *testing.T) { // ends before the store
		eachDoor(t, func(t *testing.T, door trial.UploadDoor) {
			way := newUnreliable(t, store.Endpoint)
			way.calm.Store(true)
			options := trial.Options{Config: store.State(way.URL, door.Name)}
			u, a := newUploader(t, door, options, 1000)
			b := trial.Start(t, options)
			way.calm.Store(false)
			accepted := map[int]bool{}
			for n := range 2 {
				for _, err := range u.sendToBoth(a, b, u.upload(n)) {
					accepted[n] = accepted[n] || err == nil
				}
			}
			way.calm.Store(true)
			for _, s := range []*trial.Server{a, b} {
				waittest.Until(t, "the node answers, if it could not read the tokens before", func() bool {
					status, _, err := s.Do(trial.Request{Token: u.token, Method: http.MethodGet, Path: "/gone.so/" + trial.KettleID + "/gone.so.sym"})
					return err == nil && status < 500
				})
			}
			for n, isAccepted := range accepted {
				for _, s := range []*trial.Server{a, b} {
					parts := u.upload(n)
					waittest.Until(t, "both nodes have the accepted upload", func() bool { return !isAccepted || u.found(s, parts) == len(parts) })
					if isAccepted || !isByFile(door) {
						u.isWhole(s, n, isAccepted)
					}
				}
			}
			u.isSound(a)
		})
	})
}

// isByFile reports whether an interface answers for each file of a request: if the store
// fails for one of them, the others become an upload, and the client sends that one again.
func isByFile(door trial.UploadDoor) bool {
	return door.Name == "Sentry's chunks" || door.Name == "symbolon upload"
}
