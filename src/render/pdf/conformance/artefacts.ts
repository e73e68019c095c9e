import { PDFDict, type PDFDocument, PDFName, type PDFObject, PDFRef, PDFStream } from '@cantoo/pdf-lib';
import { dictAt, KEYS, oneOrMore } from '../objects.ts';
import { formNamed, readStream, withText } from './content.ts';

/**
 * Marks what is drawn outside of all structure, such as backgrounds and the boxes of form controls, as artefacts (ISO
 * 32000-1, 14.8.2.2), which readers skip: on pages, and in the groups that have marked content in them.
 */
export function markArtefacts(document: PDFDocument): void {
  const marking = new Marking(document);
  for (const { node } of document.getPages()) {
    const resources = node.Resources();
    let depth = 0;
    const contents = oneOrMore(document, node.get(KEYS.Contents)).map((content) => {
      const stream = document.context.lookup(content);
      if (!(stream instanceof PDFStream)) return content;
      const text = readStream(stream);
      const marked = marking.marked(marking.once(text, resources), resources, depth);
      depth = marked.depth;
      return marked.text === text ? content : marking.replace(content, stream, marked.text);
    });
    node.set(KEYS.Contents, document.context.obj(contents));
  }
}

/** Begins or ends marked content. Skia writes texts in hexadecimal, so that no text looks like an operator. */
const MARK = /\b(BDC|BMC|EMC)\b/g;
/** Something that is drawn. */
const DRAWN = /\b(?:[fFBbSs]\*?|Tj|TJ|Do|sh|EI)\s*(?:\n|$)/;
/** Draws a form, or a picture. */
const DRAWS_FORM = /\/(\S+) Do\b/g;
/** What begins and ends marked content, with its operands. */
const MARKS = /\/\w+(?: *<<[^>]*>> *BDC| BMC)\n?|\bEMC\n?/g;
const MAX_DEPTH = 12;

interface Marked {
  readonly text: string;
  /** How many marks are open at its end. */
  readonly depth: number;
}

class Marking {
  readonly #document: PDFDocument;
  /** Whether the forms have marked content in them; each is changed once. */
  readonly #forms = new Map<PDFStream, boolean>();
  /** Forms with marks that are drawn somewhere. */
  readonly #drawn = new Set<PDFStream>();
  /** The copies of forms without marks. */
  readonly #copies = new Map<PDFStream, PDFRef>();
  /** What takes the place of streams, which several pages may share. */
  readonly #replaced = new Map<PDFObject, PDFRef>();

  constructor(document: PDFDocument) {
    this.#document = document;
  }

