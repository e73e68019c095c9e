import assert from 'node:assert/strict';
import { BLUE, echo, type OptionCases, RED, SITE } from './support/cases.ts';

const PICTURES = `${echo('accept', 'image')}${echo('none', 'nothing')}`;
const RED_SHEET = `<link rel=stylesheet href="${SITE}/red.css"><p style="margin: 0; width: 100px; height: 100px">x`;

const KINDS = ['image', 'font', 'script', 'stylesheet', 'media', 'frame', 'fetch', 'other'];

export const cases: OptionCases = {
  accepted: [
    {},
    {
      urls: Array(50).fill('x'.repeat(255)),
      kinds: KINDS,
    },
  ],
  refused: [
    [{ blockRequests: { urls: Array(51).fill('*') } }, 'blockRequests.urls', /at most 50 items/],
    [{ blockRequests: { urls: ['x'.repeat(256)] } }, 'blockRequests.urls[0]', /at most 255 characters/],
    [{ blockRequests: { urls: ['a b'] } }, 'blockRequests.urls[0]', /such as \*:\/\/ads\.example\/\*/],
    [{ blockRequests: { kinds: ['pictures'] } }, 'blockRequests.kinds[0]', /must be one of .*image/],
    [{ blockRequests: ['*'] }, 'blockRequests', /must be an object/],
  ],
  effects: [
    {
      title: 'without the option both pictures and the style sheet are there',
      html: PICTURES + RED_SHEET,
      options: { blockRequests: {} },
      async proof({ draw }) {
        const page = await draw();
        assert.ok(page.countColor(RED) > 9000 && page.countColor(BLUE) > 3000);
      },
    },
    {
      title: 'addresses that match a pattern are not requested, others are',
      html: PICTURES + RED_SHEET,
      options: { blockRequests: { urls: ['*name=none*', '*.css'] } },
      async proof({ draw }) {
        const page = await draw();
        assert.equal(page.countColor(BLUE), 0);
        const red = page.countColor(RED);
        assert.ok(red > 3000 && red < 7000, `${red} red pixels`);
      },
    },
    {
      title: 'requests of a kind are not made, with asset headers too, and the document itself is there',
      html: PICTURES + RED_SHEET,
      options: {
        blockRequests: { urls: ['*'], kinds: ['image'] },
        assetHeaders: { 'X-Asset': 'a' },
        assetOrigins: [SITE],
      },
      async proof({ text, draw }) {
        assert.equal(text.trim(), 'x');
        const page = await draw();
        assert.deepEqual([page.countColor(RED), page.countColor(BLUE)], [0, 0]);
      },
    },
    {
      title: 'a document is printed although every kind of request is blocked',
      html: PICTURES + RED_SHEET,
      options: { blockRequests: { kinds: KINDS } },
      async proof({ text, draw }) {
        assert.equal(text.trim(), 'x');
        const page = await draw();
        assert.deepEqual([page.countColor(RED), page.countColor(BLUE)], [0, 0]);
      },
    },
    {
      title: 'what a script fetches fails',
      html: `<p id=p>x</p><script>fetch('${SITE}/red.css').then(() => { p.textContent = 'fetched' }, () => { p.textContent = 'kept' }).then(() => { p.id = 'done' })</script>`,
      options: { blockRequests: { kinds: ['fetch'] }, waitForSelector: '#done' },
      proof: ({ text }) => assert.equal(text.trim(), 'kept'),
    },
  ],
};
