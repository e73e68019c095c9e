import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { MAX_ROOTS, ROOTS } from '../../../options/core/document-roots.ts';
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
  'empty-heading': 'headingText',
  'definition-list': 'listItems',
  dlitem: 'listItems',
  list: 'listItems',
  listitem: 'listItems',
  'empty-table-header': 'tableHeaders',
  'scope-attr-valid': 'tableHeaders',
  'td-headers-attr': 'tableHeaders',
  'th-has-data-cells': 'tableHeaders',
  'aria-input-field-name': 'fieldLabel',
  'aria-meter-name': 'fieldLabel',
  'aria-progressbar-name': 'fieldLabel',
  'aria-toggle-field-name': 'fieldLabel',
  'button-name': 'fieldLabel',
  'input-button-name': 'fieldLabel',
  label: 'fieldLabel',
  'select-name': 'fieldLabel',
  'link-name': 'linkText',
  tabindex: 'tabOrder',
  'link-in-text-block': 'contrast',
  'color-contrast': 'contrast',
};

let source: string | undefined;

/** The source of axe-core, read when it is first needed. */
function axeSource(): string {
  source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  return source;
}

/**
 * The source of a function: a kind for each element, which those share that have the same colours, sizes and backgrounds, and so
 * the same contrast. An element that is not where the flow of the document puts it is of no kind, as what is behind it may be
 * anything; where such an element has a background, none is of any.
 */
