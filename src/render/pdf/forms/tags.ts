import {
  PDFDict,
  type PDFDocument,
  PDFHexString,
  PDFNull,
  type PDFObject,
  PDFRef,
  PDFStream,
} from '@cantoo/pdf-lib';
import { readStream, withText } from '../conformance/content.ts';
import { type StructureElement, StructureTree } from '../conformance/structure.ts';
import { dictAt, KEYS, name, oneOrMore, textOf } from '../objects.ts';
import type { Widget } from './fields.ts';

/**
 * Puts the widgets into the structure of a tagged document (ISO 14289-1, 7.18.4): each control was printed as a figure with
 * its marker as text, which becomes a form. What the control itself has drawn is an artefact then. A widget without such a
 * figure, as of a control that screen readers do not see, comes at the end.
 *
 * @param marker what the text of a figure begins with, before the number of its control.
 */
export function tagWidgets(document: PDFDocument, widgets: readonly Widget[], marker: string): void {
  const tree = StructureTree.of(document);
  if (tree === undefined) return;
  const artefacts = new Artefacts(tree);
  const figures = figuresOf(tree, marker);
  const byControl = Map.groupBy(widgets, ({ control }) => control);
  for (const [control, own] of byControl) {
    const figure = figures.get(control.id);
    if (figure !== undefined) artefacts.addContentOf(figure);
    let form = figure ?? addedTo(document, tree);
    for (const [i, widget] of own.entries()) {
      // A form has one widget; those on other pages come after it.
      if (i > 0) form = form && addedAfter(document, form);
      if (form === undefined) continue;
      becomeForm(document, form, widget);
      widget.dict.set(KEYS.StructParent, tree.parents.add(form.ref));
    }
  }
  const made = new Set(widgets.map(({ control }) => control.id));
  for (const [id, figure] of figures) if (!made.has(id)) unname(figure);
  artefacts.write();
  for (const page of new Set(widgets.map(({ page: own }) => own))) page.node.set(name('Tabs'), name('S'));
}

type Element = Pick<StructureElement, 'ref' | 'dict'>;

function becomeForm({ context }: PDFDocument, { dict }: Element, { control, ref, page }: Widget): void {
  dict.set(KEYS.S, KEYS.Form);
  dict.set(KEYS.Alt, PDFHexString.fromText((control.label || control.name || 'field').toWellFormed()));
  dict.set(KEYS.K, context.obj({ Type: 'OBJR', Obj: ref, Pg: page.ref }));
}

/** A control that has become no field is a group, without the text of its marker. */
function unname({ dict }: StructureElement): void {
  dict.set(KEYS.S, name('Div'));
  dict.delete(KEYS.Alt);
}

function figuresOf({ elements }: StructureTree, marker: string): Map<number, StructureElement> {
  const found = new Map<number, StructureElement>();
  for (const element of elements) {
    const text = textOf(element.dict.lookup(KEYS.Alt));
    if (text?.startsWith(marker)) found.set(Number(text.slice(marker.length)), element);
  }
  return found;
}

/** A new element at the end of the first one, which is the document. */
function addedTo(document: PDFDocument, { elements: [top] }: StructureTree): Element | undefined {
  if (top === undefined) return undefined;
  const dict = document.context.obj({ Type: 'StructElem', P: top.ref });
  const ref = document.context.register(dict);
  top.dict.set(KEYS.K, document.context.obj([...oneOrMore(document, top.dict.get(KEYS.K)), ref]));
  return { ref, dict };
}

/** A new element after another one. */
function addedAfter(document: PDFDocument, { ref: before, dict: sibling }: Element): Element {
  const above = sibling.lookup(KEYS.P, PDFDict);
  const dict = document.context.obj({ Type: 'StructElem', P: sibling.get(KEYS.P) });
  const ref = document.context.register(dict);
  const kids = oneOrMore(document, above.get(KEYS.K)).flatMap((kid) => (kid === before ? [kid, ref] : [kid]));
  above.set(KEYS.K, document.context.obj(kids));
  return { ref, dict };
}

/** Marked content that is to belong to no element: by the page or the group whose content it is. */
class Artefacts {
  readonly #tree: StructureTree;
  readonly #ids = new Map<PDFObject, Set<number>>();

  constructor(tree: StructureTree) {
    this.#tree = tree;
  }

  addContentOf(element: StructureElement): void {
    const open = [element];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      open.push(...next.children);
      for (const kid of oneOrMore(this.#tree.document, next.dict.get(KEYS.K))) {
        const mark = this.#tree.markOf(kid, next);
        if (mark === undefined) continue;
        const ids = this.#ids.get(mark.holder) ?? new Set();
        this.#ids.set(mark.holder, ids.add(mark.id));
      }
    }
  }

  write(): void {
    const { document } = this.#tree;
    for (const [holder, ids] of this.#ids) {
      for (const id of ids) this.#tree.setHolder(holder, id, PDFNull);
      const found = document.context.lookup(holder);
      const streams =
        found instanceof PDFStream ? [holder] : oneOrMore(document, dictAt(found)?.get(KEYS.Contents));
      for (const reference of streams) this.#rewrite(reference, ids);
    }
  }

  #rewrite(reference: PDFObject, ids: ReadonlySet<number>): void {
    const { document } = this.#tree;
    const stream = document.context.lookup(reference);
    if (!(reference instanceof PDFRef) || !(stream instanceof PDFStream)) return;
    const text = readStream(stream);
    const changed = text.replace(MARKED, (whole, id) => (ids.has(Number(id)) ? '/Artifact BMC' : whole));
    if (changed !== text) document.context.assign(reference, withText(document, stream, changed));
  }
}

/** The beginning of marked content, as Skia writes it. */
const MARKED = /\/\w+ <<\/MCID (\d+) ?>> ?BDC/g;
