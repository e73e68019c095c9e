"""Reads every PDF of a folder by qpdf and by PDFium, and prints what they find: a JSON object by file name.

The argument is the folder. What qpdf complains of in a file is in its `problems`.
"""

import json
import sys
from pathlib import Path

import pikepdf
import pypdfium2


def by_qpdf(path: Path) -> dict[str, object]:
    with pikepdf.open(path) as pdf:
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
        }


def size(page: pikepdf.Page) -> list[float]:
    left, bottom, right, top = (float(edge) for edge in page.cropbox)
    unit = float(page.obj.get("/UserUnit", 1))
    width, height = (right - left) * unit, (top - bottom) * unit
    turned = int(page.obj.get("/Rotate", 0)) % 180 == 90
    return [height, width] if turned else [width, height]


def by_pdfium(path: Path) -> dict[str, object]:
    pdf = pypdfium2.PdfDocument(path)
    try:
        return {"text": [page.get_textpage().get_text_range() for page in pdf]}
    finally:
        pdf.close()


def main() -> None:
    files = sorted(Path(sys.argv[1]).glob("*.pdf"))
    print(json.dumps({path.name: by_qpdf(path) | by_pdfium(path) for path in files}))


main()
