// Package remote has what the cache tiers on a server share: a Monitor connects
// them to it, and connects again after a failure; a Packer and Unpack make and
// read the zstd streams in which entries are stored.
package remote
