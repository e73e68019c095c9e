"""Reads the structure of every PDF of a folder by qpdf, and prints it: a JSON object by file name.

The argument is the folder. What does not fit together in a file is in its `problems`: a page, annotation or element that
is not found by the way back.
"""

import json
import sys
from pathlib import Path

import pikepdf
from pikepdf import Array, Dictionary, Name


def listed(value: object) -> list[object]:
    if value is None:
        return []
    return list(value) if isinstance(value, Array) else [value]


def same(one: object, other: object) -> bool:
    return one.objgen == other.objgen


class Reader:
    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self.pdf = pdf
        self.problems = [str(problem) for problem in pdf.check_pdf_syntax()]
        self.numbers = {page.obj.objgen: number for number, page in enumerate(pdf.pages)}
        self.elements: list[list[object]] = []
        self.ids: dict[str, object] = {}

    def need(self, holds: bool, what: str) -> None:
        if not holds:
            self.problems.append(what)

    def walk(self, parent: object, depth: int) -> None:
        for kid in listed(parent.get("/K")):
            if not isinstance(kid, Dictionary) or kid.get("/Type") in (Name.OBJR, Name.MCR):
                continue
            self.need(same(kid.P, parent), f"{kid.objgen} has another parent")
            content = [each for each in listed(kid.get("/K")) if isinstance(each, int)]
            page = self.numbers.get(kid.Pg.objgen, "none") if "/Pg" in kid else None
            self.elements.append([depth, str(kid.S), str(kid.get("/Lang", "")), str(kid.get("/Alt", "")), page, content])
            if "/ID" in kid:
                self.need(str(kid.ID) not in self.ids, f"the id {kid.ID} is there twice")
                self.ids[str(kid.ID)] = kid
            self.walk(kid, depth + 1)

    def headers(self, parent: object) -> None:
        for kid in listed(parent.get("/K")):
            if not isinstance(kid, Dictionary) or kid.get("/Type") in (Name.OBJR, Name.MCR):
                continue
            for attributes in listed(kid.get("/A")):
                for header in listed(attributes.get("/Headers")):
                    self.need(str(header) in self.ids, f"no header {header}")
            self.headers(kid)

    def keys(self, root: object) -> int:
        tree = pikepdf.NumberTree(root.ParentTree)
        keys = set()
        for number, page in enumerate(self.pdf.pages):
            if "/StructParents" in page.obj:
                key = int(page.obj.StructParents)
                keys.add(key)
                for content, element in enumerate(listed(tree[key])):
                    found = element is not None and content in listed(element.get("/K"))
                    self.need(found and same(element.Pg, page.obj), f"page {number}: no way to its content {content}")
            for annotation in page.obj.get("/Annots", []):
                if "/StructParent" not in annotation:
                    continue
                key = int(annotation.StructParent)
                keys.add(key)
                objects = [each.Obj for each in listed(tree[key].get("/K")) if isinstance(each, Dictionary) and "/Obj" in each]
                self.need(any(same(each, annotation) for each in objects), f"page {number}: no way to a link")
        self.need(keys == set(tree.keys()), f"{sorted(tree.keys())} are not the keys {sorted(keys)}")
        return len(keys)

    def outline(self, items: object) -> list[object]:
        return [[item.title, item.is_closed, self.number(item.destination), self.outline(item.children)] for item in items]

    def number(self, destination: object) -> int | None:
        return None if destination is None else self.numbers.get(destination[0].objgen)

    def links(self) -> list[object]:
        found = []
        for page in self.pdf.pages:
            for annotation in page.obj.get("/Annots", []):
                action = annotation.get("/A", {})
                destination = annotation.get("/Dest", action.get("/D"))
                found.append(str(action.URI) if "/URI" in action else self.place(destination))
        return found

    def place(self, destination: object) -> int | None:
        if isinstance(destination, (Name, pikepdf.String)):
            named = self.pdf.Root.get("/Dests", {}).get(str(destination))
            return self.number(named)
        return self.number(destination)

    def read(self) -> dict[str, object]:
        root = self.pdf.Root
        tree = root.get("/StructTreeRoot")
        keys = 0
        if tree is not None:
            self.walk(tree, 0)
            self.headers(tree)
            keys = self.keys(tree)
            names = pikepdf.NameTree(tree.IDTree) if "/IDTree" in tree else {}
            self.need(list(names.keys()) == sorted(self.ids), "the tree of ids has others")
            for name in names.keys():
                self.need(same(names[name], self.ids[name]), f"{name} is another element")
        with self.pdf.open_outline() as outline:
            bookmarks = self.outline(outline.root)
        return {
            "problems": self.problems,
            "elements": self.elements,
            "ids": len(self.ids),
            "keys": keys,
            "outline": bookmarks,
            "links": self.links(),
            "lang": str(root.Lang) if "/Lang" in root else None,
            "marked": bool(root.get("/MarkInfo", {}).get("/Marked", False)),
            "pages": len(self.pdf.pages),
        }


def main() -> None:
    found = {}
    for path in sorted(Path(sys.argv[1]).glob("*.pdf")):
        with pikepdf.open(path) as pdf:
            found[path.stem] = Reader(pdf).read()
    print(json.dumps(found))


main()
