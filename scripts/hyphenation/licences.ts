import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANGUAGES } from './languages.ts';

/** What the licences want to accompany the dictionaries: who has made the patterns, and under which terms. */
export function licences(): string {
  const list = LANGUAGES.map(
    ({ locale, name, licence, copyright }) =>
      `hyph-${locale}.hyb  ${name}: ${licence}, copyright (C) ${copyright}\n`,
  );
  return `These hyphenation dictionaries are modified: Platen has compiled them from the patterns of hyph-utf8, which
https://www.hyphenation.org has as they were written, by way of the npm package "hyphen" (ISC, copyright (C) 2026 Yevhen
Tiurin). No author of the patterns answers for them. The texts of the licences follow the list.

${list.join('')}
LPPL: https://www.latex-project.org/lppl/
MPL-1.1: https://www.mozilla.org/en-US/MPL/1.1/
LGPL-2.1: https://www.gnu.org/licenses/old-licenses/lgpl-2.1.html
LGPL-3.0: https://www.gnu.org/licenses/lgpl-3.0.html

${readFileSync(join(import.meta.dirname, 'licences.txt'), 'utf8')}`;
}
