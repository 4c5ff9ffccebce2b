# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the wheel: the package, and in it the library, which Cargo builds unless LTTNG_RUNTIME_LIBRARY names one (PEP 517)."""

import base64
import hashlib
import os
import platform
import subprocess
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME, VERSION = "lttng_runtime", "0.1.0"
METADATA = """Metadata-Version: 2.1
Name: lttng-runtime
Version: %s
Summary: LTTng-UST events and USDT probes that are declared at run time
Requires-Python: >=3.8
License: MIT OR Apache-2.0
""" % VERSION


def library():
    named = os.environ.get("LTTNG_RUNTIME_LIBRARY")
    if named:
        return named
    manifest = os.path.join(HERE, "..", "Cargo.toml")
    target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(HERE, "..", "..", "target")
    command = ["cargo", "build", "--release", "--lib", "--manifest-path", manifest, "--target-dir", target]
    subprocess.run(command, check=True)
    return os.path.join(target, "release", "liblttng_runtime.so")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = "py3-none-linux_%s" % platform.machine()
    package = os.path.join(HERE, NAME)
    files = [("%s/%s" % (NAME, name), os.path.join(package, name)) for name in ("__init__.py", "py.typed")]
    files.append((NAME + "/liblttng_runtime.so", library()))
    contents = [(name, open(path, "rb").read()) for name, path in files]
    info = "%s-%s.dist-info/" % (NAME, VERSION)
    wheel = "Wheel-Version: 1.0\nGenerator: wheel_with_library\nRoot-Is-Purelib: false\nTag: %s\n" % tag
    contents += [(info + "METADATA", METADATA.encode()), (info + "WHEEL", wheel.encode())]
    record = [
        "%s,sha256=%s,%d" % (name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
        for name, data in contents
    ]
    record.append(info + "RECORD,,")
    contents.append((info + "RECORD", ("\n".join(record) + "\n").encode()))
    file_name = "%s-%s-%s.whl" % (NAME, VERSION, tag)
    with zipfile.ZipFile(os.path.join(wheel_directory, file_name), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents:
            archive.writestr(name, data)
    return file_name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("there is no source distribution: the library is built from the repository; build a wheel")
