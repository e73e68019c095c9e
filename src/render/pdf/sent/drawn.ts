import { type PDFDict, type PDFDocument, type PDFObject, PDFStream } from '@cantoo/pdf-lib';
import { readStream } from '../conformance/content.ts';
import { dictAt, KEYS, listOf, name, oneOrMore } from '../objects.ts';
import { operationsOf } from './content-tokens.ts';

/** What the pages of a document draw with. */
export interface Drawn {
  /** Fonts that show a text, each with the first page on which it does. */
  readonly fonts: ReadonlyMap<PDFDict, number>;
  /** The device colour spaces that operators and inline pictures name, each with the first page. */
  readonly colours: ReadonlyMap<'DeviceRGB' | 'DeviceCMYK', number>;
}

/** Operators that show text, and those that set a colour of a device. */
const SHOWS = new Set(['Tj', 'TJ', "'", '"']);
const COLOURS = new Map([
  ['rg', 'DeviceRGB'],
  ['RG', 'DeviceRGB'],
  ['k', 'DeviceCMYK'],
  ['K', 'DeviceCMYK'],
] as const);
/** Names of colour spaces, and what inline pictures call them. */
const SPACES = new Map([
  ['DeviceRGB', 'DeviceRGB'],
  ['RGB', 'DeviceRGB'],
  ['DeviceCMYK', 'DeviceCMYK'],
  ['CMYK', 'DeviceCMYK'],
] as const);

/** Reads what pages, their forms, patterns and annotations draw; each stream once. */
export function drawnBy(document: PDFDocument): Drawn {
  const fonts = new Map<PDFDict, number>();
  const colours = new Map<'DeviceRGB' | 'DeviceCMYK', number>();
  const seen = new Set<PDFObject>();
  const { context } = document;
  const dictOf = (object: PDFObject | undefined) => dictAt(context.lookup(object));
  const firstOn = <Key>(map: Map<Key, number>, key: Key, page: number) => map.has(key) || map.set(key, page);

  for (const [i, { node }] of document.getPages().entries()) {
    const page = i + 1;
    const ahead: { content: readonly PDFObject[]; resources: PDFDict | undefined }[] = [];
    const addStream = (object: PDFObject | undefined, inherited: PDFDict | undefined): void => {
      const stream = context.lookup(object);
      if (!(stream instanceof PDFStream) || seen.has(stream)) return;
      seen.add(stream);
      const resources = dictAt(stream.dict, KEYS.Resources) ?? inherited;
      ahead.push({ content: [stream], resources });
    };
    const inherited = dictOf(node.Resources());
    ahead.push({ content: oneOrMore(document, node.get(KEYS.Contents)), resources: inherited });
    for (const appearance of appearancesOf(document, node.lookup(KEYS.Annots)))
      addStream(appearance, inherited);
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      const { content, resources } = next;
      const named = (kind: string, key: string) => dictAt(resources, kind)?.get(name(key));
      let font: PDFDict | undefined;
      const text = content
        .map((each) => context.lookup(each))
        .map((stream) => (stream instanceof PDFStream ? readStream(stream) : ''))
        .join('\n');
      for (const { operator, name: operand, names } of operationsOf(text)) {
        const colour = COLOURS.get(operator as 'rg');
        if (colour !== undefined) firstOn(colours, colour, page);
        else if (operator === 'Tf') font = dictOf(named('Font', operand));
        else if (SHOWS.has(operator)) {
          if (font === undefined || fonts.has(font)) continue;
          fonts.set(font, page);
          for (const glyph of dictAt(font, 'CharProcs')?.values() ?? [])
            addStream(glyph, dictAt(font, KEYS.Resources) ?? resources);
        } else if (operator === 'Do') {
          const drawn = context.lookup(named('XObject', operand));
          if (drawn instanceof PDFStream && drawn.dict.get(KEYS.Subtype) === KEYS.Form)
            addStream(drawn, resources);
        } else if (operator === 'gs') {
          const state = dictOf(named('ExtGState', operand));
          const [set] = listOf(state?.lookup(name('Font')));
          if (set !== undefined) font = dictOf(set);
          addStream(dictAt(state, 'SMask')?.get(name('G')), resources);
        } else if (/^(?:cs|CS|scn|SCN|ID)$/.test(operator)) {
          for (const each of names) {
            const space = SPACES.get(each as 'RGB');
            if (space !== undefined) firstOn(colours, space, page);
          }
          addStream(named('Pattern', operand), resources);
        }
      }
    }
  }
  return { fonts, colours };
}

/** The streams of the appearances of annotations: one for each, or one for each of its states. */
function* appearancesOf({ context }: PDFDocument, annotations: PDFObject | undefined): Generator<PDFObject> {
  for (const each of listOf(annotations)) {
    const normal = dictAt(context.lookup(each), 'AP')?.lookup(name('N'));
    if (normal instanceof PDFStream) yield normal;
    else yield* dictAt(normal)?.values() ?? [];
  }
}
