package difs

import (
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/token"
)

// Limits that clients keep to. A client cuts files into chunks of chunkSize.
const (
	chunkSize  = 8 << 20
	maxChunks  = 64       // of a request
	maxRequest = 32 << 20 // bytes of the chunks of a request, before compression
	parallel   = 8        // requests of a client
)

// accepted are the kinds of file that clients of version 2 and older may send: they
// skip the others.
var accepted = []string{
	"debug_files", "release_files", "pdbs", "sources", "bcsymbolmaps", "il2cpp", "portablepdbs",
	"artifact_bundles", "artifact_bundles_v2", "proguard", "dartsymbolmap",
}

// options answers how to upload chunks. The address is relative to /api/0/, so that
// it is right behind any proxy.
func (d *Door) options(w http.ResponseWriter, r *http.Request, _ *token.Grant) error {
	api.WriteJSON(w, http.StatusOK, struct {
		URL              string   `json:"url"`
		ChunkSize        int      `json:"chunkSize"`
		ChunksPerRequest int      `json:"chunksPerRequest"`
		MaxFileSize      int64    `json:"maxFileSize"`
		MaxRequestSize   int      `json:"maxRequestSize"`
		Concurrency      int      `json:"concurrency"`
		HashAlgorithm    string   `json:"hashAlgorithm"`
		Compression      []string `json:"compression"`
		Accept           []string `json:"accept"`
	}{
		"organizations/" + r.PathValue("org") + "/chunk-upload/", chunkSize, maxChunks, int64(d.limits.MaxFile), maxRequest, parallel,
		"sha1", []string{"gzip", "zstd"}, accepted, // sentry-cli ignores zstd
	})
	return nil
}

// sentryScopes has Sentry's names of rights.
var sentryScopes = []struct {
	right token.Right
	names []string
}{
	{token.Read, []string{"org:read", "project:read"}},
	{token.Upload, []string{"org:ci", "project:releases", "project:write"}},
	{token.Delete, []string{"project:admin"}},
}

// info answers for sentry-cli info.
func (d *Door) info(w http.ResponseWriter, _ *http.Request, g *token.Grant) error {
	type auth struct {
		Scopes []string `json:"scopes"`
	}
	answer := struct {
		Version string    `json:"version"`
		Auth    *auth     `json:"auth"`
		User    *struct{} `json:"user"`
	}{Version: "0"}
	var scopes []string
	for _, s := range sentryScopes {
		if g.May(s.right, "") {
			scopes = append(scopes, s.names...)
			answer.Auth = &auth{scopes}
		}
	}
	api.WriteJSON(w, http.StatusOK, answer)
	return nil
}
