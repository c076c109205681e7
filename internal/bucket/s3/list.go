package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// listing is the answer to ListObjectsV2.
type listing struct {
	XMLName      xml.Name `xml:"ListBucketResult"`
	IsTruncated  bool
	EncodingType string
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
	if after != "" {
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
	return names, list.IsTruncated, nil
}
