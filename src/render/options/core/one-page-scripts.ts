/** Runs a script of these once for every element of the document, those of open shadow trees included. */
const EACH_ELEMENT = `const eachElement = (visit) => {
  const open = [document];
  for (let root = open.pop(); root; root = open.pop())
    for (const element of root.querySelectorAll('*')) {
      visit(element);
      if (element.shadowRoot) open.push(element.shadowRoot);
    }
};`;

/** The world of its own in which these scripts run, where one keeps something for the next. */
const NOTED = 'globalThis.platenNoted';

/** Runs in the document: notes where each element is, for PIN. */
export const NOTE = `() => {
  ${EACH_ELEMENT}
  const noted = ${NOTED} = new Map();
  const { top } = document.documentElement.getBoundingClientRect();
  eachElement((element) => {
    const box = element.getBoundingClientRect();
    noted.set(element, [box.top - top, box.height]);
  });
}`;

/**
 * Runs in the document, after NOTE has run in a window of another height: fixes the size of all that has followed the
 * window, as it is now. On paper it would follow the height of the page, which is that of the whole document.
 */
export const PIN = `() => {
  ${EACH_ELEMENT}
  const { top } = document.documentElement.getBoundingClientRect();
  const pins = [];
  eachElement((element) => {
    const box = element.getBoundingClientRect();
    const [topBefore, heightBefore] = ${NOTED}.get(element) ?? [];
    if (topBefore === box.top - top && heightBefore === box.height) return;
    const style = getComputedStyle(element);
    // It is placed on the page by itself.
    if (style.position === 'fixed') return;
    const pin = (name, value) => pins.push([element, name, value]);
    if (style.height !== 'auto')
      for (const name of ['height', 'min-height', 'max-height']) pin(name, style.height);
    const own = ['margin-top', 'margin-bottom', 'padding-top', 'padding-bottom', 'row-gap', 'font-size', 'line-height'];
    if (style.display.includes('grid') && /px/.test(style.gridTemplateRows)) own.push('grid-template-rows');
    if (style.position === 'absolute' || style.position === 'relative') own.push('top');
    for (const name of own) pin(name, style.getPropertyValue(name));
    if (own.includes('top')) pin('bottom', 'auto');
  });
  for (const [element, name, value] of pins) element.style?.setProperty(name, value, 'important');
}`;

/**
 * Runs in the document: its height in a window of the given height. What is scrolled within the document is not part of it.
 * A document that is lower than its window ends where its last element does.
 */
export const HEIGHT = `(windowHeight) => {
  const { documentElement: root, body } = document;
  const bottom = root.getBoundingClientRect().bottom + scrollY;
  const whole = Math.max(root.scrollHeight, bottom);
  if (whole > windowHeight) return whole;
  let lowest = bottom;
  const open = body ? [body] : [];
  for (let element = open.pop(); element; element = open.pop()) {
    const box = element.getBoundingClientRect();
    const fixed = getComputedStyle(element).position === 'fixed';
    // What is fixed to one side of the window is not below the rest; what fills the window is the document.
    if (fixed && box.height < windowHeight) continue;
    if (box.width > 0 || box.height > 0) lowest = Math.max(lowest, box.bottom + scrollY);
    const scrolls = element !== body && element.scrollHeight > element.clientHeight && getComputedStyle(element).overflowY !== 'visible';
    if (!scrolls) open.push(...(element.shadowRoot?.children ?? []), ...element.children);
  }
  return Math.min(lowest, windowHeight);
}`;

/**
 * Runs in the document: prevents page breaks, and replaces its own page rules by the margins of the render. What an element
 * itself says has precedence over every style sheet.
 *
 * Breaks of columns stay.
 */
export const UNBREAK = `(margin) => {
  ${EACH_ELEMENT}
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(\`
    @page { size: auto !important; margin: \${margin} !important; }
    *::before, *::after { break-before: auto !important; break-after: auto !important; page: auto !important; }\`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const kept = ['auto', 'avoid', 'avoid-page', 'avoid-column', 'column'];
  const breaks = [];
  eachElement((element) => {
    const style = getComputedStyle(element);
    for (const name of ['break-before', 'break-after'])
      if (!kept.includes(style.getPropertyValue(name))) breaks.push([element, name]);
    if (style.page !== 'auto') breaks.push([element, 'page']);
  });
  for (const [element, name] of breaks) element.style?.setProperty(name, 'auto', 'important');
}`;
