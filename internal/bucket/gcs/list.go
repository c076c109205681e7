package gcs

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// maxEmpty is the limit of consecutive pages without a name. The store may send
// some before it has found one.
const maxEmpty = 100

// listing is the answer to a list of objects.
type listing struct {
	Items         []struct{ Name string }
	NextPageToken string
}

// List returns a page of keys.
func (b *Bucket) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	return bucket.Listing{Place: b.place, Folder: b.cfg.Prefix, Fetch: b.fetchNames}.Page(ctx, prefix, after, n)
}

// fetchNames makes requests for names of the bucket until there are some.
func (b *Bucket) fetchNames(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	query := url.Values{"prefix": {prefix}, "maxResults": {strconv.Itoa(n)}, "fields": {"items(name),nextPageToken"}}
	if after != "" {
		query.Set("startOffset", after)
		query.Set("maxResults", strconv.Itoa(n+1)) // the offset is included if it is a name
	}
	for range maxEmpty {
		resp, err := b.do(ctx, call{method: http.MethodGet, url: b.objects(query), header: map[string]string{"Accept-Encoding": "identity"}})
		if fault.KindOf(err) == fault.NotFound {
			return nil, false, fault.New(fault.NotFound, b.place, "%w: %s", bucket.ErrNoBucket, fault.Of(err).Detail)
		}
		if err != nil {
			return nil, false, err
		}
		text, err := bucket.ReadAnswer(resp, b.place, bucket.MaxListing)
		if err != nil {
			return nil, false, err
		}
		var list listing
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, false, fault.New(fault.Transport, b.place, "invalid listing: must be JSON of objects")
		}
		var names []string
		for _, item := range list.Items {
			if item.Name != after {
				names = append(names, item.Name)
			}
		}
		if len(names) > 0 || list.NextPageToken == "" {
			if len(names) == n+1 { // the offset is not a name
				return names[:n], true, nil
			}
			return names, list.NextPageToken != "", nil
		}
		query.Set("pageToken", list.NextPageToken)
	}
	return nil, false, fault.New(fault.Transport, b.place, "the store sent %d empty pages", maxEmpty)
}
