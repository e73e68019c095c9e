import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AccessibilityRule } from '../../../report/accessibility.ts';
import { SHOW } from '../print/hide-document.ts';

/** What the script has found. */
export interface AccessibilityFact {
  readonly rule: AccessibilityRule;
  /** Which kind of it, as the words for it are chosen. */
  readonly kind: string;
  readonly selector: string;
  /** Numbers or short texts for the sentence. */
  readonly values: readonly (number | string)[];
}

/** The result of a look at the accessibility of a document. */
export interface AccessibilityFacts {
  readonly facts: readonly AccessibilityFact[];
  /** By character: the selector of the first element that it is in. */
  readonly places: Readonly<Record<string, string>>;
  /** Elements of the document. */
  readonly elements: number;
  /** Frames, which are not looked into. */
  readonly frames: number;
  /** Whether contrast was looked at, and everything else. */
  readonly looked: { readonly contrast: boolean; readonly rest: boolean };
}

/** Rules of axe-core that fit a document on paper, by the rule that they are one of. */
const AXE_RULES: Readonly<Record<string, AccessibilityRule>> = {
  'html-has-lang': 'language',
  'html-lang-valid': 'language',
  'valid-lang': 'language',
  'document-title': 'title',
  'area-alt': 'alternativeText',
  'image-alt': 'alternativeText',
  'input-image-alt': 'alternativeText',
  'object-alt': 'alternativeText',
  'role-img-alt': 'alternativeText',
  'svg-img-alt': 'alternativeText',
  'aria-input-field-name': 'fieldLabel',
  'aria-toggle-field-name': 'fieldLabel',
  'button-name': 'fieldLabel',
  'input-button-name': 'fieldLabel',
  label: 'fieldLabel',
  'select-name': 'fieldLabel',
  'link-name': 'linkText',
  'color-contrast': 'contrast',
};

let source: string | undefined;

/** The source of axe-core, read when it is first needed. */
function axeSource(): string {
  source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  return source;
}

/**
 * The source of a function that runs in a world of its own, after the document has been printed, in the medium of paper.
 *
 * @param maxElements of a document that is looked at. @param maxContrast of one whose contrast is. @param maxFacts of a rule.
 * @param characters whose elements are wanted; 200 at most.
 */
export function accessibilityScript(): string {
  return `async (maxElements, maxContrast, maxFacts, characters) => {
  (${SHOW})();
  const { querySelectorAll } = Document.prototype;
  const all = (selector) => [...querySelectorAll.call(document, selector)];
  const elements = querySelectorAll.call(document, '*').length;
  const frames = all('iframe, frame').length;
  if (elements > maxElements) return { facts: [], places: {}, elements, frames, looked: { contrast: false, rest: false } };
  const contrast = elements <= maxContrast;
  // The document's scripts run no more, nor do timers: what axe-core leaves for later is done as soon as it can be.
  const setTimeout = (work) => void Promise.resolve().then(work);
  ${axeSource()}
  const ofAxe = ${JSON.stringify(AXE_RULES)};
  const facts = [];
  const add = (rule, kind, selector, values = []) => {
    if (facts.filter((fact) => fact.rule === rule).length > maxFacts) return;
    facts.push({ rule, kind, selector: String(selector).slice(0, 300), values });
  };
  const selectorOf = (element) => {
    const steps = [];
    for (let e = element; e && e !== document.body && e !== document.documentElement && steps.length < 3; e = e.parentElement) {
      const id = e.getAttribute('id');
      if (id) {
        steps.unshift('#' + CSS.escape(id));
        break;
      }
      const alike = [...(e.parentElement?.children ?? [])].filter((other) => other.localName === e.localName);
      steps.unshift(e.localName + (alike.length > 1 ? ':nth-of-type(' + (alike.indexOf(e) + 1) + ')' : ''));
    }
    return steps.join(' > ') || element.localName;
  };
  const rules = Object.keys(ofAxe).filter((id) => contrast || id !== 'color-contrast');
  const { violations } = await axe.run(document, {
    runOnly: { type: 'rule', values: rules }, iframes: false, preload: false, resultTypes: ['violations'], elementRef: false,
  });
  for (const { id, nodes } of violations)
    for (const { target, any } of nodes) {
      const { contrastRatio, expectedContrastRatio } = any[0]?.data ?? {};
      add(ofAxe[id], id, target.flat().join(' >>> '), id === 'color-contrast' ? [contrastRatio, expectedContrastRatio] : []);
    }
  const shows = (element) => {
    if (element.closest('[aria-hidden=true], [hidden]')) return false;
    const { display, visibility } = getComputedStyle(element);
    return display !== 'none' && visibility === 'visible' && element.getClientRects().length > 0;
  };
  const named = (element) =>
    element.getAttribute('aria-label') || element.getAttribute('aria-labelledby') || element.getAttribute('title');
  for (const drawing of all('svg, canvas, video')) {
    const isDecoration = ['presentation', 'none', 'img'].includes(drawing.getAttribute('role'));
    if (isDecoration || drawing.parentElement?.closest('svg, [role=img]') || !shows(drawing)) continue;
    const hasText = named(drawing) || drawing.querySelector(':scope > title')?.textContent.trim();
    if (!hasText) add('alternativeText', 'drawing', selectorOf(drawing));
  }
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5, h6, [role=heading]')) {
    const role = heading.getAttribute('role');
    if ((role !== null && role !== 'heading') || heading.textContent.trim() === '' || !shows(heading)) continue;
    const own = Number(heading.getAttribute('aria-level')) || Number(heading.localName[1]) || 2;
    if (own > level + 1) add('headingOrder', level === 0 ? 'first' : 'skips', selectorOf(heading), [own, level]);
    level = own;
  }
  for (const table of all('table, [role=table], [role=grid]')) {
    const role = table.getAttribute('role');
    if (role === 'presentation' || role === 'none' || !shows(table)) continue;
    const own = (selector) => [...table.querySelectorAll(selector)].filter((cell) => cell.closest('table, [role=table], [role=grid]') === table);
    const rows = own('tr, [role=row]');
    const cells = own('td, th, [role=cell], [role=gridcell], [role=rowheader], [role=columnheader]');
    if (rows.length < 2 || cells.length <= rows.length) continue;
    if (own('th, [role=rowheader], [role=columnheader]').length === 0) add('tableHeaders', 'none', selectorOf(table), [rows.length]);
  }
  const places = {};
  const walker = characters.length > 0 ? document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT) : null;
  for (const wanted = new Set(characters); wanted.size > 0 && walker.nextNode(); )
    for (const character of wanted)
      if (walker.currentNode.data.includes(character)) {
        places[character] = selectorOf(walker.currentNode.parentElement);
        wanted.delete(character);
      }
  return { facts, places, elements, frames, looked: { contrast, rest: true } };
}`;
}
