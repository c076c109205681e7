// Package difs serves Sentry's protocol for debug information files: sentry-cli and the
// build plug-ins that run it upload files, and Symbolicator or another Symbolon reads
// them as from a project of Sentry.
//
//	GET    /api/0/                                                  version and rights of the token
//	GET    /api/0/organizations/ORG/chunk-upload/                   how to cut files into chunks
//	POST   /api/0/organizations/ORG/chunk-upload/                   chunks
//	POST   /api/0/projects/ORG/PROJECT/files/difs/assemble/         files, as lists of chunks
//	POST   /api/0/organizations/ORG/artifactbundle/assemble/        a bundle of JavaScript
//	GET    /api/0/projects/ORG/PROJECT/files/dsyms/                 the list of files; with id=, a file
//	POST   /api/0/projects/ORG/PROJECT/files/dsyms/                 a zip of files, from old clients
//	DELETE /api/0/projects/ORG/PROJECT/files/dsyms/?id=ID           delete a file
//	GET    /api/0/projects/ORG/PROJECT/files/dsyms/unknown/         which of some files are missing
//	POST   /api/0/projects/ORG/PROJECT/files/dsyms/associate/       nothing, for old clients
//	POST   /api/0/projects/ORG/PROJECT/reprocessing/                likewise
//
// PROJECT is a project of the store; any ORG is accepted. The files that a request
// assembles are one upload. A file that the project has already is added to it if the
// existing upload is older than a day or has other labels. A file is identified by its
// content, and ids of requests are used only for files that have none (Claim).
//
// Files are assembled in the background. The request waits for a few seconds, so that
// most answers are final; the client asks again for the others. Chunks belong to the
// token that sent them. Errors are {"detail": text}, which the clients print. A Door is
// safe for concurrent use.
package difs
