"""Reads a zip with Python's own library and prints [[name, bytes, SHA-256, date], ...] as JSON.

With names behind the file, only those files are read; of the others the name and the size are told.
"""

import hashlib
import json
import sys
import zipfile

path, names = sys.argv[1], set(sys.argv[2:])
found = []
with zipfile.ZipFile(path) as archive:
    for info in archive.infolist():
        digest = None
        if not names or info.filename in names:
            # Checks the checksum as it reads.
            digest = hashlib.sha256(archive.read(info)).hexdigest()
        found.append([info.filename, info.file_size, digest, list(info.date_time)])
print(json.dumps(found))
