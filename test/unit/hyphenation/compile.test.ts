import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileHyb } from '../../../scripts/hyphenation/hyb.ts';
import { LANGUAGES, LEFT_OUT } from '../../../scripts/hyphenation/languages.ts';
import { licences } from '../../../scripts/hyphenation/licences.ts';
import { readPatterns } from '../../../scripts/hyphenation/patterns.ts';
import { breaksOf } from './read-hyb.ts';

type Hyphenator = (text: string) => string;

const require = createRequire(import.meta.url);
const createHyphenator = require('hyphen') as (patterns: unknown, options: object) => Hyphenator;
const WORDS = 300;

/** How the npm package itself breaks words by the patterns of one file: the judge of what is compiled from them. */
function judge(name: string): Hyphenator {
  // Without exceptions, which it gets wrong.
  const [levels, trie] = require(`hyphen/patterns/${name}.js`) as unknown[];
  const hyphenate = createHyphenator([levels, trie], { hyphenChar: '|', minWordLength: 1 });
  // It keeps two letters together at the end of a word, Chromium three.
  return (word) => hyphenate(word).replace(/\|(?=..$)/u, '');
}

function withBreaks(word: string, positions: readonly number[]): string {
  return [...word].map((letter, position) => (positions.includes(position) ? `|${letter}` : letter)).join('');
}

/** Words of pieces that patterns are for, the same ones each time. */
function madeUpWords(name: string): string[] {
  const { 2: exceptions = {} } = require(`hyphen/patterns/${name}.js`) as { 2?: object };
  const pieces = readPatterns(name)
    .map(({ letters }) => letters.replaceAll('.', ''))
    // What the package takes for the end of a word.
    .filter((letters) => !/^$|[-\u2013-\u203c]/u.test(letters) && !Object.hasOwn(exceptions, letters));
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 0x7fffffff;
    return pieces[seed % pieces.length]!;
  };
  return Array.from({ length: WORDS }, (_, index) => {
    let word = '';
    for (let piece = 0; piece <= index % 5 || word.length < 8; piece++) word += next();
    return word;
  });
}

function compiled(locale: string): Buffer {
  const { patterns } = LANGUAGES.find((language) => language.locale === locale)!;
  return compileHyb(patterns.flatMap(readPatterns), locale);
}

function broken(dictionary: Buffer, word: string): string {
  return withBreaks(word, breaksOf(dictionary, word));
}

describe('compiled hyphenation dictionaries', () => {
  for (const { locale, patterns } of LANGUAGES)
    it(`break words as the patterns say: ${locale}`, () => {
      const dictionary = compiled(locale);
      let breaks = 0;
      for (const name of patterns) {
        const hyphenate = judge(name);
        for (const word of madeUpWords(name)) {
          const expected = hyphenate(word);
          assert.equal(broken(dictionary, word), expected);
          breaks += expected.split('|').length - 1;
        }
      }
      assert.ok(breaks > WORDS / 4, `${breaks} breaks in ${WORDS} words show nothing`);
    });

  it('break the words that are exceptions of the patterns as the list of hyph-utf8 does', () => {
    for (const [locale, words] of [
      ['en-us', 'as|so|ciate dec|li|na|tion oblig|a|tory phil|an|thropic present reci|procity'],
      ['nl', 'aan|dachts|trek|ker acht|en|der|tig|ste mi|nis|ters|por|te|feuille'],
      ['nb', 'ant|wer|pen betre'],
    ] as const) {
      const dictionary = compiled(locale);
      for (const word of words.split(' ')) assert.equal(broken(dictionary, word.replaceAll('|', '')), word);
    }
  });

  it('break capitals as small letters', () => {
    const german = compiled('de-1996');
    assert.equal(broken(german, 'Rechtsschutzversicherung'), 'Rechts|schutz|ver|si|che|rung');
    assert.equal(broken(german, 'STRAẞENÜBERGANG'), 'STRA|ẞEN|ÜBER|GANG');
    for (const [locale, capitals] of [
      ['tr', 'İSTANBULLULAR'],
      ['tr', 'ISPARTALILAR'],
      ['el', 'ΠΑΝΕΠΙΣΤΗΜΙΟ'],
      ['ru', 'ПРЕДЛОЖЕНИЕ'],
    ] as const) {
      const dictionary = compiled(locale);
      const positions = breaksOf(dictionary, capitals.toLocaleLowerCase(locale));
      assert.ok(positions.length > 1, capitals);
      assert.deepEqual(breaksOf(dictionary, capitals), positions, capitals);
    }
  });

  it('have no break in a word with a letter that the language does not have', () => {
    const english = compiled('en-us');
    assert.deepEqual(breaksOf(english, 'internationalization'), [2, 5, 7, 11, 13, 16]);
    assert.deepEqual(breaksOf(english, 'internationalизация'), []);
  });

  it('are made of every file of the package that has no reason to be left out, with its licence', () => {
    const files = readdirSync(join(dirname(require.resolve('hyphen/package.json')), 'patterns'));
    const used = new Set(LANGUAGES.flatMap(({ patterns }) => patterns));
    const named = [...used, ...Object.values(LEFT_OUT).flat()];
    assert.deepEqual(named.toSorted(), files.map((file) => file.replace(/\.js$/, '')).toSorted());
    const text = licences();
    for (const { locale, copyright } of LANGUAGES) {
      assert.match(copyright, /\d{4}.* \p{L}/u, locale);
      assert.ok(text.includes(`hyph-${locale}.hyb `) && text.includes(copyright), locale);
    }
  });
});
