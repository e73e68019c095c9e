import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const LATE = `<p id=p>early</p><script>setTimeout(() => { p.textContent = 'late'; window.ready = true }, 300)</script>`;

export const cases: OptionCases = {
  accepted: ['x'.repeat(2000), '1'],
  refused: [
    [{ waitForExpression: '' }, 'waitForExpression', /at least 1 character/],
    [{ waitForExpression: 'x'.repeat(2001) }, 'waitForExpression', /at most 2000 characters/],
    [
      { waitForExpression: '1', javascriptEnabled: false },
      'waitForExpression',
      /\{"javascriptEnabled": true\}/,
    ],
  ],
  effects: [
    {
      title: 'the document is printed when the expression is true, although it has thrown before',
      html: LATE,
      options: { waitForExpression: `document.querySelector('p').textContent === 'late' && ready.valueOf()` },
      proof: ({ text }) => assert.equal(text.trim(), 'late'),
    },
    {
      title: 'a promise is awaited',
      html: '<p id=p>early</p>',
      options: {
        waitForExpression: `new Promise((done) => setTimeout(() => { p.textContent = 'settled'; done(true) }, 200))`,
      },
      proof: ({ text }) => assert.equal(text.trim(), 'settled'),
    },
    {
      title: 'a cyclic object and a megabyte of text count as true',
      html: '<p id=p>x</p>',
      options: { waitForExpression: `(p.own = { p }, p.own.own = p.own, 'x'.repeat(1e6)) && p.own` },
      proof: ({ text }) => assert.equal(text.trim(), 'x'),
    },
  ],
  failures: [
    {
      title: 'an expression that stays false fails the render at its deadline',
      html: '<p>x',
      options: { waitForExpression: 'window.never', timeoutMs: 1500 },
      code: 'CONDITION_TIMEOUT',
      message: /"window\.never" has not become true/,
    },
    {
      title: 'an expression that always throws fails the render with its exception',
      html: '<p>x',
      options: { waitForExpression: 'never.there', timeoutMs: 1500 },
      code: 'CONDITION_TIMEOUT',
      message: /"never\.there" has thrown to the end: ReferenceError: never is not defined/,
    },
    {
      title: 'an expression that never ends fails the render at its deadline',
      html: '<p>x',
      options: { waitForExpression: '(() => { for (;;); })()', timeoutMs: 1500 },
      code: 'CONDITION_TIMEOUT',
      message: /has not become true/,
    },
    {
      title: 'a text that is no expression fails the render at once',
      html: '<p>x',
      options: { waitForExpression: 'if (', timeoutMs: 60_000 },
      code: 'CONDITION_TIMEOUT',
      message: /"if \(" is not an expression of JavaScript: SyntaxError/,
    },
  ],
};
