package difs

import (
	"net/http"

	"symbolon/internal/api"
	"symbolon/internal/token"
)

const (
	organization = "/api/0/organizations/{org}/"
	project      = "/api/0/projects/{org}/{project}/"
)

// Routes returns the routes of the door.
func (d *Door) Routes() []api.Route {
	const get, post = http.MethodGet, http.MethodPost
	chunks := d.route(post, organization+"chunk-upload/{$}", "Upload chunks of files", token.Upload, d.receiveChunks)
	chunks.MaxBody, chunks.MaxHeld = maxRequest+maxOverhead, chunkMemory
	assemble := d.route(post, project+"files/difs/assemble/{$}", "Assemble debug files from chunks, or ask for their state", token.Upload, d.assemble)
	assemble.MaxBody = maxAssemble
	bundle := d.route(post, organization+"artifactbundle/assemble/{$}", "Assemble a bundle of JavaScript from chunks", token.Upload, d.assembleBundle)
	bundle.MaxBody = maxBundle
	zipped := d.route(post, project+"files/dsyms/{$}", "Upload debug files in a zip file", token.Upload, d.receiveZip)
	zipped.MaxBody, zipped.MaxHeld = int64(d.limits.MaxRequest)+maxOverhead, chunkMemory
	list := d.route(get, project+"files/dsyms/{$}", "List the debug files of a project, or get one", token.Read, d.read)
	list.Methods = append(list.Methods, http.MethodHead)
	return []api.Route{
		d.route(get, "/api/0/{$}", "The rights of the token", "", d.info),
		d.route(get, organization+"chunk-upload/{$}", "The options of uploads", token.Upload, d.options),
		chunks, assemble, bundle, zipped, list,
		d.route(http.MethodDelete, project+"files/dsyms/{$}", "Delete a debug file", token.Delete, d.remove),
		d.route(get, project+"files/dsyms/unknown/{$}", "The checksums of files that the project lacks", token.Upload, d.unknown),
		d.route(post, project+"files/dsyms/associate/{$}", "Nothing: associations are not kept", token.Upload, reply(map[string][]string{"associatedDsymFiles": {}})),
		d.route(post, project+"reprocessing/{$}", "Nothing: nothing is processed again", token.Upload, reply(struct{}{})),
	}
}
