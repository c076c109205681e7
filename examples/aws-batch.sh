#!/bin/sh
# Names the frames of the rows in a bucket with an array job of AWS Batch:
#
#     examples/aws-batch.sh QUEUE
#
# The role may read the input, and read, write and delete the output and the cache. Tasks
# whose machine is taken away, and those whose symbols cannot be reached (75), begin again
# and go on with the units that are left. Those with wrong usage (2) or too many rows
# without answers (1) do not.
set -eu
definition='{
  "jobDefinitionName": "symbolon", "type": "container",
  "containerProperties": {
    "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/symbolon",
    "jobRoleArn": "arn:aws:iam::123456789012:role/symbolon",
    "resourceRequirements": [{"type": "VCPU", "value": "2"}, {"type": "MEMORY", "value": "2048"}],
    "command": ["batch", "--part", "auto", "--out", "s3://pings/named/2026-11-24", "s3://pings/raw/2026-11-24/"],
    "environment": [
      {"name": "SYMBOLON_SOURCES", "value": "[{id: mozilla, type: http, url: https://symbols.mozilla.org/try/, is_public: true}]"},
      {"name": "SYMBOLON_CACHE_SHARED_TYPE", "value": "s3"},
      {"name": "SYMBOLON_CACHE_SHARED_BUCKET", "value": "symbolon-cache"},
      {"name": "SYMBOLON_CACHE_SHARED_REGION", "value": "us-east-1"},
      {"name": "SYMBOLON_CACHE_SHARED_AWS_CREDENTIALS_PROVIDER", "value": "container"},
      {"name": "AWS_REGION", "value": "us-east-1"}
    ]
  },
  "retryStrategy": {
    "attempts": 5,
    "evaluateOnExit": [
      {"onExitCode": "1", "action": "EXIT"},
      {"onExitCode": "2", "action": "EXIT"},
      {"onReason": "*", "action": "RETRY"}
    ]
  }
}'
aws batch register-job-definition --cli-input-json "$definition"
aws batch submit-job --job-name symbolon --job-definition symbolon --job-queue "$1" --array-properties size=8
