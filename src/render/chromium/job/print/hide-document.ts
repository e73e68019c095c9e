/** The margin boxes in which the document's style sheets may print (CSS Paged Media 3, section 4.2). */
const MARGIN_BOXES = Object.entries({
  top: ['left-corner', 'left', 'center', 'right', 'right-corner'],
  bottom: ['left-corner', 'left', 'center', 'right', 'right-corner'],
  left: ['top', 'middle', 'bottom'],
  right: ['top', 'middle', 'bottom'],
}).flatMap(([side, places]) => places.map((place) => `${side}-${place}`));

/** The source of a function that hides the document on paper, and keeps its layout. */
export const HIDE = `() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(\`
    *, *::before, *::after, *::marker, *::backdrop { visibility: hidden !important; }
    :root { opacity: 0 !important; }
    :root, body { background: none !important; }
    @page { ${MARGIN_BOXES.map((box) => `@${box} { content: none !important; }`).join(' ')} }\`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  globalThis.hidingSheet = sheet;
}`;

/** The source of a function that shows it again; to be run in the same world. */
export const SHOW = `() => {
  const { hidingSheet } = globalThis;
  if (hidingSheet) document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== hidingSheet);
}`;
