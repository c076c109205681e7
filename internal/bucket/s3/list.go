package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// listing is the answer to ListObjectsV2.
type listing struct {
	XMLName      xml.Name `xml:"ListBucketResult"`
	IsTruncated  bool
	EncodingType string
	Token        string `xml:"NextContinuationToken"`
	Contents     []struct{ Key string }
}

// List returns a page of keys.
func (b *Bucket) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	return bucket.Listing{Place: b.place, Folder: b.cfg.Prefix, Fetch: b.fetchNames}.Page(ctx, prefix, after, n)
}

// fetchNames makes one request for names of the bucket.
func (b *Bucket) fetchNames(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	// Keys may have characters that XML cannot have, so they are requested escaped.
	query := "encoding-type=url&list-type=2&max-keys=" + strconv.Itoa(n) + "&prefix=" + escapeQuery(prefix)
	if token := b.pages.token(prefix, after); token != "" {
		query += "&continuation-token=" + escapeQuery(token)
	} else if after != "" {
		query += "&start-after=" + escapeQuery(after)
	}
	resp, err := b.do(ctx, call{method: http.MethodGet, query: query, isList: true})
	if err != nil {
		return nil, false, err
	}
	text, err := bucket.ReadAnswer(resp, b.place, bucket.MaxListing)
	if err != nil {
		return nil, false, err
	}
	var list listing
	if err := xml.Unmarshal(text, &list); err != nil {
		return nil, false, fault.New(fault.Transport, b.place, "invalid listing: must be a ListBucketResult in XML")
	}
	names := make([]string, len(list.Contents))
	for i, c := range list.Contents {
		if names[i] = c.Key; list.EncodingType == "url" {
			if names[i], err = url.QueryUnescape(c.Key); err != nil {
				return nil, false, fault.New(fault.Transport, b.place, "invalid listing: a key is not escaped")
			}
		}
	}
	if list.IsTruncated && len(names) > 0 {
		b.pages.put(prefix, names[len(names)-1], list.Token)
	}
	return names, list.IsTruncated, nil
}

// maxPages is the number of listings that continue by a token. Each needs 2 KB.
const maxPages = 1000

// pages has the tokens of the store for the pages that follow listed ones. With
// start-after instead of a token, MinIO omits keys in a folder whose name is a prefix of
// another one: default/, after default-try/.
type pages struct {
	mu     sync.Mutex
	tokens map[page]string
}

// page is a page of names that begin with a prefix, after one that was listed.
type page struct{ prefix, after string }

func (p *pages) token(prefix, after string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens[page{prefix, after}]
}

func (p *pages) put(prefix, after, token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens == nil || len(p.tokens) >= maxPages {
		p.tokens = map[page]string{}
	}
	p.tokens[page{prefix, after}] = token
}
