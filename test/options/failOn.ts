import assert from 'node:assert/strict';
import { type OptionCases, SITE } from './support/cases.ts';

const LOST = `${SITE}/lost.svg`;

export const cases: OptionCases = {
  accepted: [
    {},
    {
      pageStatus: ['400-599'],
      assetStatus: ['404', '500-599'],
      assetUnreachable: true,
      exception: true,
      missingGlyph: true,
      ignoreHosts: ['ads.example'],
    },
  ],
  refused: [
    [{ failOn: { assetStatus: ['4xx'] } }, 'failOn.assetStatus[0]', /must be a status or a range of them/],
    [{ failOn: { ignoreHosts: ['a\x85'] } }, 'failOn.ignoreHosts[0]', /without U\+0085/],
    [{ failOn: { exception: 'yes' } }, 'failOn.exception', /must be a boolean/],
    [{ failOn: { blank: 1 } }, 'failOn.blank', /must be a boolean/],
    [
      { failOn: { ignoreHosts: Array.from({ length: 51 }, () => 'a.example') } },
      'failOn.ignoreHosts',
      /at most 50/,
    ],
  ],
  effects: [
    {
      title: 'a document without errors is printed under every rule',
      html: '<p>there</p><script>1</script>',
      options: {
        failOn: {
          pageStatus: ['400-599'],
          assetStatus: ['400-599'],
          assetUnreachable: true,
          exception: true,
          missingGlyph: true,
        },
      },
      proof: ({ text }) => assert.match(text, /there/),
    },
    {
      title: 'requests to an ignored host fail no render',
      html: `<p>there</p><img src="${LOST}">`,
      options: { failOn: { assetStatus: ['400-599'], ignoreHosts: ['127.0.0.1'] } },
      proof: ({ text }) => assert.match(text, /there/),
    },
  ],
  failures: [
    {
      title: 'an error page fails the render even where the rules name other statuses',
      html: '<p>not there',
      status: 404,
      options: { failOn: { pageStatus: ['500-599'] } },
      code: 'URL_UNREACHABLE',
      message: /404/,
    },
    {
      title:
        'what an inspection of the printed document finds fails the render, and the error says what to do',
      html: '<style>body { margin: 0 }</style><p>x</p><div style="width: 900px; height: 5px"></div>',
      options: { failOn: { shrunk: true } },
      code: 'DOCUMENT_FAULT',
      message: /failOn\.shrunk: .*88\.3 %/,
    },
    {
      title: 'a status of the source URL fails the render, and the error names it',
      html: '<p>not the original',
      status: 203,
      options: { failOn: { pageStatus: ['203'] } },
      code: 'URL_UNREACHABLE',
      message: /203/,
    },
    {
      title: 'a status of what the document loads fails the render, and the error names its address',
      html: `<p>x<img src="${LOST}">`,
      options: { failOn: { assetStatus: ['404'] } },
      code: 'ASSET_FAILED',
      message: /404.*lost\.svg|lost\.svg.*404/,
    },
    {
      title: 'a server that cannot be reached fails the render, and the error names the address',
      html: '<p>x<img src="http://127.0.0.1:1/x.svg">',
      options: { failOn: { assetUnreachable: true } },
      code: 'ASSET_FAILED',
      message: /127\.0\.0\.1:1\/x\.svg/,
    },
    {
      title: 'a relative address that leads nowhere fails the render as a status does',
      html: '<p>x<img src="lost/here.svg">',
      options: { failOn: { assetStatus: ['404'] } },
      code: 'ASSET_FAILED',
      message: /lost\/here\.svg/,
    },
    {
      title: 'a script that throws fails the render',
      html: '<script>throw new Error("the sum is wrong")</script>',
      options: { failOn: { exception: true } },
      code: 'EXCEPTION_THROWN',
      message: /the sum is wrong/,
    },
    {
      title: 'a character that no font has fails the render, and the error names its page',
      html: '<p>x</p><p style="break-before: page">\u{10FFFD}</p>',
      options: { failOn: { missingGlyph: true } },
      code: 'GLYPH_MISSING',
      message: /No font has .* on page 2/,
    },
  ],
};
