import type { RenderOptions } from '../../../options/all/render-options.ts';
import { printSettings } from '../../../options/all/stages.ts';
import { asPrinted, lengthInInches, type Size } from '../../../options/core/lengths.ts';
import { pageRules } from '../../../options/core/page-rules.ts';
import type { ObservationRule } from '../../../report/observation-rules.ts';
import type { Observation } from '../../../report/observations.ts';
import { type PrintedPages, shrinkage } from '../../../report/print-facts.ts';
import { lastPart } from '../../../report/recorded-requests.ts';
import type { Fact, Inspection } from './inspect-script.ts';

/** Millimetres in a CSS pixel at scale 1. */
const PIXEL_MM = 25.4 / 96;
/** A document that is printed smaller by less than this looks as it should. */
const UNNOTICED = 0.015;
/** Less than this beyond the edge of the paper is seldom content. Millimetres. */
const LEAST_CUT_MM = 3;

/** A printed document, its options, and what an inspection has found in it. */
interface Inspected {
  readonly inspection: Inspection;
  readonly printed: PrintedPages;
  readonly options: RenderOptions;
}

/** A sentence about a fact, and the rule that it belongs to; undefined for a fact that is as the options want it. */
type Described = readonly [rule: ObservationRule, message: string] | undefined;

const DESCRIBE: Readonly<Record<Fact['kind'], (fact: Fact, inspected: Inspected) => Described>> = {
  beyond({ selector, name, numbers: [right = 0, beyond = 0, columns = 0] }, { printed, options }) {
    const { layout } = printed;
    if (layout === undefined || shrinkage(printed, options.scale) === undefined) return undefined;
    const mm = Math.round((right - layout.width) * layout.scale * PIXEL_MM);
    if (mm < LEAST_CUT_MM) return undefined;
    const part = columns > 0 && beyond > 0 ? `${beyond} of its ${columns} columns are` : `${mm} mm of it are`;
    return [
      'overflow',
      `${selector} is wider than the paper: ${part} cut off at the ${name} edge; use landscape, a smaller scale or a ` +
        'narrower layout',
    ];
  },
  hidden({ selector, name, numbers: [count = 0, lost = 0, down = 0, right = 0] }) {
    const part =
      lost > 0
        ? `${lost} of its ${count} parts`
        : down > 0
          ? `${down} px of its height`
          : `${right} px of its width`;
    const why = name === 'cut' ? 'cuts off what is larger than it' : 'scrolls, which paper does not';
    return [
      'hidden',
      `${selector} ${why}: ${part} are hidden; give it overflow: visible and no height in @media print`,
    ];
  },
  hiddenFrame({ selector, numbers: [down = 0, right = 0] }) {
    const part = down > 0 ? `${down} px of its height` : `${right} px of its width`;
    return [
      'hidden',
      `${selector} is smaller than the document in it, and paper does not scroll: ${part} are hidden; make the frame as ` +
        'large as its document',
    ];
  },
  covering({ selector, numbers: [side = 0, size = 0] }) {
    const part =
      side === 2 ? `${size} px of the width` : `${size} px of the document at the ${side ? 'bottom' : 'top'}`;
    return [
      'covered',
      `${selector} is fixed and covers ${part} of every page; use headerTemplate or footerTemplate, or position: static ` +
        'in @media print',
    ];
  },
  rasterised({ selector, name, numbers: [characters = 0] }) {
    return [
      'rasterised',
      `${selector} has a filter (${name}), which turns ${characters} characters into a picture that cannot be ` +
        'searched or copied; remove the filter in @media print',
    ];
  },
  undecodable({ selector, name }) {
    return [
      'undecodable',
      `the picture ${selector} (${shown(name)}) arrived and cannot be shown: its data is none of the formats that ` +
        'browsers know (PNG, JPEG, WebP, AVIF, GIF, SVG), or is cut off',
    ];
  },
  badFont({ name }) {
    return ['undecodable', `the web font ${name} could not be used: its file is no font, or did not arrive`];
  },
  embedded({ selector, name }) {
    return [
      'embedded',
      `${selector} embeds a document (${shown(name)}) that is not printed; merge PDFs after the render instead`,
    ];
  },
  deadLink({ selector, name }) {
    return ['deadLink', `the link ${selector} leads to ${name}, which is not in the document`];
  },
  pageSize({ name }, { options }) {
    if (options.preferCSSPageSize || options.singlePage) return undefined;
    const size = pageRules(`@page { size: ${name} }`)?.size;
    // An orientation alone is used.
    if (size === undefined || size.every((side, i) => isSameLength(side, paperOf(options)[i]!)))
      return undefined;
    return [
      'pageRules',
      `the @page rule has the size ${name}, which is not used without preferCSSPageSize: true`,
    ];
  },
  pageMargin({ name }, { options }) {
    if (options.margin === undefined || options.singlePage) return undefined;
    const declared = pageRules(`@page { ${name} }`)?.margins ?? {};
    const sides = Object.entries(options.margin) as ['top' | 'right' | 'bottom' | 'left', string][];
    const differs = sides.some(([side, length]) => {
      const used = declared[`${side[0]!.toUpperCase()}${side.slice(1)}` as keyof typeof declared];
      return used !== undefined && !isSameLength(used, lengthInInches(length) ?? 0);
    });
    if (Object.keys(declared).length > 0 && !differs) return undefined;
    const shown = name.replace(/^margin: /, '');
    return [
      'pageRules',
      `the @page rule has a margin (${shown}), which is used instead of the option margin`,
    ];
  },
  unsupported({ name, sheet }) {
    const which = sheet === undefined ? 'a style sheet' : `the style sheet ${shown(sheet)}`;
    return [
      'unsupportedCss',
      `${which} uses ${name}, which the browser does not print; the guide "My PDF is wrong" says what to use instead`,
    ];
  },
  synthetic({ selector, name, numbers: [what = 0] }) {
    const [face, does, descriptor] =
      what === 0 ? ['bold', 'smears', 'font-weight: 700'] : ['italic', 'slants', 'font-style: italic'];
    return [
      'fontSynthesis',
      `${selector} has ${face} text, and the web font ${name} has no ${face} face, so the browser ${does} the one that there is; load the ` +
        `face by @font-face with ${descriptor}`,
    ];
  },
  unhyphenated({ selector, name }) {
    const why =
      name === ''
        ? 'no attribute lang names its language'
        : `there is no hyphenation dictionary for "${name}"`;
    return ['unsupportedCss', `hyphens: auto breaks no words of ${selector}, since ${why}`];
  },
  spacer: () => undefined,
  empty: () => undefined,
  garbled({ name, numbers: [kind = 0] }) {
    const why = [
      `the page names no encoding and was read as ${name}, which garbles its text; send charset=utf-8 with it`,
      'the text is garbled: it was UTF-8 and was read as windows-1252 before it was sent',
      'the text has replacement characters (U+FFFD): it was read in another encoding than it was written in',
    ][kind]!;
    return ['garbled', why];
  },
};

