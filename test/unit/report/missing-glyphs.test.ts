import assert from 'node:assert/strict';
import {
  codePointsOf,
  UNKNOWN_CHARACTER,
  withFirstNamed,
} from '../../../src/render/report/missing-glyphs.ts';

/** The characters of missing glyphs once they are named. @param printed as the PDF names them; `?` for one that it does not. */
function namesOf(printed: string[], fontsWithUnknown: number, missing: string[]): string[] {
  const missingGlyphs = printed.map((name) => {
    const character = name === '?' ? UNKNOWN_CHARACTER : name;
    return { character, codePoint: codePointsOf(character), page: 1, count: 1 };
  });
  const named = withFirstNamed({ missingGlyphs, fontsWithUnknown, cut: false }, missing);
  for (const { character, codePoint } of named) assert.equal(codePoint, codePointsOf(character));
  return named.map(({ character }) => (character === UNKNOWN_CHARACTER ? '?' : character));
}

describe('A missing glyph that the PDF does not name', () => {
  const cases: [string, string[], number, string[], string[]][] = [
    ['is the only missing character', ['?'], 1, ['न'], ['न']],
    [
      'is the missing character that is named nowhere',
      ['?', 'म', 'ते'],
      1,
      ['न', 'म', 'त', 'े'],
      ['न', 'म', 'ते'],
    ],
    ['is the same in several fonts that lack it alone', ['?', '?'], 2, ['न'], ['न', 'न']],
    ['stays unknown in several fonts that lack more', ['?', 'म', '?'], 2, ['न', 'म'], ['?', 'म', '?']],
    ['stays unknown when it may be one of two', ['?'], 1, ['न', 'म'], ['?']],
    ['stays unknown when the text of the document has none', ['?', 'म'], 1, [], ['?', 'म']],
  ];
  for (const [title, printed, fonts, missing, expected] of cases) {
    it(title, () => assert.deepEqual(namesOf(printed, fonts, missing), expected));
  }
});