const ALIKE = `(elements, childrenOf, shadowOf) => {
  const around = new Map(), kinds = new Map();
  for (const element of elements) {
    const { behind, moved } = around.get(element) ?? { behind: '', moved: false };
    const style = getComputedStyle(element);
    const { position, transform, translate, rotate, scale, marginTop, marginLeft, marginBottom, marginRight, float } = style;
    const isMoved = moved || position !== 'static' || float !== 'none' ||
      [transform, translate, rotate, scale].some((each) => each !== 'none') ||
      [marginTop, marginLeft, marginBottom, marginRight].some((each) => each.startsWith('-'));
    const { backgroundColor, backgroundImage, opacity, display } = style;
    const hasBackground = backgroundColor !== 'rgba(0, 0, 0, 0)' || backgroundImage !== 'none';
    const isPicture = ['img', 'canvas', 'video', 'svg', 'object', 'iframe'].includes(element.localName);
    if (isMoved && (hasBackground || isPicture)) return new Map();
    const inside = {
      behind: behind + (hasBackground ? '|' + backgroundColor + backgroundImage : '') + (opacity === '1' ? '' : '%' + opacity),
      // Parts of a grid may be in the same place.
      moved: isMoved || display.includes('grid'),
    };
    const shadow = shadowOf(element);
    const slotted = element.localName === 'slot' ? element.assignedElements() : [];
    for (const child of [...(shadow ? shadow.children : childrenOf(element)), ...slotted]) around.set(child, inside);
    const { color, fontSize, fontWeight, textShadow } = style;
    if (!isMoved) kinds.set(element, [color, fontSize, fontWeight, textShadow, display, inside.behind].join());
  }
  return kinds;
}`;

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
  const { roots, cut } = (${ROOTS})(${MAX_ROOTS}, maxElements, () => false);
  let elements = 0;
  for (const { root, inFrame } of roots)
    if (!inFrame) elements += (root === document ? Document : DocumentFragment).prototype.querySelectorAll.call(root, '*').length;
  if (cut) elements = Math.max(elements, maxElements + 1);
  const frames = all('iframe, frame').length;
  if (elements > maxElements) return { facts: [], places: {}, elements, frames, looked: { contrast: false, rest: false } };
  const contrast = elements <= maxContrast;
  // The document's scripts run no more, nor do timers: what axe-core leaves for later is done as soon as it can be.
  const setTimeout = (work) => void Promise.resolve().then(work);
  // axe-core takes words for icons whose letters join, and looks at the contrast of none: what is not ASCII names no icon.
  const { measureText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.measureText = function (text) {
    return /[^ -~]/.test(text) ? { width: 30 * text.length } : measureText.call(this, text);
  };
  ${axeSource()}
  const ofAxe = ${JSON.stringify(AXE_RULES)};
  const facts = [];
  const add = (rule, kind, selector, values = []) => {
    if (facts.filter((fact) => fact.rule === rule).length > maxFacts) return;
    facts.push({ rule, kind, selector: String(selector).slice(0, 300), values });
  };
  const getter = (prototype, name) => {
    const { get } = Object.getOwnPropertyDescriptor(prototype, name);
    return (element) => get.call(element);
  };
  const [shadowOf, childrenOf, fragmentChildrenOf] = [
    getter(Element.prototype, 'shadowRoot'), getter(Element.prototype, 'children'), getter(DocumentFragment.prototype, 'children'),
  ];
  // In the order in which they are printed: shadow trees in place of what is in their hosts, and this where they have slots.
  const shown = [];
  const todo = document.documentElement ? [document.documentElement] : [];
  for (let element = todo.pop(); element; element = todo.pop()) {
    shown.push(element);
    const shadow = shadowOf(element);
    const assigned = element.localName === 'slot' ? element.assignedElements() : [];
    const inside = shadow ? fragmentChildrenOf(shadow) : assigned.length > 0 ? assigned : childrenOf(element);
    for (let i = inside.length - 1; i >= 0; i -= 1) todo.push(inside[i]);
  }
  const each = (selector) => shown.filter((element) => element.matches(selector));
  const selectorOf = (element) => {
    const root = element.getRootNode();
    return (root.host ? selectorOf(root.host) + ' >>> ' : '') + selectorIn(element);
  };
  // As few steps as lead to this element and to no other.
  const selectorIn = (element) => {
    const root = element.getRootNode();
    const { querySelectorAll } = (root === document ? Document : DocumentFragment).prototype;
    let selector = '';
    for (let e = element; e; e = e.parentElement) {
      const id = e.getAttribute('id');
      const beside = e.parentElement ? childrenOf(e.parentElement) : (root.children ?? []);
      const alike = [...beside].filter((other) => other.localName === e.localName);
      const step = id ? '#' + CSS.escape(id) : e.localName + (alike.length > 1 ? ':nth-of-type(' + (alike.indexOf(e) + 1) + ')' : '');
      selector = selector === '' ? step : step + ' > ' + selector;
      if (querySelectorAll.call(root, selector).length === 1) break;
    }
    return selector;
  };
  const rules = Object.keys(ofAxe).filter((id) => contrast || id !== 'color-contrast');
  const kindOf = contrast ? (${ALIKE})(shown, childrenOf, shadowOf) : new Map();
  // One of each kind first, the first that axe-core looks at, and then all of the kinds of which that has not passed.
  const lookedAt = new Map(), passed = new Set();
  const rule = axe._audit.rules.find(({ id }) => id === 'color-contrast');
  const { matches } = rule;
  let isFirst = true;
  rule.matches = (element, ...rest) => {
    const kind = kindOf.get(element);
    if (isFirst ? lookedAt.has(kind) : passed.has(kind)) return false;
    const looks = matches(element, ...rest);
    if (looks && isFirst && kind !== undefined) lookedAt.set(kind, element);
    return looks;
  };
  const ofContrast = ({ id }) => id === 'color-contrast';
  const run = (values) => axe.run(document, {
    runOnly: { type: 'rule', values }, iframes: false, preload: false, resultTypes: ['violations', 'incomplete'], elementRef: true,
  });
  const { violations, incomplete } = await run(rules);
  const open = new Set([...violations, ...incomplete].filter(ofContrast).flatMap(({ nodes }) => nodes.map(({ element }) => element)));
  for (const [kind, element] of lookedAt) if (!open.has(element)) passed.add(kind);
  if (passed.size < lookedAt.size) {
    isFirst = false;
    const again = (await run(['color-contrast'])).violations;
    violations.splice(0, violations.length, ...violations.filter((each) => !ofContrast(each)), ...again);
  }
  for (const { id, nodes } of violations)
    for (const { target, any, element } of nodes) {
      // A language of one's own, or an old one (RFC 5646, 2.2.7 and 2.2.8).
      if (id.endsWith('valid-lang') && /^[xi]-/i.test(element.getAttribute('lang'))) continue;
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
  for (const drawing of each('svg, canvas, video')) {
    const isDecoration = ['presentation', 'none', 'img'].includes(drawing.getAttribute('role'));
    if (isDecoration || drawing.parentElement?.closest('svg, [role=img]') || !shows(drawing)) continue;
    const hasText = named(drawing) || drawing.querySelector(':scope > title')?.textContent.trim();
    if (!hasText) add('alternativeText', 'drawing', selectorOf(drawing));
  }
  for (const bar of each('meter, progress'))
    if (bar.labels.length === 0 && !named(bar) && shows(bar)) add('fieldLabel', 'bar', selectorOf(bar));
  let level = 0;
  for (const heading of each('h1, h2, h3, h4, h5, h6, [role=heading]')) {
    const role = heading.getAttribute('role');
    if ((role !== null && role !== 'heading') || !(heading.textContent.trim() || heading.querySelector('slot, img')) || !shows(heading)) continue;
    const own = Number(heading.getAttribute('aria-level')) || Number(heading.localName[1]) || 2;
    if (own > level + 1) add('headingOrder', level === 0 ? 'first' : 'skips', selectorOf(heading), [own, level]);
    level = own;
  }
  for (const table of each('table, [role=table], [role=grid]')) {
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
