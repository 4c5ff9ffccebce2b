"""A real S3 server on loopback, and what boto3, deltalake and Polars find in its bucket `fleet`.

    bucket.py serve             prints its address, and serves until its standard input ends
    bucket.py fetch URL FOLDER  copies all objects
    bucket.py count URL TABLE   the number of rows by the Delta Lake log, by deltalake and by Polars
"""

import pathlib
import sys

import boto3

BUCKET = "fleet"
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}


def serve():
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    boto3.client("s3", endpoint_url=url, **KEYS).create_bucket(Bucket=BUCKET)
    print(url, flush=True)
    sys.stdin.read()


def fetch(url, folder):
    bucket = boto3.resource("s3", endpoint_url=url, **KEYS).Bucket(BUCKET)
    for found in bucket.objects.all():
        path = pathlib.Path(folder, found.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        bucket.download_file(found.key, str(path))
    print(sum(1 for _ in bucket.multipart_uploads.all()))


def count(url, table):
    import deltalake
    import polars

    options = {**{key.upper(): value for key, value in KEYS.items()}, "AWS_REGION": KEYS["region_name"]}
    options |= {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true"}
    opened = deltalake.DeltaTable(f"s3://{BUCKET}/tables/{table}", storage_options=options)
    print(polars.scan_delta(opened).select(polars.len()).collect().item(), len(opened.file_uris()))


if __name__ == "__main__":
    {"serve": serve, "fetch": fetch, "count": count}[sys.argv[1]](*sys.argv[2:])
