package sentry

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"symbolon/internal/fault"
	"symbolon/internal/source"
)

const (
	fileSize = 48      // bytes in memory, in addition to the id
	maxPage  = 8 << 20 // bytes
	maxPages = 50      // of one list
	maxFiles = 2000    // of one list
	maxID    = 100     // bytes
)

// file is an entry of a list.
type file struct{ id, symbolType string }

// pages requests all pages of a list. Of the address that the server names for the
// next page only the cursor is used.
func (s *Source) pages(ctx context.Context, query string) ([]file, error) {
	var files []file
	var seen []string
	for cursor := ""; len(seen) < maxPages && len(files) < maxFiles; {
		at := query
		if cursor != "" {
			at += "&cursor=" + url.QueryEscape(cursor)
		}
		page := &source.Text{Max: maxPage}
		_, links, err := s.server.Ask(ctx, at, source.Candidate{}, page)
		if err != nil {
			return nil, err
		}
		if files, err = appendFiles(files, page.Bytes); err != nil {
			return nil, err
		}
		seen = append(seen, cursor)
		if cursor = next(links); cursor == "" || slices.Contains(seen, cursor) {
			break
		}
	}
	return files[:min(len(files), maxFiles)], nil
}

// appendFiles appends the files of a page, except those of unknown types.
func appendFiles(files []file, page []byte) ([]file, error) {
	var entries []struct {
		ID   any `json:"id"`
		Type any `json:"symbolType"`
	}
	if json.Unmarshal(page, &entries) != nil {
		return nil, fault.New(fault.Malformed, "", "invalid list of files")
	}
	for _, e := range entries {
		id, _ := e.ID.(string)
		kind, _ := e.Type.(string)
		if i := slices.Index(knownTypes, kind); i >= 0 && id != "" && len(id) <= maxID && !strings.ContainsFunc(id, unicode.IsControl) {
			files = append(files, file{strings.Clone(id), knownTypes[i]})
		}
	}
	return files, nil
}

// knownTypes are the supported types of file.
var knownTypes = func() (list []string) {
	for _, name := range symbolTypes {
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}()

var (
	link  = regexp.MustCompile(`<([^<>]*)>((?:\s*;\s*\w+="[^"]*")*)`)
	param = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// next returns the cursor of the next page, or "".
func next(links []string) string {
	for _, l := range link.FindAllStringSubmatch(strings.Join(links, ", "), 100) {
		params := map[string]string{}
		for _, p := range param.FindAllStringSubmatch(l[2], 10) {
			params[p[1]] = p[2]
		}
		if params["rel"] != "next" || params["results"] != "true" {
			continue
		}
		if params["cursor"] != "" {
			return params["cursor"]
		}
		if u, err := url.Parse(l[1]); err == nil {
			return u.Query().Get("cursor")
		}
	}
	return ""
}
