// Package symbfile is the store of uploaded symbfiles. It verifies each part while
// it arrives, and publishes a file once all of its parts are there.
//
// # Blobs
//
//	AB/CD/ID/ranges, AB/CD/ID/returnpads      a published file (source.ElasticPath)
//	incoming/ID/KIND/N/UPLOAD/                parts that wait for others (package ingest)
//	known/2 CHARACTERS/REST                   the file that another identity belongs to
//
// A published blob is a stream of zstd frames, one for each part. Decoded they are
// one valid symbfile: parts after the first are stored without magic and header.
// The last frame is skippable and has an Info:
//
//	u32 0x184D2A50, u32 size; JSON; u32 size of the JSON     little endian
//
// UPLOAD is the name of the upload, "~", and the beginning of the SHA-256 of the
// client if that is known. Another identity is a build id, or the debug id that
// belongs to it in either order of bytes, as Breakpad writes it, in lower case; the
// blob is {"fileid": base64, "base": number}.
//
// # Parts
//
// A part that begins with the magic is verified by itself. A later part that does not is
// a raw continuation, and a first part that ends inside a message has some: they are
// verified when all are there, as one file. If the file is invalid, all parts are
// removed.
//
// A file is published with one Put: readers get the old one or the new one. Of two
// processes that publish at one time, both publish the same parts; of two files,
// the one whose Put ends last remains.
//
// The build id and the base that clients send are in the Info, and in the other
// identities. Where a client sends none, those of the published files of either
// kind remain valid, the base only with its build id.
//
// # Limits
//
// A part has at most Config.MaxPart, a file Config.MaxFile decoded bytes and MaxParts
// parts; the limits of a strict symbfile.Reader apply. Memory is that of a compressor and
// a Reader, which holds a message or two, regardless of the size.
//
// A Store is safe for concurrent use.
package symbfile
