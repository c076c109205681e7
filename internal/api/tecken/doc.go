// Package tecken serves uploads of debug files by Mozilla's clients, with the requests
// and answers of Mozilla's symbol server, Tecken.
//
//	POST   /upload/                    a zip of files, or the address of one in the field url
//	POST   /upload/v2/                 a list of files, to which the answer has addresses
//	PUT    /upload/v2/SESSION/N        a file, or a part of it
//	POST   /upload/auth_info/          what the token allows
//	GET    /api/uploads/               uploads, newest first
//	GET    /api/uploads/upload/ID      an upload with its files
//	GET    /api/uploads/files/         files of uploads, newest first
//	GET    /api/stats/                 numbers of uploads
//	GET    /api/syminfo/NAME/ID        the identifiers of a module
//	GET    /api/tokens/                tokens; POST adds one
//	DELETE /api/tokens/token/ID        revokes one
//	GET    /missingsymbols.csv         modules that were asked for and not found
//
// Files go to the project of the token, or to default. Files of try builds go to a second
// project next to it (Try). Clients that may read the first project can read the second
// one below /try/.
//
// All files of a zip are stored, or none of them. They are identified by their content; a
// path with another identifier is refused, since no request for it would find the file.
// Each file of a session is an upload of its own. Errors are {"error": text}, which the
// clients print. A Door is safe for concurrent use.
package tecken
