import { MAX_ROOTS, ROOTS } from '../../../options/core/document-roots.ts';
import { SHOW } from '../print/hide-document.ts';
import { SYNTHETIC } from './font-synthesis.ts';
import { BEYOND, COVERING, HIDDEN } from './inspect-boxes.ts';
import { INK, PICTURES } from './inspect-pictures.ts';
import { GARBLED } from './inspect-text.ts';
import { UNSUPPORTED_IN } from './unsupported-css.ts';

/** What the script has found: a kind of fact, the element, and numbers or short texts for the sentence. */
export interface Fact {
  readonly kind:
    | 'beyond'
    | 'hidden'
    | 'hiddenFrame'
    | 'covering'
    | 'rasterised'
    | 'undecodable'
    | 'badFont'
    | 'embedded'
    | 'deadLink'
    | 'pageSize'
    | 'pageMargin'
    | 'unsupported'
    | 'unhyphenated'
    | 'synthetic'
    | 'garbled'
    | 'empty'
    | 'spacer';
  readonly selector: string;
  /** What it is about: an address, a family, a property. */
  readonly name: string;
  /** Numbers whose meaning depends on the kind: see INSPECT. */
  readonly numbers: readonly number[];
  /** The address of the style sheet that it is about, if that is a linked one. */
  readonly sheet?: string;
}

/** The result of an inspection. */
export interface Inspection {
  readonly facts: readonly Fact[];
  /** How many further facts of each kind were found. */
  readonly more: Readonly<Record<string, number>>;
  /** Pictures of style sheets and drawings, which are still to be decoded. */
  readonly pictures: readonly (readonly [selector: string, address: string])[];
  /** Whether the time or the number of elements was used up before everything had been seen. */
  readonly cut: boolean;
  /** Whether there are style sheets that are not in the document itself. */
  readonly linked: boolean;
}

/**
 * Runs in a world of its own, after the document has been printed, in a window as wide as the printed area and in the
 * medium of paper, and with a document that was hidden for its margins shown again. Everything that it looks at is bounded: by time, elements, texts and facts of a kind. It looks into open
 * shadow trees and into frames as well: a selector leads into each by " >>> ".
 *
 * The numbers of its facts are CSS pixels unless named otherwise. `beyond`: the width up to the edge that
 * is farthest out, columns of a table beyond, columns.
 * `hidden`: children, those not to be seen, hidden height, hidden width. `hiddenFrame`: the last two. `synthetic`: bold (0) or
 * italic (1). `covering`: top (0) or bottom (1) and height, or side (2) and width.
 * `rasterised`: characters. `spacer`, a nearly empty element that is as tall as half a page: its height.
 */
