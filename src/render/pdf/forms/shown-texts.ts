import type { FormControl } from './control.ts';

/** The texts that a control shows. */
export function shownTexts({ kind, value, choices }: FormControl): string[] {
  if (kind === 'list') return choices.map(({ label }) => label);
  if (kind === 'password' || kind === 'checkbox' || kind === 'radio') return [''];
  return [kind === 'select' ? (choices.find(({ selected }) => selected)?.label ?? '') : value];
}
