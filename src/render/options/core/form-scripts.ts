import type { FormControl } from '../../pdf/forms/control.ts';
import { MAX_ROOTS, ROOTS } from './document-roots.ts';

/** What the script has found. */
export interface FoundControls {
  readonly controls: readonly FormControl[];
  /** Choices of all lists, and characters of all texts: of a document with too much, nothing is marked. */
  readonly choices: number;
  readonly characters: number;
  /** Controls that may be fields: one more than there may be, where there are more. */
  readonly count: number;
}

/** Most elements of a document that are looked at for frames and shadow trees. */
const MAX_ELEMENTS = 1_000_000;

/** What no rule of an element can say of its parts: the value of a control is drawn by its field alone. */
const PARTS = `
  input::placeholder, textarea::placeholder { visibility: hidden !important; }
  input::-webkit-datetime-edit, input::-webkit-calendar-picker-indicator,
  input::-webkit-inner-spin-button, input::-webkit-search-cancel-button { visibility: hidden !important; }
  select option, select optgroup { visibility: hidden !important; }
  input[type=checkbox]::before, input[type=checkbox]::after, input[type=checkbox]::checkmark,
  input[type=radio]::before, input[type=radio]::after, input[type=radio]::checkmark { visibility: hidden !important; }`;

/**
 * Runs in the document, right before it is printed: finds its controls, hides their values, and lays a link over each, whose
 * annotation says where it was printed. The links lie beside the document: they change no place in it, and no style but that
 * of the root's last child. What is changed is changed back by UNMARK, in the same world.
 */
