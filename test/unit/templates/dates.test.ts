import assert from 'node:assert/strict';
import { errorOf, html, rendered } from './support.ts';

const MS = 1_764_288_000_000;

describe('Dates in templates', () => {
  const day =
    '{{ "2026-03-01" | date: "%-d. %B %Y" }}|{{ "2026-03-01" | date: "long" }}|{{ "2026-03-01" | date: "short" }}';

  for (const [locale, printed] of [
    [undefined, '1. March 2026|March 1, 2026|3/1/26'],
    ['de-DE', '1. März 2026|1. März 2026|01.03.26'],
    ['fr-FR', '1. mars 2026|1 mars 2026|01/03/2026'],
    ['de-CH', '1. März 2026|1. März 2026|01.03.26'],
    ['ja-JP', '1. 3月 2026|2026年3月1日|2026/03/01'],
  ] as const) {
    it(`are in the language of the document: ${locale ?? 'none given'}`, () => {
      assert.equal(html(day, {}, { locale }), printed);
    });
  }

  it('are in the language and the time zone that the template names', () => {
    const source =
      '{{ d | date: "%-d. %B %H", "Asia/Tokyo", "de-DE" }}|{{ d | date: "%-d. %B %H", locale: "fr-FR" }}|{{ d | date: "full", timezone: "Asia/Tokyo" }}';
    assert.equal(
      html(source, { d: '2026-02-28T23:30:00Z' }),
      '1. März 08|28. février 23|Sunday, March 1, 2026',
    );
  });

  it('print in old formats as before', () => {
    const source = '{{ d | date: "%Y-%m-%d %H:%M:%S %z %a %A %b %j" }}|{{ s | date: "%s" }}|{{ d | date }}';
    assert.equal(
      html(source, { d: '2026-01-31T23:30:00-05:00', s: 1_764_288_000 }),
      '2026-01-31 23:30:00 -0500 Sat Saturday Jan 031|1764288000|Saturday, January 31, 2026 at 11:30 pm -0500',
    );
    assert.equal(html('{{ "March 5, 2026" | date: "%F%d.%m" }}'), '%F05.03');
    assert.equal(html('[{{ "" | date: "%Y" }}{{ nil | date: "%Y" }}{{ "TBD" | date: "%Y" }}]'), '[TBD]');
  });

  it('are in the time zone of the document, except days and local times', () => {
    const source = (value: string) => `{{ ${value} | date: "%d %H:%M" }}`;
    for (const [value, utc, tokyo, newYork] of [
      ['s', '28 00:00', '28 09:00', '27 19:00'],
      ['ms', '28 00:00', '28 09:00', '27 19:00'],
      ['"1764288000"', '28 00:00', '28 09:00', '27 19:00'],
      ['"2026-03-01T23:30:00Z"', '01 23:30', '02 08:30', '01 18:30'],
      ['"2026-07-01T23:30:00+02:00"', '01 23:30', '02 06:30', '01 17:30'],
      ['"2026-03-01T10:00:00"', '01 10:00', '01 10:00', '01 10:00'],
      ['"2026-03-01"', '01 00:00', '01 00:00', '01 00:00'],
    ] as const) {
      const data = { ms: MS, s: MS / 1000 };
      assert.equal(html(source(value), data), utc, value);
      assert.equal(html(source(value), data, { timezone: 'Asia/Tokyo' }), tokyo, value);
      assert.equal(html(source(value), data, { timezone: 'America/New_York' }), newYork, value);
    }
    assert.equal(html('{{ "2026-03-01" | date: "%d", "America/New_York" }}'), '01', 'a day is no moment');
  });

  it('of now are in the time zone of the document', () => {
    // Two zones that are always on different days.
    const source = '{{ "now" | date: "%Y-%m-%d" }}|{{ "today" | date: "%Y-%m-%d" }}';
    const [now, today] = html(source, {}, { timezone: 'Pacific/Kiritimati' }).split('|');
    const [before] = html(source, {}, { timezone: 'Pacific/Pago_Pago' }).split('|');
    assert.equal(now, today);
    assert.notEqual(now, before);
  });

  it('are printed as they are written when there is no such day, with a warning, and fail where data are strict', () => {
    for (const [value, locale] of [
      ['2026-02-30', undefined],
      ['2026-02-30T10:00:00Z', undefined],
      ['2026-13-01', undefined],
      ['2026-03-01T25:00:00', undefined],
      ['2025/02/29', undefined],
      ['31 Feb 2026', undefined],
      ['31/12/2026', undefined],
      ['02/30/2026', 'en-US'],
      ['99999999999999999', undefined],
    ] as const) {
      const shown = value.replace('99999999999999999', '100000000000000000');
      assert.equal(
        errorOf(`one\n{{ d | date: "%Y" }}`, { d: value }, { locale, strictData: true }),
        `Line 2, column 1: "${shown}" is not a date.`,
      );
      assert.deepEqual(rendered('{{ d | date: "%Y" }}', { d: value }, { locale, wantsWarnings: true }), {
        html: value,
        warnings: [`"${shown}" is not a date: it was printed as it is`],
      });
    }
    assert.equal(html('{{ "2024-02-29" | date: "%d" }}'), '29');
    assert.equal(html('{{ "31 Jan 2026 23:30:00 GMT-0500" | date: "%d" }}'), '31');
    assert.match(
      errorOf('{{ d | date_to_string }}', { d: '2026-02-30' }, { strictData: true }),
      /"2026-02-30" is not a date/,
    );
    assert.match(errorOf('{{ d | date: "%Y" }}', { d: { y: 1 } }), /an object \(y\) is not a date/);
    assert.match(errorOf('{{ 1 | date: "%Y", "Mars/Base" }}'), /"Mars\/Base" is not a time zone/);
    assert.match(errorOf('{{ 1 | date: "%Y", locale: "xx-YY" }}'), /"xx-YY" is not a language tag/);
  });

  it('whose month and day may be exchanged are refused, or read with the month first in American English', () => {
    const source = '{{ d | date: "%Y-%m-%d" }}';
    for (const locale of ['de-DE', 'en-GB', 'fr-FR'])
      assert.match(
        errorOf(source, { d: '01/12/2026' }, { locale }),
        /"01\/12\/2026" may have the day or the month first: send dates as 2026-12-31/,
      );
    for (const d of ['01.12.2026', '1-12-2026'])
      assert.match(errorOf(source, { d }), /day or the month first/);
    const { html: printed, warnings } = rendered(source, { d: '01/12/2026' }, { wantsWarnings: true });
    assert.equal(printed, '2026-01-12');
    assert.deepEqual(warnings, [
      'the date "01/12/2026" was read with the month first: send dates as 2026-12-31',
    ]);
    assert.deepEqual(rendered(source, { d: '12/31/2026' }, { wantsWarnings: true }).warnings, []);
  });
});
