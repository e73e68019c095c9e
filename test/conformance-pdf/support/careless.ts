import type { Browser } from 'puppeteer';
import type { AccessibilityRule } from '../../../src/render/report/accessibility.ts';

/** A document as somebody writes it who thinks of nobody's ears. */
export interface Careless {
  readonly html: string;
  /** What is wrong with it, in any order: the rule, and a name of the element, which `namesOf` finds by its selector. */
  readonly faults: readonly string[];
}

/** Where the names of faults are kept: `rule:number`, several of an element separated by spaces. */
const NAMES = 'data-fault';

/**
 * Takes from a document, once its scripts have run, what makes it accessible, and adds what authors do by mistake. Each change
 * says itself what is wrong from then on; nothing is asked of what is tested.
 */
export async function carelessly(browser: Browser, html: string): Promise<Careless> {
  return (await runIn(browser, html, `(${CHANGE})(${JSON.stringify(NAMES)})`)) as Careless;
}

/** The names of the faults of a rule that the elements of some selectors have; `?` for an element that has none. */
export async function namesOf(
  browser: Browser,
  html: string,
  found: readonly { readonly rule: AccessibilityRule; readonly selector: string | null }[],
): Promise<string[]> {
  const script = `(${FIND})(${JSON.stringify(NAMES)}, ${JSON.stringify(found)})`;
  return (await runIn(browser, html, script)) as string[];
}

/** In a page of its own: what scripts define stays with a page. */
async function runIn(browser: Browser, html: string, script: string): Promise<unknown> {
  const page = await browser.newPage();
  try {
    await page.emulateMediaType('print');
    await page.setContent(html, { waitUntil: 'load' });
    return await page.evaluate(script);
  } finally {
    await page.close();
  }
}

const FIND = `(attribute, found) => found.map(({ rule, selector }) => {
  let root = document, element = null;
  for (const step of (selector ?? '').split(' >>> ')) {
    if (step === '') return rule + ':?';
    element = root.querySelector(step);
    root = element?.shadowRoot;
  }
  const names = (element?.getAttribute(attribute) ?? '').split(' ');
  return names.find((name) => name.startsWith(rule + ':')) ?? rule + ':? ' + selector;
})`;

