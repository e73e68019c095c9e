import { TimeoutError, within } from '../../../../infra/async/timeout.ts';
import type { RenderOptions } from '../../../options/all/render-options.ts';
import { EMULATED_MEDIA } from '../../../options/core/emulated-media.ts';
import { WINDOW_SIZE } from '../../../options/core/window-size.ts';
import { type AccessibilityFault, MAX_FAULTS_OF_RULE } from '../../../report/accessibility.ts';
import type { PrintedPages } from '../../../report/print-facts.ts';
import { SCRIPT } from '../../page/page-settings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import {
  type AccessibilityFact,
  type AccessibilityFacts,
  accessibilityScript,
} from './accessibility-script.ts';

/** Elements of a document that is looked at, and of one whose contrast is: that takes longer for each. */
const MAX_ELEMENTS = 20_000;
const MAX_CONTRAST_ELEMENTS = 5000;
/** A look that takes longer is ended. Milliseconds. */
const LOOK_MS = 8000;
/** CSS pixels. */
const WINDOW_HEIGHT = 1000;
const UNKNOWN_WIDTH = 794;

/** What a look at a document has found, and what it has not seen. */
export interface SeenAccessibility {
  readonly faults: readonly AccessibilityFault[];
  /** By character: the selector of the first element that it is in. */
  readonly places: Readonly<Record<string, string>>;
  /** Sentences. */
  readonly unseen: readonly string[];
}

/**
 * Looks for what only the author of a document can mend, after it has been printed, in the medium of paper. Its scripts run
 * no more. By axe-core, where its rules fit paper, and by rules of our own for headings, tables and drawings.
 *
 * @param characters whose elements are wanted.
 */
export async function inspectAccessibility(
  page: RenderPage,
  { layout }: PrintedPages,
  { mediaType, metadata }: RenderOptions,
  characters: readonly string[],
): Promise<SeenAccessibility> {
  const { settings } = page;
  const script = settings.get(SCRIPT);
  const looking = async () => {
    await Promise.all([
      settings.set(SCRIPT, false),
      settings.set(EMULATED_MEDIA, {
        ...settings.get(EMULATED_MEDIA),
        media: mediaType === 'screen' ? 'screen' : 'print',
      }),
      settings.set(WINDOW_SIZE, {
        width: Math.ceil(layout?.width ?? UNKNOWN_WIDTH),
        height: WINDOW_HEIGHT,
        deviceScaleFactor: 1,
      }),
    ]);
    return await page.runIsolated<AccessibilityFacts>(
      accessibilityScript(),
      MAX_ELEMENTS,
      MAX_CONTRAST_ELEMENTS,
      MAX_FAULTS_OF_RULE,
      characters,
    );
  };
  try {
    const { facts, places, ...seen } = await within(LOOK_MS, 'a look at the accessibility', looking());
    const ours = metadata?.title ? facts.filter(({ rule }) => rule !== 'title') : facts;
    return { faults: ours.map(faultOf), places, unseen: unseenIn(seen) };
  } catch (error) {
    page.session.send('Runtime.terminateExecution').catch(() => undefined);
    const why =
      error instanceof TimeoutError ? `within ${LOOK_MS / 1000} s` : `(${String(error).slice(0, 100)})`;
    const unseen = `accessibility could not be looked at ${why}: only what the PDF itself shows is known`;
    return { faults: [], places: {}, unseen: [unseen] };
  } finally {
    settings.set(SCRIPT, script).catch(() => undefined);
  }
}

function unseenIn({ elements, frames, looked }: Omit<AccessibilityFacts, 'facts' | 'places'>): string[] {
  const of = (most: number) => `the document has ${elements} elements, of ${most} at most`;
  if (!looked.rest) return [`accessibility was not looked at: ${of(MAX_ELEMENTS)}`];
  return [
    ...(looked.contrast ? [] : [`contrast was not looked at: ${of(MAX_CONTRAST_ELEMENTS)}`]),
    ...(frames > 0 ? [`the PDF has no structure of what is in frames, of which there are ${frames}`] : []),
  ];
}

function faultOf(fact: AccessibilityFact): AccessibilityFault {
  const { rule, selector } = fact;
  return { rule, message: messageOf(fact), selector: selector || null, page: null, whose: 'document' };
}

function messageOf({ rule, kind, selector, values: [one, other] }: AccessibilityFact): string {
  switch (rule) {
    case 'language':
      return kind === 'html-has-lang'
        ? 'the document does not say its language; give html a lang, such as <html lang="en">'
        : `${selector} has a lang that is no language; give it one such as lang="en" or lang="pt-BR"`;
    case 'title':
      return 'the document has no title; give it a title element, or metadata.title';
    case 'alternativeText':
      return kind === 'drawing'
        ? `the drawing ${selector} has no text in its place; give it role="img" and an aria-label, or aria-hidden="true" if it only decorates`
        : `the picture ${selector} has no text in its place; give it an alt, which is empty (alt="") if it only decorates`;
    case 'headingOrder':
      return kind === 'first'
        ? `${selector} is the first heading, and has level ${one}; headings begin with h1`
        : `${selector} has level ${one} after a heading of level ${other}; levels must not be skipped`;
    case 'headingText':
      return `the heading ${selector} has no text; give it one, or take it out`;
    case 'listItems':
      return messageOfList(kind, selector);
    case 'tableHeaders':
      return messageOfTable(kind, selector, one);
    case 'fieldLabel':
      return `the form field ${selector} has no label; put it into a label element, or give it an aria-label`;
    case 'linkText':
      return `the link ${selector} has no text; give it one, or an aria-label`;
    case 'tabOrder':
      return `${selector} has a tabindex above 0; readers of a PDF go through it in the order of the document, so put the element where it belongs`;
    case 'contrast':
      if (kind === 'link-in-text-block')
        return `the link ${selector} is told from the text around it by its colour alone; underline it`;
      return `the text of ${selector} has a contrast of ${one}:1 to what is behind it, and needs ${other}`;
    case 'missingCharacter':
      return `no font has a character of ${selector}`;
  }
}

function messageOfList(kind: string, selector: string): string {
  switch (kind) {
    case 'list':
      return `the list ${selector} has something else in it than li; put that into an item, or after the list`;
    case 'listitem':
      return `the item ${selector} is in no list; put it into ul or ol`;
    case 'definition-list':
      return `the list ${selector} has something else in it than groups of dt and dd; put that into one of them, or after the list`;
    default:
      return `${selector} is in no list of terms; put it into dl`;
  }
}

function messageOfTable(kind: string, selector: string, rows: unknown): string {
  switch (kind) {
    case 'empty-table-header':
      return `the header cell ${selector} has no text; give it one, or make it a td`;
    case 'scope-attr-valid':
      return `${selector} has a scope that says nothing; it is for th, and is col, row, colgroup or rowgroup`;
    case 'td-headers-attr':
      return `a cell of ${selector} has headers that name no header cells of its table; name the ids of these`;
    case 'th-has-data-cells':
      return `a header cell of ${selector} has no cells that it could be of; make it a td, or put the cells beside it`;
    default:
      return `the table ${selector} has ${String(rows)} rows and no header cells; use th for them, or role="presentation" if it only lays out`;
  }
}
