# Prints the signatures that TestSignatures expects.
import hashlib, hmac
from urllib.parse import quote

ACCESS, SECRET, REGION, STAMP = "AKEXAMPLE", "secret/of+example", "eu-central-1", "20250310T005901Z"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def sign(method, host, path, headers, body):
    headers = dict(headers, host=host)
    headers["x-amz-date"] = STAMP
    headers["x-amz-content-sha256"] = sha(body)
    names = sorted(headers)
    canonical = [method, quote(path, safe="/-_.~"), ""]
    canonical += ["%s:%s" % (n, headers[n]) for n in names]
    canonical += ["", ";".join(names), sha(body)]
    scope = "/".join([STAMP[:8], REGION, "s3", "aws4_request"])
    text = "\n".join(["AWS4-HMAC-SHA256", STAMP, scope, sha("\n".join(canonical).encode())])
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
        ACCESS, scope, ";".join(names), hmac.digest(key, text.encode(), "sha256").hex())


HOST = "examplebucket.s3.eu-central-1.amazonaws.com"
print(sign("GET", HOST, "/ä b/x=1;y+'(~", {}, b""))
print(sign("PUT", HOST, "/ä b/k/k", {"x-amz-security-token": "tok=en"}, b"body"))
