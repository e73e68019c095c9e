import assert from 'node:assert/strict';
import { HUNG_MS } from '../support/eventually.ts';
import { echo, type OptionCases, RED } from './support/cases.ts';

const FOOTER =
  '<style>.date { color: red }</style><p style="font-size: 10px">[<b class="x date">never</b>]</p>';

const EXAMPLE = /such as de-DE/;

export const cases: OptionCases = {
  accepted: ['de', 'DE-de', 'de-DE', 'zh-Hant-TW', 'ar-u-nu-latn'],
  refused: [
    [{ locale: 'de_DE' }, 'locale', EXAMPLE],
    [{ locale: 'german language' }, 'locale', EXAMPLE],
    [{ locale: 'und' }, 'locale', EXAMPLE],
    [{ locale: 'und-US' }, 'locale', EXAMPLE],
    [{ locale: '' }, 'locale', EXAMPLE],
    [{ locale: `de-${'x'.repeat(62)}` }, 'locale', /at most 64 characters/],
  ],
  effects: [
    {
      title: 'scripts find the language, and format numbers by it',
      html: `<p id=p></p><script>p.textContent = (1234.5).toLocaleString() + ' ' + navigator.language + ' ' + Intl.DateTimeFormat().resolvedOptions().locale</script>`,
      options: { locale: 'de-DE' },
      proof: ({ text }) => assert.equal(text.trim(), '1.234,5 de-DE de-DE'),
    },
    {
      title: 'the date in headers and footers is written in the language, and in the time zone of the render',
      html: '<p>x',
      options: {
        locale: 'de-DE',
        timezone: 'Pacific/Kiritimati',
        displayHeaderFooter: true,
        headerTemplate: FOOTER,
        firstFooterTemplate: FOOTER,
        margin: { top: '2cm', bottom: '2cm' },
      },
      async proof({ text, draw }) {
        const written = [...text.matchAll(/\[(.*?), \d\d:\d\d\]/g)].map(([, date]) => date);
        const islands = new Intl.DateTimeFormat('de-DE', {
          dateStyle: 'short',
          timeZone: 'Pacific/Kiritimati',
        });
        const days = [Date.now(), Date.now() - HUNG_MS].map((time) => islands.format(time));
        assert.ok(written.length === 2 && written.every((date) => days.includes(date!)), text);
        // The style of the class still applies.
        assert.ok((await draw(1, 2)).countColor(RED, 80) > 100);
      },
    },
    {
      title: 'requests have the language in Accept-Language',
      html: echo('accept-language', 'fr-CA'),
      options: { locale: 'fr-CA' },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
    {
      title: 'a response in one language is not used in another',
      html: echo('accept-language', 'fr-CA'),
      options: { locale: 'de' },
      proof: async ({ draw }) => assert.equal((await draw()).countColor(RED), 0),
    },
  ],
};
