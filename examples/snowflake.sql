-- Names the frames of crash pings in Snowflake. Requests go through a gateway of the
-- cloud, here one of AWS, that forwards POST /api/rows to Symbolon, and adds the header
-- Authorization if Symbolon has tokens. The role trusts the two values that
-- DESCRIBE INTEGRATION prints.
CREATE OR REPLACE API INTEGRATION symbolon
  API_PROVIDER = aws_api_gateway
  API_AWS_ROLE_ARN = 'arn:aws:iam::123456789012:role/symbolon'
  API_ALLOWED_PREFIXES = ('https://abcdef1234.execute-api.us-east-1.amazonaws.com/prod/')
  ENABLED = TRUE;
DESCRIBE INTEGRATION symbolon;

CREATE OR REPLACE EXTERNAL FUNCTION symbolize(stack VARCHAR) RETURNS VARIANT
  API_INTEGRATION = symbolon
  MAX_BATCH_ROWS = 100
  AS 'https://abcdef1234.execute-api.us-east-1.amazonaws.com/prod/api/rows';

SELECT document_id, PARSE_JSON(symbolize(stack_traces)):symbolicated AS symbolicated
FROM pings;