export const INSPECT = `async (width, mayBeCut, pages, ms, maxElements, maxFacts, hyphenated, looksForInk, moreStyles) => {
  (${SHOW})();
  // The layout comes first: it cannot be interrupted, and takes no time from the inspection.
  Element.prototype.getBoundingClientRect.call(document.documentElement);
  const until = performance.now() + ms;
  const facts = [];
  const more = {};
  let cut = false;
  let linked = false;
  const add = (kind, element, name = '', numbers = []) => {
    if (facts.filter((fact) => fact.kind === kind).length >= maxFacts) {
      more[kind] = (more[kind] ?? 0) + 1;
      return;
    }
    facts.push({ kind, selector: element ? selectorOf(element) : '', name: String(name).slice(0, 300), numbers: numbers.map(Math.round) });
  };
  const overdue = () => {
    const isLate = performance.now() > until;
    cut ||= isLate;
    return isLate;
  };
  // A document can give elements names that shadow the methods of others.
  const { querySelectorAll } = Document.prototype;
  const all = (selector) => querySelectorAll.call(document, selector);
  const within = DocumentFragment.prototype.querySelectorAll;
  const allOf = ({ root }, selector) => (root.nodeType === 9 ? querySelectorAll : within).call(root, selector);
  /** Of all documents and shadow trees together, the first ones. */
  const everywhere = (selector, most) => {
    const found = [];
    for (const place of places) {
      for (const element of allOf(place, selector)) {
        if (found.length >= most) return found;
        found.push({ element, place });
      }
    }
    return found;
  };
  const rectOf = (element) => Element.prototype.getBoundingClientRect.call(element);
  const selectorOf = (element) => {
    const steps = [];
    const { holder } = places.find(({ root }) => root === element.getRootNode()) ?? {};
    const { body, documentElement } = element.ownerDocument;
    for (let e = element; e?.nodeType === 1 && steps.length < 3; e = e.parentElement) {
      const id = e.getAttribute('id');
      if (id && id.length < 40) {
        steps.unshift('#' + CSS.escape(id));
        break;
      }
      if (e === body || e === documentElement) {
        if (steps.length === 0) steps.unshift(e.localName);
        break;
      }
      let part = e.localName;
      for (const name of [...e.classList].slice(0, 2)) part += '.' + CSS.escape(name);
      if (e.classList.length === 0) {
        let nth = 1, alike = false;
        for (let s = e.previousElementSibling; s && nth < 1000; s = s.previousElementSibling) if (s.localName === e.localName) nth++;
        for (let s = e.nextElementSibling, i = 0; s && !alike && i < 10; s = s.nextElementSibling, i++) alike = s.localName === e.localName;
        if (nth > 1 || alike) part += ':nth-of-type(' + nth + ')';
      }
      steps.unshift(part);
    }
    const selector = steps.join(' > ').slice(0, 150);
    return holder ? selectorOf(holder).slice(-150) + ' >>> ' + selector : selector;
  };
  const attempt = async (work) => {
    if (overdue()) return;
    try {
      await work();
    } catch {
      cut = true;
    }
  };
  const shows = (style) => style.display !== 'none' && style.visibility === 'visible' && style.opacity !== '0';
  const textOf = (element) => (element.innerText ?? element.textContent ?? '').trim();
  const isHtml = (element) => element.namespaceURI === 'http://www.w3.org/1999/xhtml';
  const parentOf = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null;
  const { roots: places, cut: placesCut } = (${ROOTS})(${MAX_ROOTS}, maxElements, overdue);
  cut ||= placesCut;

  await attempt(async () => {
    const pictures = everywhere('img', 2000).map(({ element }) => element).filter((image) => image.complete && image.naturalWidth === 0 && image.currentSrc);
    for (const image of pictures.slice(0, 50)) {
      if (overdue()) return;
      const fails = await image.decode().then(() => false, () => true);
      if (fails) add('undecodable', image, image.currentSrc.slice(0, 300));
    }
  });
  await attempt(() => {
    for (const { root } of places) for (const face of root.nodeType === 9 ? root.fonts : []) if (face.status === 'error') add('badFont', null, face.family);
  });
  await attempt(() => {
    for (const { element } of everywhere('embed, object, iframe', 200)) {
      const address = element.getAttribute('src') ?? element.getAttribute('data') ?? '';
      const type = element.getAttribute('type') ?? '';
      if (/pdf/i.test(type) || /\\.pdf(?:[?#]|$)/i.test(address) || /^data:application\\/pdf/i.test(address)) add('embedded', element, address.slice(0, 200));
    }
  });
  await attempt(() => {
    const { getElementById, getElementsByName } = Document.prototype;
    for (const { element: link, place: { root } } of everywhere('a[href*="#"], area[href*="#"]', 5000)) {
      const written = link.getAttribute('href').trim();
      const at = written.indexOf('#');
      // With an address before it, it may lead into the document, too.
      if (at > 0 && link.href.split('#')[0] !== link.ownerDocument.URL.split('#')[0]) continue;
      const name = written.slice(at + 1);
      if (name === '' || name === 'top' || /^[!/]|^:~:/.test(name)) continue;
      let decoded = name;
      try { decoded = decodeURIComponent(name); } catch {}
      const whole = link.ownerDocument;
      const there = [name, decoded].some((id) => getElementById.call(whole, id) || root.getElementById?.(id) || getElementsByName.call(whole, id).length > 0);
      if (!there) add('deadLink', link, '#' + name.slice(0, 100));
    }
  });
  await attempt(() => {
    const sheets = [...document.styleSheets, ...document.adoptedStyleSheets].slice(0, 100);
    for (const sheet of sheets) {
      let rules;
      try { rules = sheet.cssRules; } catch { continue; }
      const visit = (list, depth) => {
        for (const rule of [...list].slice(0, 5000)) {
          if (rule instanceof CSSPageRule) {
            if (rule.style.size) add('pageSize', null, rule.style.size);
            const sides = ['top', 'right', 'bottom', 'left'].map((side) => 'margin-' + side);
            const margins = sides.filter((side) => rule.style.getPropertyValue(side) !== '').map((side) => side + ': ' + rule.style.getPropertyValue(side));
            if (margins.length > 0 && rule.selectorText === '') add('pageMargin', null, rule.style.margin ? 'margin: ' + rule.style.margin : margins.join('; '));
          } else if (depth < 3 && rule.cssRules && !(rule instanceof CSSMediaRule && !matchMedia(rule.conditionText).matches)) visit(rule.cssRules, depth + 1);
        }
      };
      visit(rules, 0);
    }
  });
  await attempt(() => {
    let text = '';
    for (const { element } of everywhere('style', 50)) text += element.textContent.slice(0, 200000) + '\\n';
    linked = /@import/i.test(text) || everywhere('link', 200).some(({ element }) => element.sheet);
    for (const { element } of everywhere('[style]', 1000)) text += '{' + element.getAttribute('style').slice(0, 1000) + '}\\n';
    text += moreStyles;
    if (text.length > 500000) cut = true;
    for (const name of (${UNSUPPORTED_IN})(text.slice(0, 500000))) add('unsupported', null, name);
  });
${GARBLED}  // As the browser decides it, which asks the headers of the page as well.
  const isHyphenated = ':is(' + hyphenated.map((language) => ':lang(' + language + ')').join() + ')';
  const unhyphenated = new Set();
  const { closest, matches } = Element.prototype;
  // Words of scripts that are broken with a hyphen, as long as to be broken now and then.
  const longWord = /[\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}]{8}/u;
  const checkHyphens = (element) => {
    const language = closest.call(element, '[lang]')?.getAttribute('lang') ?? '';
    if (unhyphenated.has(language) || matches.call(element, isHyphenated)) return;
    const texts = [...element.childNodes].slice(0, 50).filter((node) => node.nodeType === Node.TEXT_NODE);
    if (!texts.some((node) => longWord.test(node.data.slice(0, 2000)))) return;
    unhyphenated.add(language);
    add('unhyphenated', element, language);
  };
  await attempt(() => {
    for (const { root, holder } of places.slice(1)) {
      if (root.nodeType !== 9 || !holder.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const shown = root.scrollingElement ?? root.documentElement;
      const [down, right] = [shown.scrollHeight - shown.clientHeight, shown.scrollWidth - shown.clientWidth];
      const scrolls = holder.getAttribute('scrolling') !== 'no' && getComputedStyle(shown).overflowY !== 'hidden';
      if (scrolls && (down > 8 || right > 8) && shown.clientHeight > 8 && textOf(root.documentElement) !== '') add('hiddenFrame', holder, '', [down, right]);
    }
  });
  ${HIDDEN}${BEYOND}${COVERING}${INK}${PICTURES}
  // Last, because it may use up the time.
  const fixed = [];
  const texts = [];
  const synthetic = new Set();
  const syntheticOf = (${SYNTHETIC})();
  let count = 0;
  const inspect = (elements, inFrame) => {
    for (const element of elements) {
      if (count >= maxElements || (count % 200 === 0 && overdue())) {
        cut = true;
        return;
      }
      count++;
      const rect = rectOf(element);
      const style = getComputedStyle(element);
      if (!shows(style)) continue;
      if (style.hyphens === 'auto' && unhyphenated.size < maxFacts) checkHyphens(element);
      for (const [family, what] of syntheticOf(element, style)) {
        if (synthetic.has(what + family)) continue;
        synthetic.add(what + family);
        add('synthetic', element, family, [what]);
      }
      if (isCut && !inFrame) beyondPaper(element, style, rect);
      if (!inFrame && style.position === 'fixed' && rect.height > 0 && rect.width > 0) fixed.push({ element, rect, style });
      else if (!inFrame && texts.length < 500 && pages > 1 && rect.width > 0 && ownText(element)) texts.push(element);
      hiddenIn(element, style);
      picturesOf(element, style);
      hasInk ||= looksForInk && !inFrame && inks(element, style, rect);
      // Of a drawing, texts are often pictures on purpose.
      if (style.filter !== 'none' && isHtml(element)) {
        const text = textOf(element);
        if (text !== '') add('rasterised', element, style.filter, [text.length]);
      }
      const isTall = !inFrame && !element.shadowRoot && element.firstElementChild === null && rect.height > innerHeight / 2;
      if (isTall && isHtml(element) && textOf(element).length < 40) add('spacer', element, '', [rect.height]);
    }
  };
  await attempt(() => {
    for (const place of places) inspect(allOf(place, place.root === document ? 'body, body *' : '*'), place.inFrame);
  });
  try { addBeyond(); } catch { cut = true; }
  await attempt(() => {
    if (pages > 1) addCovering(fixed, texts);
  });
  if (looksForInk && !hasInk && !cut) add('empty', null);
  return { facts, more, pictures, cut, linked };
}`;