const CHANGE = `(attribute) => {
  const faults = [];
  const fault = (element, rule) => {
    const name = rule + ':' + faults.length;
    faults.push(name);
    element.setAttribute(attribute, ((element.getAttribute(attribute) ?? '') + ' ' + name).trim());
  };
  // All elements in the order of what is printed, those of shadow trees in place of what is in their hosts.
  const inOrder = (root = document.documentElement, list = []) => {
    list.push(root);
    const slotted = root.localName === 'slot' ? root.assignedElements() : [];
    const inside = root.shadowRoot ? root.shadowRoot.children : slotted.length ? slotted : root.children;
    for (const child of [...inside]) inOrder(child, list);
    return list;
  };
  const shown = (element) => {
    for (let e = element; e; e = e.assignedSlot ?? e.parentElement ?? e.getRootNode().host) {
      const { display } = getComputedStyle(e);
      if (display === 'none' || e.getAttribute('aria-hidden') === 'true' || e.hidden) return false;
    }
    return getComputedStyle(element).visibility === 'visible' && element.getClientRects().length > 0;
  };
  const all = (selector) => inOrder().filter((element) => element.matches(selector) && shown(element));
  const renamed = (element, name) => {
    const other = document.createElement(name);
    for (const { name, value } of element.attributes) other.setAttribute(name, value);
    other.append(...element.childNodes);
    element.replaceWith(other);
    return other;
  };
  for (const script of document.querySelectorAll('script')) script.remove();

  document.documentElement.removeAttribute('lang');
  fault(document.documentElement, 'language');
  document.querySelector('title')?.remove();
  fault(document.documentElement, 'title');

  const unlabel = (element) => ['aria-label', 'aria-labelledby', 'title'].forEach((name) => element.removeAttribute(name));
  for (const picture of all('img[alt]:not([alt=""]), input[type=image], object, map > area')) {
    picture.removeAttribute('alt');
    unlabel(picture);
    fault(picture, 'alternativeText');
    const link = picture.localName === 'img' && picture.closest('a[href]');
    if (link && link.textContent.trim() === '') fault(link, 'linkText');
  }
  for (const area of document.querySelectorAll('area[alt]')) {
    area.removeAttribute('alt');
    fault(area, 'alternativeText');
  }
  for (const drawing of all('svg[role=img], canvas[role=img]')) {
    if (drawing.parentElement?.closest('[role=img]')) continue;
    drawing.removeAttribute('role');
    unlabel(drawing);
    drawing.querySelector(':scope > title')?.remove();
    fault(drawing, 'alternativeText');
  }
  for (const drawing of all('div[role=img]')) {
    unlabel(drawing);
    fault(drawing, 'alternativeText');
  }

  for (const heading of all('h2')) renamed(heading, 'h4');
  let level = 0;
  for (const heading of all('h1, h2, h3, h4, h5, h6, [role=heading]')) {
    const own = Number(heading.getAttribute('aria-level') ?? heading.localName[1]);
    if (own > level + 1) fault(heading, 'headingOrder');
    level = own;
  }

  for (const table of all('table, [role=table]')) {
    table.removeAttribute(table.localName === 'table' ? 'role' : '');
    const own = (selector) => [...table.querySelectorAll(selector)].filter((cell) => cell.closest('table, [role=table]') === table);
    for (const cell of own('[headers]')) cell.removeAttribute('headers');
    for (const cell of own('th')) renamed(cell, 'td').removeAttribute('scope');
    for (const cell of own('[role=columnheader], [role=rowheader]')) cell.setAttribute('role', 'cell');
    const [rows, cells] = [own('tr, [role=row]').length, own('td, [role=cell]').length];
    if (rows > 1 && cells > rows) fault(table, 'tableHeaders');
  }

  for (const label of all('label')) renamed(label, 'div');
  const isNamed = (control) => control.placeholder || ['submit', 'reset', 'button', 'hidden', 'image'].includes(control.type);
  for (const control of all('input, select, textarea, meter, progress, [role=textbox], [role=checkbox], [role=progressbar]')) {
    unlabel(control);
    const names = control.getAttribute('role') === 'checkbox' && control.textContent.trim();
    if (!isNamed(control) && !names) fault(control, 'fieldLabel');
  }

  const plain = (selector) => all(selector).filter((element) => element.children.length === 0 && element.textContent.trim());
  const [link] = plain('a[href]:not([role], [href^="#"])').filter((element) => element.namespaceURI.endsWith('xhtml'));
  if (link) {
    link.textContent = '';
    unlabel(link);
    fault(link, 'linkText');
  }
  const [pale] = plain('h1');
  if (pale) {
    const dark = getComputedStyle(document.body).color.match(/\\d+/)[0] > 128;
    pale.style.color = dark ? '#333' : '#bbb';
    fault(pale, 'contrast');
  }
  // Several of one kind.
  for (const item of plain('li').slice(0, 3)) {
    item.style.color = '#999';
    item.style.background = '#fff';
    fault(item, 'contrast');
  }
  const [ordered] = all('p').filter((element) => element.getRootNode() === document && !element.closest('[aria-hidden=true]'));
  if (ordered) {
    ordered.tabIndex = 2;
    fault(ordered, 'tabOrder');
  }
  const [list] = all('ul:not([role])');
  if (list) {
    const between = document.createElement('div');
    between.textContent = 'between';
    list.append(between);
    fault(list, 'listItems');
  }
  const missing = document.createElement('p');
  missing.textContent = '\\u{E000}';
  document.body.append(missing);
  fault(missing, 'missingCharacter');
  const empty = document.createElement('h1');
  document.body.append(empty);
  fault(empty, 'headingText');

  const shadowRoots = inOrder().flatMap((element) => element.shadowRoot ?? []);
  const { attributes } = document.documentElement;
  const given = [...attributes].map(({ name, value }) => ' ' + name + '="' + value + '"').join('');
  return { html: '<!doctype html><html' + given + '>' + document.documentElement.getHTML({ shadowRoots }) + '</html>', faults };
}`;
