// Package remote has what the cache tiers on a server share: a Monitor connects
// them to it, and connects again after a failure.
package remote
