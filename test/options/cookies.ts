import assert from 'node:assert/strict';
import { BLUE, echo, type OptionCases, RED, SITE } from './support/cases.ts';

const cookie = (more: object = {}) => ({ name: 'session', value: 'abc', url: 'https://a.example/', ...more });
const EXAMPLE = /such as \{"name": "session", "value": "abc", "url": "https:\/\/reports.example\/"\}/;
/** What goes to another site, as all are for HTML and templates. */
const anywhere = { sameSite: 'None', secure: true };

export const cases: OptionCases = {
  accepted: [
    [],
    Array(50).fill(cookie({ value: 'x'.repeat(4096 - 'session'.length) })),
    [
      {
        name: 'a',
        value: '',
        domain: '.a.example',
        path: '/b',
        secure: true,
        httpOnly: true,
        sameSite: 'Strict',
      },
    ],
  ],
  refused: [
    [{ cookies: Array(51).fill(cookie()) }, 'cookies', /at most 50 items/],
    [{ cookies: [cookie({ value: 'x'.repeat(4097) })] }, 'cookies[0].value', /at most 4096 characters/],
    [{ cookies: [cookie({ value: 'x'.repeat(4096) })] }, 'cookies[0]', /4096 bytes at most together/],
    [{ cookies: [cookie({ name: 'a b' })] }, 'cookies[0].name', /such as session/],
    [{ cookies: [cookie({ name: 'platen-document' })] }, 'cookies[0].name', /may not be set/],
    [{ cookies: [cookie({ value: 'a; Path=/' })] }, 'cookies[0].value', /semicolons/],
    [{ cookies: [cookie({ value: 'a\r\nX: b' })] }, 'cookies[0].value', /control characters/],
    [{ cookies: [cookie({ value: 'a\ud800' })] }, 'cookies[0].value', /without U\+D800/],
    [{ cookies: [cookie({ value: ' a' })] }, 'cookies[0].value', /begin or end with a space/],
    [{ cookies: [cookie({ path: '/\u2028' })] }, 'cookies[0].path', /without U\+2028/],
    [{ cookies: [cookie({ url: 'https:a.example' })] }, 'cookies[0].url', /http or https address/],
    [{ cookies: [cookie({ url: 'https://a.exa\nmple' })] }, 'cookies[0].url', /without U\+000A/],
    [{ cookies: [cookie({ url: undefined })] }, 'cookies[0]', EXAMPLE],
    [{ cookies: [cookie({ domain: 'a.example' })] }, 'cookies[0]', EXAMPLE],
    [{ cookies: [cookie({ url: 'file:///etc/passwd' })] }, 'cookies[0].url', /http or https/],
    [{ cookies: [cookie({ sameSite: 'None' })] }, 'cookies[0]', /needs secure/],
  ],
  effects: [
    {
      title: 'cookies are sent to their site',
      html: `${echo('cookie', 'session=abc')}<p>x`,
      options: { cookies: [{ ...cookie(anywhere), url: SITE }] },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
    {
      title: 'cookies are sent to no other site',
      html: `${echo('cookie', 'session=abc')}<p>x`,
      options: { cookies: [cookie(anywhere)] },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(BLUE) > 3000),
    },
    {
      title: 'a response to a request with other cookies is not used',
      html: `${echo('cookie', 'session=def')}<script>1</script>`,
      options: {
        cookies: [cookie({ ...anywhere, value: 'def', url: SITE })],
      },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
  ],
  failures: [
    {
      title: 'a cookie that browsers reject fails the render, and the error names it',
      html: '<p>x',
      options: { cookies: [cookie(), { name: '__Host-a', value: 'b', domain: 'a.example' }] },
      code: 'COOKIE_INVALID',
      message: /cookies\[1\], "__Host-a" for a\.example/,
    },
  ],
};