export const MARK = `(token, origin, maxFields, maxChoices, maxCharacters) => {
  const KINDS = { checkbox: 'checkbox', radio: 'radio', password: 'password', text: 'text', search: 'text', tel: 'text',
    url: 'text', email: 'text', number: 'text', date: 'text', month: 'text', week: 'text', time: 'text',
    'datetime-local': 'text' };
  const kindOf = (control) => {
    if (control.localName === 'textarea') return 'textarea';
    if (control.localName === 'select') return control.multiple || control.size > 1 ? 'list' : 'select';
    return KINDS[control.type];
  };
  const { roots } = (${ROOTS})(${MAX_ROOTS}, ${MAX_ELEMENTS}, () => false);
  const found = [];
  for (const { root } of roots) {
    const { querySelectorAll } = (root.nodeType === 9 ? Document : DocumentFragment).prototype;
    for (const control of querySelectorAll.call(root, 'input, textarea, select')) {
      const kind = kindOf(control);
      if (kind !== undefined && !(control.localName === 'input' && control.type === 'hidden')) found.push({ root, control, kind });
      if (found.length > maxFields) return { controls: [], choices: 0, characters: 0, count: found.length };
    }
  }
  let [choices, characters] = [0, 0];
  for (const { control, kind } of found) {
    if (control.localName !== 'select') { characters += control.value.length; continue; }
    choices += control.options.length;
    if (choices > maxChoices) break;
    for (const { value, label } of control.options) characters += value.length + label.length;
  }
  const sums = { choices, characters, count: found.length };
  if (choices > maxChoices || characters > maxCharacters) return { controls: [], ...sums };

  const undo = [];
  globalThis.platenForm = { undo, controls: [] };
  const set = (element, values) => {
    const before = element.getAttribute('style');
    undo.push(() => before === null ? element.removeAttribute('style') : element.setAttribute('style', before));
    for (const [name, value] of Object.entries(values)) element.style.setProperty(name, value, 'important');
  };
  const attribute = (element, name, value) => {
    const before = element.getAttribute(name);
    undo.push(() => before === null ? element.removeAttribute(name) : element.setAttribute(name, before));
    if (value === null) element.removeAttribute(name); else element.setAttribute(name, value);
  };
  const line = (text) => (text ?? '').replace(/\\s+/g, ' ').trim().slice(0, 300);
  const textOf = (element) => {
    const copy = element.cloneNode(true);
    for (const part of copy.querySelectorAll('input, select, textarea, button, script, style')) part.remove();
    return line(copy.textContent);
  };
  const named = (root, control, name) => (control.getAttribute(name) ?? '').split(/\\s+/)
    .map((id) => id && root.getElementById(id)).filter(Boolean).map(textOf).join(' ');
  const labelOf = (root, control) => line(named(root, control, 'aria-labelledby') || control.getAttribute('aria-label') ||
    [...(control.labels ?? [])].map(textOf).join(' ') || control.title || control.placeholder);
  const groupOf = (root, control) => {
    const group = control.closest('fieldset, [role=radiogroup], [role=group]');
    if (!group) return '';
    const legend = [...group.children].find(({ localName }) => localName === 'legend');
    return line(named(root, group, 'aria-labelledby') || group.getAttribute('aria-label') || (legend ? textOf(legend) : ''));
  };
  const pixels = (length) => parseFloat(length) || 0;
  const colorOf = (color) => {
    const numbers = /^rgba?\\(([\\d.]+), ([\\d.]+), ([\\d.]+)/.exec(color);
    return numbers ? numbers.slice(1, 4).map((part) => Math.min(1, part / 255)) : [0, 0, 0];
  };
  // What is around a control: the element that stands on every page, and whether all of it is seen.
  const around = (control) => {
    let fixed = null;
    for (let element = control; element; element = element.assignedSlot ?? element.parentElement ?? element.getRootNode().host) {
      const { position, opacity } = element.ownerDocument.defaultView.getComputedStyle(element);
      if (opacity === '0') return { fixed, shown: false };
      if (position === 'fixed') fixed ??= element;
    }
    return { fixed, shown: true };
  };
  // All styles are read before the first of them is changed: each change would have the document laid out again.
  const forms = new Map();
  const read = found.map(({ root, control, kind }, id) => {
    const style = control.ownerDocument.defaultView.getComputedStyle(control);
    const form = control.form ?? control.getRootNode();
    if (!forms.has(form)) forms.set(form, forms.size);
    const native = style.appearance !== 'none';
    const isBox = kind === 'checkbox' || kind === 'radio';
    const fontSize = pixels(style.fontSize) || 13;
    const sides = ['Top', 'Right', 'Bottom', 'Left'];
    const inset = sides.map((side) => pixels(style['border' + side + 'Width']) + pixels(style['padding' + side]));
    if (kind === 'select' && native) { inset[1] += 16; inset[3] += 4; }
    const rtl = style.direction === 'rtl';
    const align = { center: 'center', '-webkit-center': 'center', right: 'right', end: rtl ? 'left' : 'right', left: 'left' }[style.textAlign] ??
      (rtl ? 'right' : 'left');
    return {
      root, control, kind, native, ...around(control),
      size: { width: style.width, height: style.height, 'box-sizing': style.boxSizing },
      // A box of its own drawing stands on the edge of its margin, and one of the document on that of its border.
      stands: native && isBox && style.verticalAlign === 'baseline' ? { 'vertical-align': -pixels(style.marginBottom) + 'px' } : {},
      sizing: style.fieldSizing, anchor: style.anchorName,
      field: {
        id, kind,
        name: (control.name || control.id || '').slice(0, 2000),
        form: forms.get(form),
        label: labelOf(root, control),
        group: kind === 'radio' ? groupOf(root, control) : '',
        value: kind === 'password' || control.localName === 'select' ? '' : control.value,
        checked: isBox && control.checked,
        choices: control.localName !== 'select' ? [] : [...control.options].map(({ value, label, selected }) => ({ value, label: line(label), selected })),
        multiple: control.multiple === true && control.localName === 'select',
        required: control.required === true,
        readOnly: control.readOnly === true || control.matches(':disabled'),
        maxLength: control.maxLength ?? -1,
        width: control.offsetWidth || 1,
        fontSize,
        lineHeight: pixels(style.lineHeight) || fontSize * 1.15,
        inset, align,
        color: colorOf(isBox ? 'rgb(0, 0, 0)' : style.color),
      },
    };
  });
  const sheets = new Set();
  for (const { root, control, kind, native, fixed, size, stands, sizing, anchor, shown, field } of read) {
    const { id } = field;
    const view = control.ownerDocument.defaultView;
    if (!sheets.has(root)) {
      sheets.add(root);
      const sheet = new view.CSSStyleSheet();
      sheet.replaceSync(${JSON.stringify(PARTS)});
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
      undo.push(() => { root.adoptedStyleSheets = [...root.adoptedStyleSheets].filter((each) => each !== sheet); });
    }
    // What is drawn by the document in place of a control that nobody sees cannot become a field.
    if (!shown) continue;
    const name = '--platen-' + token + '-' + id;
    const style = { 'anchor-name': anchor && anchor !== 'none' ? anchor + ', ' + name : name };
    if (sizing === 'content') Object.assign(style, size);
    if (kind === 'checkbox' || kind === 'radio') {
      Object.assign(style, native
        ? { appearance: 'none', ...size, ...stands, 'box-sizing': 'border-box', padding: '0', background: '#fff',
            border: '1px solid #767676', 'border-radius': kind === 'radio' ? '50%' : '2px' }
        : { 'background-image': 'none', 'background-color': '#fff', 'mask': 'none', 'clip-path': 'none' });
    } else if (kind === 'textarea') {
      const { value } = control;
      control.value = ' ';
      style.resize = 'none';
      undo.push(() => { control.value = value; });
    } else if (kind !== 'list') Object.assign(style, { 'text-indent': '-99999px', 'text-align': 'start', 'text-overflow': 'clip' });
    set(control, style);
    globalThis.platenForm.controls.push({ id, control, kind, value: field.value });
    // Read aloud as a picture, a control is one element of the structure, with a text that names it.
    attribute(control, 'role', 'img');
    attribute(control, 'aria-label', token + ' ' + id);
    for (const each of ['aria-labelledby', 'aria-hidden']) if (control.hasAttribute(each)) attribute(control, each, null);
    const link = control.ownerDocument.createElementNS('http://www.w3.org/1999/xhtml', 'a');
    link.href = origin + '/' + token + '/' + id;
    link.setAttribute('aria-hidden', 'true');
    link.style.cssText = 'all: initial !important; position: absolute !important; position-anchor: ' + name + ' !important; top: anchor(top) !important; ' +
      'left: anchor(left) !important; width: anchor-size(width) !important; height: anchor-size(height) !important';
    (fixed ?? (root.nodeType === 9 ? root.documentElement : root)).append(link);
    undo.push(() => link.remove());
  }
  return { controls: read.filter(({ shown }) => shown).map(({ field }) => field), ...sums };
}`;

/**
 * Runs in the document, after MARK: shows the values of the controls with the given ids, and nothing else of them, once the
 * document is hidden.
 */
export const SHOW_VALUES = `(ids) => {
  const { undo, controls } = globalThis.platenForm;
  const change = (element, values) => {
    const before = element.getAttribute('style');
    undo.push(() => before === null ? element.removeAttribute('style') : element.setAttribute('style', before));
    for (const [name, value] of Object.entries(values)) {
      if (value === null) element.style.removeProperty(name);
      else element.style.setProperty(name, value, 'important');
    }
  };
  change(document.documentElement, { opacity: '1' });
  for (const { id, control, kind, value } of controls) {
    if (!ids.includes(id)) continue;
    if (kind === 'textarea') control.value = value;
    change(control, { visibility: 'visible', 'border-color': 'transparent', background: 'none', 'box-shadow': 'none', outline: 'none',
      'text-indent': null, 'text-align': null });
    if (kind === 'list') for (const option of control.options) change(option, { visibility: 'visible' });
  }
}`;

/** Runs in the document: gives it back what MARK has changed. */
export const UNMARK = `() => {
  for (const back of (globalThis.platenForm?.undo ?? []).splice(0).reverse()) back();
}`;
