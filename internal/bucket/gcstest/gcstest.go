// Package gcstest is a fake of Google Cloud Storage, for tests: a server with its
// JSON interface, as far as internal/bucket/gcs uses it, with the token service
// and the metadata service. It implements the protocol independently, and checks
// signatures.
package gcstest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The bucket of a Server, and accepted credentials.
const (
	Bucket = "symbols"
	Email  = "reader@project.example"

	RefreshToken = "refresh-token-of-a-user"        // of a login with gcloud
	SubjectToken = "subject-token-of-another-cloud" // of a workload elsewhere
)

// Server is a running store.
type Server struct {
	URL      string // of everything
	TokenURL string
	Key      string // of the service account Email, in PEM

	key *rsa.PrivateKey

	mu         sync.Mutex
	open       bool
	blobs      map[string]blob
	uploads    map[string]*upload
	generation int
	tokens     map[string]string // scope by token
	issued     int
}

type blob struct {
	data       []byte
	encoding   string
	generation int
}

type upload struct {
	name, encoding string
	ifAbsent       bool
	data           []byte
}

// Run starts a store. It ends with the test.
func Run(t testing.TB) *Server {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), key: key,
		blobs: map[string]blob{}, uploads: map[string]*upload{}, tokens: map[string]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2/v4/token", s.trade)
	mux.HandleFunc("GET /computeMetadata/v1/instance/service-accounts/default/token", s.metadata)
	mux.HandleFunc("GET /storage/v1/b/"+Bucket+"/o", s.list)
	mux.HandleFunc("GET /storage/v1/b/"+Bucket+"/o/{name}", s.read)
	mux.HandleFunc("DELETE /storage/v1/b/"+Bucket+"/o/{name}", s.remove)
	mux.HandleFunc("POST /upload/storage/v1/b/"+Bucket+"/o", s.begin)
	mux.HandleFunc("PUT /upload/storage/v1/b/"+Bucket+"/o", s.resume)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL, s.TokenURL = server.URL, server.URL+"/oauth2/v4/token"
	return s
}

// Open permits reading without a token.
func (s *Server) Open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
}

// Revoke makes all tokens invalid.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Grant returns a new token.
func (s *Server) Grant(scope string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issued++
	token := fmt.Sprint("token-", s.issued, "-", rand.Text())
	s.tokens[token] = scope
	return token
}

// Granted returns the number of tokens so far.
func (s *Server) Granted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have left
}

func fail(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"error": map[string]any{"code": status, "message": message}})
}

func (s *Server) grant(w http.ResponseWriter, scope string) {
	reply(w, http.StatusOK, map[string]any{"access_token": s.Grant(scope), "expires_in": 3599, "token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"})
}

func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Metadata-Flavor") != "Google" {
		fail(w, http.StatusForbidden, "no Metadata-Flavor")
		return
	}
	s.grant(w, "read_write")
}

func (s *Server) trade(w http.ResponseWriter, r *http.Request) {
	switch grant := r.PostFormValue("grant_type"); {
	case grant == "refresh_token" && r.PostFormValue("refresh_token") == RefreshToken && r.PostFormValue("client_id") != "",
		grant == "urn:ietf:params:oauth:grant-type:token-exchange" && r.PostFormValue("subject_token") == SubjectToken:
		s.grant(w, "read_only")
		return
	}
	scope, why := s.check(r.PostFormValue("grant_type"), r.PostFormValue("assertion"))
	if why != "" {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": why})
		return
	}
	s.grant(w, scope)
}

// check parses an assertion, and returns why it is invalid.
func (s *Server) check(grant, assertion string) (scope, why string) {
	parts := strings.Split(assertion, ".")
	if grant != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
		return "", "No assertion."
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return "", "Invalid assertion."
		}
	}
	var head struct{ Alg, Typ string }
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	if json.Unmarshal(raw[0], &head) != nil || head.Alg != "RS256" || head.Typ != "JWT" || json.Unmarshal(raw[1], &claims) != nil {
		return "", "Invalid assertion."
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	now := time.Now().Unix()
	prefix := "https://www.googleapis.com/auth/devstorage."
	switch {
	case rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], raw[2]) != nil:
		return "", "Invalid JWT Signature."
	case claims.Iss != Email:
		return "", "Invalid issuer."
	case claims.Aud != s.TokenURL:
		return "", "Invalid JWT: Failed audience check."
	case claims.Iat > now+60 || claims.Exp < now || claims.Exp-claims.Iat > 3600:
		return "", "Invalid JWT: Token must be a short-lived token (60 minutes)."
	case !strings.HasPrefix(claims.Scope, prefix):
		return "", "Invalid scope."
	}
	return strings.TrimPrefix(claims.Scope, prefix), ""
}