  /** @param depth how many marks are open before it. */
  marked(text: string, resources: PDFObject | undefined, depth: number, nesting = 0): Marked {
    const parts: string[] = [];
    let [open, at] = [depth, 0];
    const take = (to: number) => {
      const part = text.slice(at, to);
      parts.push(open === 0 && DRAWN.test(part) ? this.#asArtefacts(part, resources, nesting) : part);
      at = to;
    };
    for (const { 0: mark, index } of text.matchAll(MARK)) {
      if (mark === 'EMC') {
        if (open === 1) take(index);
        open = Math.max(0, open - 1);
      } else {
        // The operands before it belong to it.
        if (open === 0) take(text.lastIndexOf('\n', index) + 1);
        open += 1;
      }
    }
    take(text.length);
    return { text: parts.join(''), depth: open };
  }

  /**
   * Lets what is drawn again be drawn without marks: an id of marked content stands for one place (ISO 32000-1, 14.7.4.2), and
   * Skia draws what is masked twice.
   */
  once(text: string, resources: PDFObject | undefined, nesting = 0): string {
    if (!text.includes(' Do')) return text;
    return text.replaceAll(DRAWS_FORM, (draws, name: string) => {
      if (!this.#hasMarks(name, resources, nesting)) return draws;
      const stream = formNamed(this.#document, resources, name)!.stream;
      if (!this.#drawn.has(stream)) {
        this.#drawn.add(stream);
        return draws;
      }
      const objects = this.#document.context.lookup(resources, PDFDict).lookup(KEYS.XObject, PDFDict);
      objects.set(PDFName.of(`${name}u`), this.#unmarked(stream, resources));
      return `/${name}u Do`;
    });
  }

  /** A copy of a form, and of the forms in it, without marks. */
  #unmarked(stream: PDFStream, resources: PDFObject | undefined, nesting = 0): PDFRef {
    const known = this.#copies.get(stream);
    if (known !== undefined) return known;
    const { context } = this.#document;
    const ref = context.nextRef();
    this.#copies.set(stream, ref);
    const copy = withText(this.#document, stream, readStream(stream).replaceAll(MARKS, ''));
    copy.dict.delete(KEYS.StructParents);
    const own = dictAt(stream.dict, KEYS.Resources);
    const objects = dictAt(own, KEYS.XObject);
    if (own !== undefined && objects !== undefined && nesting < MAX_DEPTH) {
      const [ownCopy, objectsCopy] = [own.clone(context), objects.clone(context)];
      for (const [key] of objects.entries()) {
        const name = key.decodeText();
        if (!this.#hasMarks(name, own, nesting)) continue;
        const inner = formNamed(this.#document, own, name)!.stream;
        objectsCopy.set(key, this.#unmarked(inner, own ?? resources, nesting + 1));
      }
      ownCopy.set(KEYS.XObject, objectsCopy);
      copy.dict.set(KEYS.Resources, ownCopy);
    }
    context.assign(ref, copy);
    this.#forms.set(copy, false);
    return ref;
  }

  replace(content: PDFObject, stream: PDFStream, text: string): PDFRef {
    const known = this.#replaced.get(content);
    if (known !== undefined) return known;
    const { context } = this.#document;
    const changed = withText(this.#document, stream, text);
    const ref = content instanceof PDFRef ? content : context.register(changed);
    context.assign(ref, changed);
    this.#replaced.set(content, ref);
    return ref;
  }

  /** @param text operators outside of all marks, each with its operands on a line. */
  #asArtefacts(text: string, resources: PDFObject | undefined, nesting: number): string {
    const lines = text.split('\n');
    const written: string[] = [];
    // The line at which the present path or text begins.
    let began = -1;
    for (const line of lines) {
      const operator = line.slice(line.lastIndexOf(' ') + 1);
      written.push(line);
      if (PATH.has(operator) || operator === 'BT') {
        if (began === -1) began = written.length - 1;
      } else if (operator === 'ET' || PAINTS.has(operator)) {
        written.splice(began === -1 ? written.length - 1 : began, 0, BEGIN);
        written.push(END);
        began = -1;
      } else if (operator === 'n') began = -1;
      else if (operator === 'Do' && !this.#hasMarks(nameIn(line), resources, nesting)) {
        written.splice(written.length - 1, 0, BEGIN);
        written.push(END);
      }
    }
    return written.join('\n');
  }

  /** Whether a form has marked content in it. What else it draws is then marked as artefacts. */
  #hasMarks(name: string, resources: PDFObject | undefined, nesting: number): boolean {
    const form = formNamed(this.#document, resources, name);
    if (form === undefined || nesting >= MAX_DEPTH) return false;
    const { ref, stream } = form;
    const known = this.#forms.get(stream);
    if (known !== undefined) return known;
    this.#forms.set(stream, false);
    const text = readStream(stream);
    const own = stream.dict.get(KEYS.Resources);
    const drawn = [...text.matchAll(DRAWS_FORM)].map((match) => match[1]!);
    const has =
      text.includes('/MCID') || drawn.some((each) => this.#hasMarks(each, own ?? resources, nesting + 1));
    this.#forms.set(stream, has);
    if (!has) return false;
    const marked = this.marked(
      this.once(text, own ?? resources, nesting + 1),
      own ?? resources,
      0,
      nesting + 1,
    );
    if (marked.text !== text) {
      const changed = withText(this.#document, stream, marked.text);
      this.#document.context.assign(ref as PDFRef, changed);
      this.#forms.set(changed, true);
    }
    return true;
  }
}

const BEGIN = '/Artifact BMC';
const END = 'EMC';
/** Operators that build a path. */
const PATH = new Set(['m', 'l', 'c', 'v', 'y', 'h', 're']);
/** Operators that draw. */
const PAINTS = new Set(['f', 'F', 'f*', 'B', 'B*', 'b', 'b*', 'S', 's', 'sh']);

function nameIn(line: string): string {
  return /\/(\S+)\s+Do$/.exec(line)?.[1] ?? '';
}
