import { type DefaultTreeAdapterMap, parseFragment, serialize } from 'parse5';
import { locale } from '../locale.ts';
import { timezone } from '../timezone.ts';
import type { Given } from './option.ts';

type Node = DefaultTreeAdapterMap['childNode'];

const CLASS = 'date';
/** Stands for the class, whose elements Chromium fills in itself. */
const OWN_CLASS = 'platen-date';
const SELECTOR = /\.date(?![\w-])/g;

/**
 * Fills in the elements of the class `date`, in the language and the time zone of the render. Chromium would write the date
 * in the language that it was started with.
 *
 * @returns the template as it is when it has no such element, or the render has no `locale`.
 */
export function withDate(template: string, given: Given): string {
  const language = given(locale);
  if (language === undefined || !template.includes(CLASS)) return template;
  const date = new Intl.DateTimeFormat(language, {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone: given(timezone),
  }).format();
  const fragment = parseFragment(template);
  return fill(fragment.childNodes, date) ? serialize(fragment) : template;
}

/** @returns whether there is an element of the class; none where only the style sheets have its name. */
function fill(nodes: readonly Node[], date: string): boolean {
  const open = [...nodes];
  let filled = false;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('tagName' in node)) continue;
    const names = node.attrs.find(({ name }) => name === 'class');
    const classes = names?.value.split(/\s+/) ?? [];
    if (names !== undefined && classes.includes(CLASS)) {
      names.value = classes.map((each) => (each === CLASS ? OWN_CLASS : each)).join(' ');
      node.childNodes = [{ nodeName: '#text', value: date, parentNode: node }];
      filled = true;
    } else if (node.tagName === 'style') {
      for (const text of node.childNodes)
        if (text.nodeName === '#text' && 'value' in text)
          text.value = text.value.replace(SELECTOR, `.${OWN_CLASS}`);
    } else open.push(...node.childNodes);
  }
  return filled;
}
