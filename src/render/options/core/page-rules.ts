import { lengthInInches, PAPER_INCHES, type Size } from './lengths.ts';
import type { PageRules } from './page-area.ts';

type Declared = { -readonly [Name in keyof PageRules]: PageRules[Name] };

const COMMENTS = /\/\*[\s\S]*?(?:\*\/|$)/g;
/** A rule for all pages; those for the first page or for named ones have a selector. Margin boxes are nested in it. */
const PAGE_RULE = /@page\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/gi;
const MARGIN_BOX = /@[a-z-]+\s*\{[^{}]*\}/gi;

const mm = (width: number, height: number): Size => [width / 25.4, height / 25.4];
/** The page sizes of CSS (CSS Paged Media 3, section 7.1). */
const SIZES = new Map<string, Size>(
  Object.entries({
    ...PAPER_INCHES,
    B5: mm(176, 250),
    B4: mm(250, 353),
    'jis-b5': mm(182, 257),
    'jis-b4': mm(257, 364),
    ledger: PAPER_INCHES.Tabloid,
  })
    .filter(([name]) => name !== 'Tabloid')
    .map(([name, size]) => [name.toLowerCase(), size]),
);

/**
 * Reads the `@page` rules of style sheets, of which the last counts; media queries and layers around them are not heeded.
 * Takes time linear in the length of `css`.
 *
 * @returns undefined when there are none.
 */
export function pageRules(css: string): PageRules | undefined {
  if (!/@page/i.test(css)) return undefined;
  const rules = [...css.replace(COMMENTS, ' ').matchAll(PAGE_RULE)];
  if (rules.length === 0) return undefined;
  const declared: Declared = { margins: {} };
  for (const [, block = ''] of rules) {
    for (const declaration of block.replace(MARGIN_BOX, ';').split(';')) {
      const colon = declaration.indexOf(':');
      const value = declaration.slice(colon + 1).replace(/!\s*important\s*$/i, '');
      declare(declared, declaration.slice(0, Math.max(0, colon)).trim().toLowerCase(), words(value));
    }
  }
  return declared;
}

function words(value: string): string[] {
  return value
    .toLowerCase()
    .split(/\s/)
    .filter((word) => word !== '');
}

/** A declaration that is not understood has no effect, as in CSS. */
function declare(declared: Declared, name: string, values: readonly string[]): void {
  if (name === 'size') declareSize(declared, values);
  const all = name === 'margin';
  if (!all && !name.startsWith('margin-')) return;
  const inches = values.map(length);
  if (inches.length === 0 || inches.length > (all ? 4 : 1) || inches.includes(undefined)) return;
  const [top, right = top, bottom = top, left = right] = inches as number[];
  const sides = { Top: top!, Right: right!, Bottom: bottom!, Left: left! };
  if (all) declared.margins = sides;
  else {
    const side = (Object.keys(sides) as (keyof typeof sides)[]).find(
      (each) => name === `margin-${each.toLowerCase()}`,
    );
    if (side) declared.margins = { ...declared.margins, [side]: top! };
  }
}

function declareSize(declared: Declared, values: readonly string[]): void {
  const orientation = values.find((word) => word === 'portrait' || word === 'landscape');
  const others = values.filter((word) => word !== orientation);
  const [first, second = first] = others;
  if (first === undefined || values.length > 2) {
    if (orientation === undefined || values.length > 1) return;
    Object.assign(declared, { size: undefined, orientation });
    return;
  }
  if (first === 'auto') {
    Object.assign(declared, { size: undefined, orientation: undefined });
    return;
  }
  const named = others.length === 1 ? SIZES.get(first) : undefined;
  const [width, height] = named ?? [length(first), length(second!)];
  if (!width || !height || (named === undefined && orientation !== undefined)) return;
  const turned = orientation === 'landscape';
  Object.assign(declared, { size: turned ? [height, width] : [width, height], orientation: undefined });
}

/** @returns inches; undefined for a length that depends on something else (em, %), or has no unit. */
function length(word: string): number | undefined {
  return word === '0' || /[a-z]$/.test(word) ? lengthInInches(word) : undefined;
}
