"""Signs digests as a customer's server does, and judges signatures of PDFs, by pyHanko: one JSON document a line, in and out."""

import asyncio
import base64
import json
import sys
from datetime import datetime, timezone

from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificate
from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import SimpleSigner
from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko_certvalidator import ValidationContext


def sign(call):
    signer = SimpleSigner.load(call["key"], call["cert"], ca_chain_files=call["chain"])
    attributes = PdfCMSSignedAttributes(signing_time=datetime.now(timezone.utc)) if call["timed"] else None
    digest = base64.b64decode(call["digest"])
    cms = asyncio.run(signer.async_sign(digest, call["algorithm"], use_pades=not call["timed"], signed_attr_settings=attributes))
    return {"cms": base64.b64encode(cms.dump()).decode()}


def pkcs12(call):
    """A file with a key and with certificates in this order, whosever they are."""
    with open(call["key"], "rb") as file:
        key = load_pem_private_key(file.read(), None)
    certificates = []
    for path in call["certs"]:
        with open(path, "rb") as file:
            certificates.append(load_pem_x509_certificate(file.read()))
    encryption = BestAvailableEncryption(call["password"].encode())
    made = serialize_key_and_certificates(None, key, None, certificates, encryption)
    return {"file": base64.b64encode(made).decode()}


def verify(call):
    """Whether each signature of a PDF is what it says, of which bytes, and by whom."""
    roots = [load_cert_from_pemder(path) for path in call["authorities"]]
    context = ValidationContext(trust_roots=roots, allow_fetching=False)
    found = []
    with open(call["pdf"], "rb") as file:
        reader = PdfFileReader(file)
        if call["stored"]:
            # By nothing but what the document has, which has to prove all certificates.
            store = DocumentSecurityStore.read_dss(reader)
            terms = {"trust_roots": roots, "allow_fetching": False, "revocation_mode": "require"}
            context = store.as_validation_context(terms)
        for signature in reader.embedded_signatures:
            status = validate_pdf_signature(signature, context, ts_validation_context=context)
            stamp = status.timestamp_validity
            found.append(
                {
                    "intact": status.intact,
                    "valid": status.valid,
                    "trusted": status.trusted,
                    "good": status.bottom_line,
                    "coverage": status.coverage.name,
                    "modified": status.modification_level and status.modification_level.name,
                    "signer": status.signing_cert.subject.native.get("common_name"),
                    "reason": signature.sig_object.get("/Reason"),
                    "location": signature.sig_object.get("/Location"),
                    "filter": signature.sig_object.get("/SubFilter"),
                    "stamped": stamp is not None and stamp.valid and stamp.intact and stamp.trusted,
                    "attributes": [a["type"].native for a in signature.signer_info["signed_attrs"]],
                }
            )
    return {"signatures": found}


COMMANDS = {"pkcs12": pkcs12, "sign": sign, "verify": verify}

for line in sys.stdin:
    call = json.loads(line)
    try:
        reply = COMMANDS[call["do"]](call)
    except Exception as error:  # the test says what it expected
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply, default=str), flush=True)