// admit refuses a request without permission.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	scope, known := s.tokens[token]
	open := s.open
	s.mu.Unlock()
	switch {
	case known && (scope == "read_write" || scope == "read_only" && r.Method == http.MethodGet):
		return true
	case known:
		fail(w, http.StatusForbidden, "Provided scope(s) are not authorized")
	case token != "":
		fail(w, http.StatusUnauthorized, "Invalid Credentials")
	case open && r.Method == http.MethodGet:
		return true
	default:
		fail(w, http.StatusUnauthorized, "Anonymous caller does not have storage.objects.get access.")
	}
	return false
}

func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	name := r.PathValue("name")
	s.mu.Lock()
	b, ok := s.blobs[name]
	s.mu.Unlock()
	if !ok {
		fail(w, http.StatusNotFound, "No such object: "+Bucket+"/"+name)
		return
	}
	if r.URL.Query().Get("alt") != "media" {
		reply(w, http.StatusOK, map[string]string{
			"size": strconv.Itoa(len(b.data)), "contentEncoding": b.encoding, "generation": strconv.Itoa(b.generation),
		})
		return
	}
	w.Header().Set("X-Goog-Generation", strconv.Itoa(b.generation))
	if b.encoding != "" {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			fail(w, http.StatusNotImplemented, "this fake decodes nothing")
			return
		}
		w.Header().Set("Content-Encoding", b.encoding)
	}
	first, end, partial, ok := span(r.Header.Get("Range"), len(b.data))
	if !ok {
		fail(w, http.StatusRequestedRangeNotSatisfiable, "The requested range cannot be satisfied.")
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(end-first))
	if partial {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, end-1, len(b.data)))
		w.WriteHeader(http.StatusPartialContent)
	}
	_, _ = w.Write(b.data[first:end]) // the client may have left
}

// list answers with names. Its tokens are the last name of the page before.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("maxResults"))
	token, bad := base64.URLEncoding.DecodeString(q.Get("pageToken"))
	if err != nil || limit < 1 || bad != nil {
		fail(w, http.StatusBadRequest, "Invalid argument.")
		return
	}
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.blobs))
	s.mu.Unlock()
	var page struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items,omitempty"`
		NextPageToken string `json:"nextPageToken,omitempty"`
	}
	for _, name := range names {
		if !strings.HasPrefix(name, q.Get("prefix")) || name < q.Get("startOffset") || name <= string(token) {
			continue
		}
		if n := len(page.Items); n == limit {
			page.NextPageToken = base64.URLEncoding.EncodeToString([]byte(page.Items[n-1].Name))
			break
		}
		page.Items = append(page.Items, struct {
			Name string `json:"name"`
		}{name})
	}
	reply(w, http.StatusOK, page)
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	name := r.PathValue("name")
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.blobs[name]; !ok {
		fail(w, http.StatusNotFound, "No such object: "+Bucket+"/"+name)
		return
	}
	delete(s.blobs, name)
	w.WriteHeader(http.StatusNoContent)
}

// span parses a Range.
func span(text string, size int) (first, end int, partial, ok bool) {
	text, partial = strings.CutPrefix(text, "bytes=")
	if !partial {
		return 0, size, false, true
	}
	from, to, _ := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	if err != nil || first >= size {
		return 0, 0, true, false
	}
	end = size
	if last, err := strconv.Atoi(to); err == nil && last < size-1 {
		end = last + 1
	}
	return first, end, true, true
}

// store stores a blob, unless the key must be new and exists.
func (s *Server) store(w http.ResponseWriter, u *upload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.blobs[u.name]; there && u.ifAbsent {
		fail(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
		return
	}
	s.generation++
	s.blobs[u.name] = blob{u.data, u.encoding, s.generation}
	reply(w, http.StatusOK, map[string]string{"size": strconv.Itoa(len(u.data))})
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	q := r.URL.Query()
	u := &upload{name: q.Get("name"), encoding: q.Get("contentEncoding"), ifAbsent: q.Get("ifGenerationMatch") == "0"}
	switch q.Get("uploadType") {
	case "media":
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		u.data = data
		s.store(w, u)
	case "resumable":
		id := rand.Text()
		s.mu.Lock()
		s.uploads[id] = u
		s.mu.Unlock()
		w.Header().Set("Location", s.URL+r.URL.Path+"?uploadType=resumable&upload_id="+url.QueryEscape(id))
	default:
		fail(w, http.StatusBadRequest, "Invalid upload type.")
	}
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	u := s.uploads[r.URL.Query().Get("upload_id")]
	s.mu.Unlock()
	var first, last int
	var total string
	_, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%s", &first, &last, &total)
	if u == nil || err != nil || first != len(u.data) {
		fail(w, http.StatusBadRequest, "Invalid request.")
		return
	}
	data, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return // the client has left
	case len(data) != last+1-first || total == "*" && len(data)%(256<<10) != 0:
		fail(w, http.StatusBadRequest, "Invalid length of a part.")
		return
	}
	u.data = append(u.data, data...)
	if total == strconv.Itoa(len(u.data)) {
		s.store(w, u)
		return
	}
	w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(u.data)-1))
	w.WriteHeader(http.StatusPermanentRedirect)
}
