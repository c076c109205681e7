// Package ingest stores uploads that arrive in parts, and publishes them once all parts
// have arrived. It does not depend on the content: the packages below it read parts while
// they arrive, and write the published file.
//
// # Blobs
//
// FOLDER is Upload.Folder, below Incoming:
//
//	FOLDER/round          a round of this upload to begin the search at
//	FOLDER/ROUND/K        the part K, while others are missing
//	FOLDER/ROUND/over     the round has ended, and when
//	FOLDER/ROUND/sums     8 bytes of the sum of each part that was published
//
// A part is a line of JSON, its Head and the Note of its Draft, and its decoded
// bytes as a zstd frame.
//
// # Parts
//
// A part is received into a spool. Parts arrive in any order, at any process over
// the bucket, and repeatedly. The process that stores the last one publishes.
//
// Parts belong to one upload if their folder is the same. A part equal to the stored one
// is accepted again. A part that differs is refused and changes nothing, unless no part
// arrived for ten minutes: then it begins a new upload, and the old one is discarded. If
// the upload has no name, an equal part 0 then begins a new upload, too.
//
// An upload is stored in a round. Each place of a round is created once. A round that was
// published or discarded gets the blob "over" and never opens again. A process that has
// stored a part reads "over" before it answers: either the part is one of the published
// ones, or it is stored in the next round. So no process removes a part that another
// process has accepted.
//
// A part of the last published round, or of one that ended less than ten minutes
// ago, is a repetition while part 0 of the next upload is missing, or if it began
// to arrive before that round ended. If uploads have no names, parts that may
// belong to two uploads are refused during these ten minutes: every other part
// while part 0 is missing, as it may be the rest of an upload that shared its first
// parts with the published one; and a published part in its place, if the part 0
// that is there differs.
//
// Hence clients that send part 0 first, pause for less than ten minutes, and stop
// when a part is refused are never mixed if their parts 0 differ; and if all parts
// of an upload are accepted, it is published. Uploads with names of their own never
// share a folder, and send their parts in any order before they expire.
//
// # Limits
//
// Limits are decoded bytes. A part has at most 200 times as many as were sent, past
// 64 MiB. Publishing reads the line of each part, then its bytes, and needs a few
// hundred bytes of memory for each part.
//
// Expired parts, and the blobs of rounds, are not removed here: dir.Bucket.Sweep
// of Incoming does it in a folder, a life cycle rule in an object store. The clocks
// of the processes over a bucket may differ by seconds.
//
// A Store is safe for concurrent use.
package ingest
