import assert from 'node:assert/strict';
import { compileDictionaries } from '../../support/hyphen-data.ts';
import { readPdf } from '../../support/pdf.ts';
import { type Bench, render, startBench } from './support.ts';

/** By the attribute `lang`: a word with each position at which a column that is too narrow for any part breaks it. */
const WORDS: Readonly<Record<string, string>> = {
  de: 'Rechts-schutz-ver-si-che-rung',
  'de-AT': 'Rechts-schutz-ver-si-che-rung',
  en: 'in-ter-na-tion-al-iza-tion',
  'en-GB': 'char-ac-ter-isa-tion',
  fr: 'in-ter-na-tio-na-li-sa-tion',
  sv: 'sjuk-för-säk-rings-kassa',
  fi: 'kan-sain-vä-li-nen',
  pl: 'kon-stan-ty-no-po-li-tań-czyk',
  nb: 'for-sik-rings-sel-ska-pet',
  no: 'for-sik-rings-sel-ska-pet',
  nl: 'ar-beids-over-een-komst',
  hu: 'meg-szent-ség-te-le-nít-he-tet-len',
  sr: 'ме-ђу-на-родна',
  'sr-Latn': 'me-đu-na-rodna',
  uk: 'між-на-ро-дний',
  el: 'πα-νε-πι-στη-μιο',
};
const NARROW = '<meta charset="utf-8"><style>p { width: 1px; hyphens: auto }</style>';

describe('hyphens: auto', () => {
  let bench: Bench;
  before(async () => {
    compileDictionaries();
    bench = await startBench();
  });
  after(() => bench.close());

  const linesOf = async (html: string) => {
    const { bytes } = await render(bench, html);
    return (await readPdf(bytes)).pages
      .flatMap(({ lines }) => lines.map((line) => line.trim()))
      .filter(Boolean);
  };

  it('breaks words as their language does', async () => {
    const html = Object.entries(WORDS).map(
      ([lang, word]) => `<p lang="${lang}">${word.replaceAll('-', '')}</p>`,
    );
    const expected = Object.values(WORDS).flatMap((word) => word.replaceAll('-', '-\n').split('\n'));
    const lines = await linesOf(NARROW + html.join(''));
    assert.deepEqual(
      lines.map((line) => line.replace('\u2010', '-')),
      expected,
    );
  });

  it('leaves words whole whose language is not known, or has no dictionary, and the report says so', async () => {
    const html = `${NARROW}<p>internationalization</p><p lang="cs-CZ" id=czech>nejneobhospodařovávatelnějšími</p>
      <p lang="de">Rechtsschutzversicherung</p><p lang="cs-CZ">nejneobhospodařovávatelnějšími</p>
      <p lang="cs">krátce</p><p lang="ja">国際化</p><p style="hyphens: manual">internationalization</p>`;
    const { bytes, findings } = await render(bench, html, { report: true });
    const { text } = await readPdf(bytes);
    assert.equal(text.match(/internationalization/g)?.length, 2);
    assert.equal(text.match(/nejneobhospodařovávatelnějšími/g)?.length, 2);
    const observations = findings!.observations.filter(({ rule }) => rule === 'unsupportedCss');
    assert.deepEqual(
      observations.map(({ message }) => message),
      [
        'hyphens: auto breaks no words of p:nth-of-type(1), since no attribute lang names its language',
        'hyphens: auto breaks no words of #czech, since there is no hyphenation dictionary for "cs-CZ"',
      ],
    );
  });
});
