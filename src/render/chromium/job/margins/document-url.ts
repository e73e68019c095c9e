import { attribute, type MarginMarkup, setAttribute, setText, textOf } from './margin-markup.ts';

/** Chromium fills elements of this class with the address of its page. */
const CLASS = 'url';
const OWN_CLASS = 'platen-url';

/**
 * Fills in the elements of the class `url`, and renames that class, so that Chromium does not fill in the made-up address
 * at which it has the document.
 *
 * @param url the address of the document; empty where it has none.
 */
export function fillUrl(markup: MarginMarkup, url: string): void {
  for (const element of markup.elements()) {
    if (element.tagName === 'style')
      setText(element, textOf(element).replaceAll(/\.url(?![\w-])/g, `.${OWN_CLASS}`));
    const classes = attribute(element, 'class')?.split(/[ \t\n\f\r]+/);
    if (!classes?.includes(CLASS)) continue;
    setAttribute(element, 'class', classes.map((name) => (name === CLASS ? OWN_CLASS : name)).join(' '));
    setText(element, url);
  }
}
