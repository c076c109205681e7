-- Names the frames of crash pings in BigQuery. Symbolon runs as a service of Cloud Run,
-- which only the connection's account may invoke. Symbolon itself needs no token there:
-- BigQuery cannot send one.
--
--     gcloud run deploy symbolon --image IMAGE --no-allow-unauthenticated --port 3021 --memory 2Gi --set-env-vars '^;^SYMBOLON_CACHE_DISK_MAX_BYTES=1GiB;SYMBOLON_SOURCES=[{id: mozilla, type: http, url: https://symbols.mozilla.org/try/, is_public: true}]'
--     bq mk --connection --location=us --connection_type=CLOUD_RESOURCE symbolon
--     gcloud run services add-iam-policy-binding symbolon --member serviceAccount:ACCOUNT --role roles/run.invoker
--
-- IMAGE is that of docs/operate/container, ACCOUNT the one that "bq show --connection"
-- prints. The files of a service are in its memory, so that the cache needs a limit. An
-- answer of BigQuery's has at most 10 MB, so that there are few rows in each.
CREATE OR REPLACE FUNCTION crashes.symbolize(stack STRING) RETURNS STRING
REMOTE WITH CONNECTION `us.symbolon`
OPTIONS (endpoint = 'https://symbolon-1234567890.us-central1.run.app/api/rows', max_batching_rows = 100);

SELECT document_id, JSON_QUERY(crashes.symbolize(stack_traces), '$.symbolicated') AS symbolicated
FROM crashes.pings;