/** What an inspection of the page and of the printed document has found. */
export function observationsOf(inspected: Inspected): Observation[] {
  const { inspection, printed } = inspected;
  const described = inspection.facts.flatMap((fact) => {
    const [rule, message] = DESCRIBE[fact.kind](fact, inspected) ?? [];
    return rule === undefined
      ? []
      : [{ rule, message: message!, selector: fact.selector || null, page: null }];
  });
  const more = Object.entries(inspection.more).flatMap(([kind, count]) => {
    const last = described.findLast(({ rule }) => rule === ruleOf(kind as Fact['kind'], inspected));
    return last === undefined ? [] : [{ ...last, message: `${count} more like: ${last.message}` }];
  });
  // An element that is taller than what is in it leaves room on purpose.
  const isSpaced = inspection.facts.some(({ kind }) => kind === 'spacer');
  const isEmpty = inspection.facts.some(({ kind }) => kind === 'empty');
  const seen = isEmpty ? { ...printed, blankPages: printed.pages } : printed;
  const blank = isSpaced && seen.blankPages < seen.pages ? [] : blankPages(seen);
  return [...shrunk(inspected), ...described, ...more, ...blank];
}

function paperOf(options: RenderOptions): Size {
  const { paperWidth = 0, paperHeight = 0, landscape } = printSettings(options);
  return asPrinted([paperWidth, paperHeight], landscape);
}

/** To the precision of a printed page, which is a point. */
function isSameLength(inches: number, other: number): boolean {
  return Math.abs(inches - other) < 1.5 / 72;
}

function ruleOf(kind: Fact['kind'], inspected: Inspected): ObservationRule | undefined {
  return DESCRIBE[kind]({ kind, selector: '', name: '', numbers: [] }, inspected)?.[0];
}

function shrunk({ printed, options }: Inspected): Observation[] {
  const factor = shrinkage(printed, options.scale) ?? 1;
  if (factor > 1 - UNNOTICED) return [];
  const percent = (factor * 100).toFixed(1);
  const message =
    `the document is wider than the paper, so the browser has printed all of it at ${percent} % of its size: 100 mm are ` +
    `${percent} mm; make its widest part narrower`;
  return [{ rule: 'shrunk', message, selector: null, page: null }];
}

function blankPages({ pages, blank, blankPages }: PrintedPages): Observation[] {
  if (blankPages === 0) return [];
  if (blankPages === pages) {
    const message =
      'the PDF is blank: nothing of the document is printed (a hidden body, an empty element that a script should fill, ' +
      'or a tag that is not closed)';
    return [{ rule: 'blank', message, selector: null, page: 1 }];
  }
  const named = `${blank.join(', ')}${blankPages > blank.length ? ', …' : ''}`;
  const message = `${blankPages} of ${pages} pages are blank (${named})`;
  return [{ rule: 'blank', message, selector: null, page: blank[0]! }];
}

/** The last part of an address; of data, its type. */
function shown(address: string): string {
  if (address.startsWith('data:')) return `${address.slice(0, 30)}…`;
  return lastPart(address) ?? address.slice(0, 100);
}
