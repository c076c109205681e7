#!/usr/bin/env python3
"""Upload a zip as the builds of Firefox do: firefox-upload.py FILE-OR-URL.

The address is in SOCORRO_SYMBOL_UPLOAD_URL, the token in SYMBOLON_TOKEN. The requests
are those of the script in Firefox: the zip in the field symbols.zip, or its address
in the field url; no redirects; another try after 408, 429 and errors of the server.
"""
import os
import sys
import time

import requests

TRIES = 7
RETRIED = (408, 429)


def send(url, token, zipped):
    options = dict(headers={"Auth-Token": token}, allow_redirects=False, timeout=(10, 600))
    if zipped.startswith("http"):
        return requests.post(url, data={"url": zipped}, **options)
    with open(zipped, "rb") as file:
        return requests.post(url, files={"symbols.zip": file}, **options)


def main():
    url, token = os.environ["SOCORRO_SYMBOL_UPLOAD_URL"], os.environ["SYMBOLON_TOKEN"]
    for n in range(TRIES):
        if n > 0:
            time.sleep(float(os.environ.get("SYMBOLON_WAIT", "60")))
        got = send(url, token, sys.argv[1])
        print(got.status_code, got.text)
        if got.status_code < 500 and got.status_code not in RETRIED:
            return 0 if got.ok and got.status_code < 300 else 1
    return 1


sys.exit(main())
