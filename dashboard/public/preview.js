/*
 * Shows HTML that a page of the dashboard sends, as it is typed: see `LiveHtml` there. The policy of this page lets nothing in
 * the HTML run or load; what would try is taken out, so that the browser has nothing to complain of.
 */
(() => {
  /** Runs, loads, or leads away. */
  const OUT = 'script, base, iframe, frame, object, embed, link, meta[http-equiv]';
  /** Attributes with addresses that are loaded. Pictures as data stay. */
  const LOADED = ['src', 'srcset', 'poster', 'background', 'data', 'xlink:href'];
  let sheet;

  window.addEventListener('message', ({ source, data }) => {
    if (source !== window.parent) return;
    sheet = data.sheet;
    if (data.html !== undefined) show(data.html);
    fit();
  });
  window.addEventListener('resize', fit);
  // Nothing in it is for anything but to be looked at.
  window.addEventListener('click', (event) => event.preventDefault(), true);

  function show(html) {
    const top = window.scrollY;
    const made = new DOMParser().parseFromString(html, 'text/html');
    for (const each of made.querySelectorAll(OUT)) each.remove();
    for (const each of made.querySelectorAll('*')) {
      for (const { name } of [...each.attributes]) if (name.startsWith('on')) each.removeAttribute(name);
      for (const name of LOADED) {
        const address = each.getAttribute(name);
        if (address === null || address.startsWith('data:')) continue;
        each.removeAttribute(name);
        if (each.localName === 'img' && !each.alt) each.alt = `${address.split('/').at(-1)} (in the PDF)`;
      }
    }
    document.documentElement.replaceWith(document.adoptNode(made.documentElement));
    for (const each of document.styleSheets) asPrinted(each);
    window.scrollTo(0, top);
  }

  /** Rules for print apply, and rules for screens do not: what is shown becomes a PDF. */
  function asPrinted(rules) {
    if (rules.media?.mediaText) {
      const text = rules.media.mediaText;
      rules.media.mediaText = text.replaceAll(/\bscreen\b/g, 'speech').replaceAll(/\bprint\b/g, 'all');
    }
    for (const rule of rules.cssRules ?? []) asPrinted(rule);
  }

  /** As wide as the paper, with its margins, and small enough for the frame. */
  function fit() {
    if (sheet === undefined) return;
    const { width, height, margin, scale } = sheet;
    const { style } = document.documentElement;
    style.setProperty('zoom', String((document.documentElement.clientWidth / width) * scale), 'important');
    style.setProperty('box-sizing', 'border-box', 'important');
    style.setProperty('width', `${width / scale}px`, 'important');
    style.setProperty('min-height', `${height / scale}px`, 'important');
    style.setProperty('margin', '0', 'important');
    style.setProperty('padding', margin.map((side) => `${side / scale}px`).join(' '), 'important');
    if (style.background === '') style.setProperty('background-color', 'white');
    style.setProperty('color-scheme', 'light');
  }
})();
