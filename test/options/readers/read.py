"""Reads every PDF of a folder by qpdf and by PDFium, and prints what they find: a JSON object by file name.

The argument is the folder. Beside a PDF may be what opens it, as NAME.password. What qpdf complains of in a file is in its `problems`.
"""

import hashlib
import json
import sys
from pathlib import Path

import pikepdf
import pypdfium2


def password(path: Path) -> str:
    file = path.with_suffix(".password")
    return file.read_text() if file.exists() else ""


def by_qpdf(path: Path) -> dict[str, object]:
    with pikepdf.open(path, password=password(path)) as pdf:
        root = pdf.Root
        marked = root.get("/MarkInfo", {}).get("/Marked", False)
        with pdf.open_outline() as outline:
            titles = [str(entry.title) for entry in outline.root]
        return {
            "problems": [str(problem) for problem in pdf.check_pdf_syntax()],
            "sizes": [size(page) for page in pdf.pages],
            "outline": titles,
            "tagged": bool(marked) and "/StructTreeRoot" in root,
            "title": str(pdf.docinfo["/Title"]) if "/Title" in pdf.docinfo else None,
            "attachments": [attachment(name, spec) for name, spec in pdf.attachments.items()],
            "encryption": encryption(pdf, path) if pdf.is_encrypted else None,
            "fields": [field(found) for found in pdf.acroform.fields],
            "associated": [str(file["/UF"]) for file in root.get("/AF", [])],
        }


def field(found: pikepdf.AcroFormField) -> dict[str, object]:
    value = found.value
    values = list(value) if isinstance(value, pikepdf.Array) else [value]
    return {
        "name": found.fully_qualified_name,
        "type": str(found.field_type),
        "label": found.alternate_name,
        "values": [str(each) for each in values if each is not None],
        "flags": found.flags,
        "choices": list(found.choices) if found.is_choice else [],
    }


def encryption(pdf: pikepdf.Pdf, path: Path) -> dict[str, object]:
    file = path.read_bytes()
    found = pdf.encryption
    texts = {text for text in strings(pdf.trailer) if len(text) > 3}
    # Those of the encryption itself have to be read without a password.
    record = pdf.trailer.Encrypt
    texts -= {bytes(record[key]) for key in ("/O", "/U", "/OE", "/UE", "/Perms")}
    texts -= {bytes(part) for part in pdf.trailer.ID}
    # A part of the names of CMaps, which are no texts: /Identity-H.
    texts -= {b"Identity"}
    lower = file.lower()
    readable = [text for text in texts if text in file or text.hex().encode() in lower]
    return {
        "revision": found.R,
        "bits": found.bits,
        "streams": found.stream_method.name,
        "strings": found.string_method.name,
        "version": pdf.pdf_version,
        "allowed": pdf.allow._asdict(),
        "openToAll": opens(path),
        "byOwner": pdf.owner_password_matched,
        "texts": len(texts),
        "readable": [text.decode("latin-1") for text in readable],
    }


def strings(value: pikepdf.Object) -> set[bytes]:
    found: set[bytes] = set()
    seen: set[tuple[int, int]] = set()
    left: list[object] = [value]
    while left:
        value = left.pop()
        if not isinstance(value, pikepdf.Object) or (value.is_indirect and value.objgen in seen):
            continue
        if value.is_indirect:
            seen.add(value.objgen)
        if isinstance(value, pikepdf.String):
            found.add(bytes(value))
        elif isinstance(value, pikepdf.Array):
            left.extend(value)
        elif isinstance(value, pikepdf.Dictionary | pikepdf.Stream):
            left.extend(value[key] for key in value.keys())
    return found


def opens(path: Path) -> bool:
    try:
        pikepdf.open(path).close()
    except pikepdf.PasswordError:
        return False
    return True


def attachment(name: str, spec: pikepdf.AttachedFileSpec) -> dict[str, object]:
    file = spec.get_file()
    return {
        "name": name,
        "fileName": spec.filename,
        "type": file.mime_type,
        "relationship": str(spec.relationship),
        "description": spec.description,
        "size": file.size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "intact": file.md5 == hashlib.md5(file.read_bytes()).digest(),
    }


def size(page: pikepdf.Page) -> list[float]:
    left, bottom, right, top = (float(edge) for edge in page.cropbox)
    unit = float(page.obj.get("/UserUnit", 1))
    width, height = (right - left) * unit, (top - bottom) * unit
    turned = int(page.obj.get("/Rotate", 0)) % 180 == 90
    return [height, width] if turned else [width, height]


def by_pdfium(path: Path) -> dict[str, object]:
    pdf = pypdfium2.PdfDocument(path, password=password(path) or None)
    try:
        return {"text": [page.get_textpage().get_text_range() for page in pdf]}
    finally:
        pdf.close()


def main() -> None:
    files = sorted(Path(sys.argv[1]).glob("*.pdf"))
    print(json.dumps({path.name: by_qpdf(path) | by_pdfium(path) for path in files}))


main()
