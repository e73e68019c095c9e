import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { pageArea } from './core/page-area.ts';
import { pageRules } from './core/page-rules.ts';

/** Runs in the document: returns its `@page` rules. Style sheets of other origins are not readable. */
const PAGE_RULES = `() => {
  const rulesOf = (list) => [...list].flatMap((rule) =>
    rule instanceof CSSPageRule ? [rule.cssText] : 'cssRules' in rule ? rulesOf(rule.cssRules) : []);
  return [...document.styleSheets, ...document.adoptedStyleSheets].flatMap((sheet) => {
    try { return sheet.disabled ? [] : rulesOf(sheet.cssRules); } catch { return []; }
  }).join('\\n');
}`;

/**
 * Runs in the document, in a window as wide as a page: cuts what is wider, so that the printed document has no overflow that
 * it could be shrunk for. A root that contains its painting is no place for elements that are repeated on every page
 * (position: fixed): where there are any, the body cuts, from edge to edge of the page.
 */
const CUT = `() => {
  const { documentElement: root, body } = document;
  const fits = () => root.scrollWidth <= root.clientWidth;
  const set = (element, declarations) => {
    for (const [name, value] of Object.entries(declarations)) element.style.setProperty(name, value, 'important');
  };
  if (fits()) return;
  let fixed = false;
  const outside = [];
  for (const element of document.querySelectorAll('*')) {
    const { position } = getComputedStyle(element);
    fixed ||= position === 'fixed';
    // Nothing of it is seen, and nothing else has its place by it.
    if (position === 'absolute' && element.getBoundingClientRect().left >= root.clientWidth) outside.push(element);
  }
  for (const element of outside) set(element, { display: 'none' });
  if (fits()) return;
  if (fixed && body) {
    const style = getComputedStyle(body);
    const { left, right } = body.getBoundingClientRect();
    const end = Math.max(0, root.clientWidth - right);
    const start = Math.max(0, left);
    const widen = (padding, by) => parseFloat(padding) + by + 'px';
    set(body, {
      'box-sizing': style.boxSizing,
      'padding-left': widen(style.paddingLeft, start),
      'padding-right': widen(style.paddingRight, end),
      'margin-left': '0',
      'margin-right': '0',
      width: widen(style.width, style.boxSizing === 'border-box' ? start + end : 0),
      'min-width': '0',
      'max-width': 'none',
      'overflow-x': 'clip',
      'overflow-y': 'visible',
    });
    set(root, { 'overflow-x': 'clip' });
    if (fits()) return;
  }
  set(root, { contain: 'paint' });
}`;

export const shrinkToFit = defineOption('shrinkToFit', z.boolean(), {
  stage: 'print',
  documentation:
    'If the document is wider than the page, print it smaller, by a third at most, so that more of it fits. If false, all ' +
    'lengths are kept (100mm are 100 mm), and what does not fit is cut off at the right.',
  default: true,
  // After `singlePage`, which decides about the paper.
  order: 3,
  // What it changes stays in the window, so the page has to leave the document afterwards.
  needs: (value) => ({ navigation: !value }),
  async beforePrint(_value, stage) {
    const rules = pageRules(await stage.page.runIsolated<string>(PAGE_RULES));
    const { width, height } = pageArea(stage.settings, rules);
    await stage.layOut({ width: Math.floor(width), height: Math.floor(height) });
    await stage.page.runIsolated(CUT);
  },
});
