// Package symbfile is the store of uploaded symbols: it takes symbfiles in parts,
// verifies each while it comes in, and publishes a file once all of its parts are
// there.
//
// # Blobs
//
//	AB/CD/ID/ranges, AB/CD/ID/returnpads      what is published (source.ElasticPath)
//	incoming/ID/KIND/N/UPLOAD/round           a round of this upload to begin the search at
//	incoming/ID/KIND/N/UPLOAD/ROUND/K         part K of N that waits for the others
//	incoming/ID/KIND/N/UPLOAD/ROUND/over      the round has ended, and when
//	incoming/ID/KIND/N/UPLOAD/ROUND/sums      8 bytes of the sum of each part that was published
//	known/2 CHARACTERS/REST                   which file another identity belongs to
//
// A published blob is a stream of zstd frames, one for each part and as it came, the
// decoded bytes of which are one valid symbfile: the magic and the header of all parts
// but the first are left out. Behind them is a skippable frame with an Info:
//
//	u32 0x184D2A50, u32 size; JSON; u32 size of the JSON     little endian
//
// A part that waits is a line of JSON (when it came, its sum, size and counts) and
// its frame. UPLOAD is the name of the upload, "~", and the beginning of the SHA-256
// of the client if that is known. A known identity is a build id, or the debug id that
// belongs to it in either order of bytes, as Breakpad writes it, in lower case; the
// blob is {"fileid": base64, "base": number}.
//
// # Parts
//
// A part that begins with the magic is verified by itself. One behind the first that
// does not is a raw continuation, and a first part that ends inside of a message has
// some: they are verified when all are there, as the one file that they are. If that
// fails they are removed.
//
// Parts come in any order, to any process over the bucket, and repeatedly. The process
// that stores the last one publishes, with one Put: old or new, never half. Two that
// publish at one time publish the same parts; of two files, the one whose Put ends
// last stays.
//
// What the parts tell of the binary, its build id and its base, is in the Info, and
// so are the aliases. What they do not tell stays as it was told before, of either
// kind; the base only if the build id stays.
//
// # Uploads
//
// Parts belong to one upload if client, name, file, kind and number of parts are the
// same. A part equal to the one held in its place is taken again. One that differs is
// refused and changes nothing, unless no part came for ten minutes: then it begins a
// new upload, and the old one is forgotten. Where uploads have no names, part 0 does
// so then also if it is equal. A complete upload is published and holds nothing.
//
// An upload is stored in a round. A place of a round takes one part, by a Put with
// IfAbsent, and keeps it. A round that was published or gave way gets the blob "over",
// and never opens again. A process that has stored a part looks for "over" before it
// answers: either the part is one of what is published, or it goes to the next round.
// So no process removes what another one has taken.
//
// A part that was published in the last round, or in one that ended less than ten
// minutes ago, is a repetition while part 0 of the next upload is not held, or if it
// began to come before that round ended. Where uploads have
// no names, parts that may be of two uploads are refused for ten minutes behind that:
// any other part while part 0 is not held, as it may be the rest of an upload that
// shared its first parts with the published one; and one that was published in its
// place, while another part 0 is held.
//
// Hence clients that send part 0 first, pause for less than ten minutes, and stop when
// a part is refused are never mixed, if their parts 0 differ; and if all parts of one
// are taken, it is published. Uploads with names of their own need nothing of this:
// they never meet, and send their parts in any order within Config.Expiry.
//
// # Limits
//
// A part has Config.MaxPart, a file Config.MaxFile decoded bytes; the limits of a
// strict symbfile.Reader hold, and what is decoded has at most 200 times the size of
// what was sent, past 64 MiB. While a part is received it is in a spool, compressed.
// Memory is that of a compressor and a Reader, which holds a message or two, whatever
// the size. A file has MaxParts parts; publishing reads each one's line, then its
// bytes, and holds a hundred bytes of each.
//
// What waits in vain, and the marks of rounds, are removed by nobody here: by
// dir.Bucket.Sweep of the prefix Incoming in a folder, by a life cycle rule in an
// object store, both later than Config.Expiry. The clocks of the processes over a
// bucket may differ by seconds.
//
// A Store is safe for concurrent use.
package symbfile
