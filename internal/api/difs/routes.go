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
	chunks := d.route(post, organization+"chunk-upload/{$}", token.Upload, d.receiveChunks)
	chunks.MaxBody, chunks.MaxHeld = maxRequest+maxOverhead, chunkMemory
	assemble := d.route(post, project+"files/difs/assemble/{$}", token.Upload, d.assemble)
	assemble.MaxBody = maxAssemble
	bundle := d.route(post, organization+"artifactbundle/assemble/{$}", token.Upload, d.assembleBundle)
	bundle.MaxBody = maxBundle
	zipped := d.route(post, project+"files/dsyms/{$}", token.Upload, d.receiveZip)
	zipped.MaxBody, zipped.MaxHeld = int64(d.limits.MaxRequest)+maxOverhead, chunkMemory
	list := d.route(get, project+"files/dsyms/{$}", token.Read, d.read)
	list.Methods = append(list.Methods, http.MethodHead)
	return []api.Route{
		d.route(get, "/api/0/{$}", "", d.info),
		d.route(get, organization+"chunk-upload/{$}", token.Upload, d.options),
		chunks, assemble, bundle, zipped, list,
		d.route(http.MethodDelete, project+"files/dsyms/{$}", token.Delete, d.remove),
		d.route(get, project+"files/dsyms/unknown/{$}", token.Upload, d.unknown),
		d.route(post, project+"files/dsyms/associate/{$}", token.Upload, reply(map[string][]string{"associatedDsymFiles": {}})),
		d.route(post, project+"reprocessing/{$}", token.Upload, reply(struct{}{})),
	}
}
