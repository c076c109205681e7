package token

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Limit restricts an added token to these rights, which it must have, and to an expiry,
// which must not be later than its own. Without rights its rights are not changed, with
// the zero time its expiry is not.
func (r *Ring) Limit(ctx context.Context, id string, rights []Right, expires time.Time) error {
	return r.change(ctx, func(all []Token) ([]Token, error) {
		i := slices.IndexFunc(all, func(t Token) bool { return t.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("unknown token %q", id)
		}
		t := all[i]
		for _, right := range rights {
			if !t.May(right, "") {
				return nil, fmt.Errorf("invalid right %q: must be one that the token has", right)
			}
		}
		if !expires.IsZero() && !t.Expires.IsZero() && expires.After(t.Expires) {
			return nil, fmt.Errorf("invalid expiry %s: must not be after %s", expires.Format(time.RFC3339), t.Expires.Format(time.RFC3339))
		}
		if len(rights) > 0 {
			t.Rights = rights
		}
		if !expires.IsZero() {
			t.Expires = expires.UTC().Truncate(time.Second)
		}
		t.Right = "" // of an earlier release
		if err := t.validate(r.now()); err != nil {
			return nil, err
		}
		all = slices.Clone(all)
		all[i] = t
		return all, nil
	})
}
