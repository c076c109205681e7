// Package remote has the common parts of cache tiers on a server: a Monitor connects a
// tier, and reconnects it after a failure; a Packer and Unpack write and read the zstd
// streams in which entries are stored.
package remote
