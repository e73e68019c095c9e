import { LANGUAGES, LEFT_OUT } from './languages.ts';

/** What a document writes into `lang`, where that is not the locale itself. */
const TAGS: Readonly<Record<string, readonly string[]>> = {
  'de-1996': ['de', 'de-AT', 'de-CH'],
  'en-us': ['en', 'en-US'],
  'en-gb': ['en-GB', 'en-AU', 'en-IE'],
  'mn-cyrl': ['mn'],
  nb: ['nb', 'no'],
  sr: ['sr', 'sr-Latn'],
  'und-ethi': ['am', 'byn', 'gez', 'ti', 'wal'],
};

/** `docs/reference/hyphenation.md`: the languages, and the licence of each. */
export function hyphenationPage(): string {
  const rows = LANGUAGES.toSorted((a, b) => a.name.localeCompare(b.name, 'en')).map(
    ({ locale, name, licence }) =>
      `| ${name} | ${(TAGS[locale] ?? [locale]).map((tag) => `\`${tag}\``).join(', ')} | ${licence} |\n`,
  );
  const leftOut = Object.entries(LEFT_OUT).map(
    ([reason, files]) => `- ${reason}: ${files.map((file) => `\`${file}\``).join(', ')}\n`,
  );
  return `# Hyphenation

\`hyphens: auto\` breaks words in the languages below. The browser takes the language from the attribute \`lang\`, and breaks
no word without it:

\`\`\`html
<p lang="de" style="hyphens: auto; width: 4cm">Rechtsschutzversicherungsgesellschaften</p>
\`\`\`

- The first part of \`lang\` decides, so that \`fr-CA\` is broken as \`fr\`. English and German have several dictionaries.
- At least two letters stay together at the beginning of a word and three at its end; words of fewer than five or more
  than 62 letters are not broken. \`hyphenate-limit-chars\` keeps more letters together.
- English words with a capital letter are not broken, as Chromium takes them for names.
- \`&shy;\` in a word breaks it there, in every language.

The [report](../guide/report.md) names texts that ask for hyphens in a language without a dictionary, or without \`lang\`
(rule \`unsupportedCss\`). The [image](../image.md#hyphenation) has the dictionaries; a browser of your own needs to be given
them.

| Language | \`lang\` | Licence |
| --- | --- | --- |
${rows.join('')}
The patterns are those of [hyph-utf8](https://www.hyphenation.org), by way of the npm package \`hyphen\` (ISC). The licences
are those of the patterns: SPDX identifiers, LPPL for the LaTeX Project Public License of any version, and \`own\` for terms
that allow copying and distribution in the author's own words. \`LICENCES.txt\` beside the dictionaries has each copyright
and the texts.

No dictionary is made of these files of the package, each of which

${leftOut.join('')}
Serbian is broken by the Serbo-Croatian patterns instead, in both scripts.
`;
}
