import assert from 'node:assert/strict';
import { type OptionCases, SITE } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [[], ['x'.repeat(100_000)], Array(10).fill('1')],
  refused: [
    [{ scripts: Array(11).fill('') }, 'scripts', /at most 10 items/],
    [{ scripts: ['x'.repeat(100_001)] }, 'scripts[0]', /at most 100000 characters/],
    [{ scripts: ['1'], javascriptEnabled: false }, 'scripts', /leave javascriptEnabled out, or give/],
  ],
  effects: [
    {
      title: 'scripts run among those of the document, one after another',
      html: `<p id=p>x</p><script>var price = 40</script>`,
      options: { scripts: ['var total = price + 2 // of both', 'p.textContent = "total " + total'] },
      proof: ({ text }) => assert.equal(text.trim(), 'total 42'),
    },
    {
      title: 'scripts run in a document without any, and draw in its frames',
      html: '<p id=p>x</p>',
      options: { scripts: ['requestAnimationFrame(() => { p.textContent = "drawn" })'] },
      proof: ({ text }) => assert.equal(text.trim(), 'drawn'),
    },
    {
      title: 'scripts may do no more than the document: its policy holds for what they fetch and evaluate',
      html: '<p id=p>x</p>',
      options: {
        csp: "default-src 'none'",
        scripts: [
          `globalThis.said = []; try { eval('said.push("evaluated")') } catch { said.push('no eval') }
          fetch('${SITE}/echo.svg').then(() => said.push('fetched'), () => said.push('no fetch')).then(() => { p.textContent = said.join(', ') })`,
        ],
        waitForExpression: 'said.length === 2',
      },
      proof: ({ text }) => assert.equal(text.trim(), 'no eval, no fetch'),
    },
    {
      title: 'scripts see nothing of the service',
      html: '<p id=p>x</p>',
      options: {
        scripts: [
          'p.textContent = [typeof process, typeof require, location.hostname.includes("platen")].join()',
        ],
      },
      proof: ({ text }) => assert.equal(text.trim(), 'undefined,undefined,false'),
    },
  ],
  failures: [
    {
      title: 'a script that throws fails the render, and the error names it',
      html: '<p>x',
      options: { scripts: ['1', 'null.x'] },
      code: 'EXCEPTION_THROWN',
      message: /scripts\[1\] has thrown: TypeError/,
    },
    {
      title: 'a script that never ends is ended at the deadline',
      html: '<p>x',
      options: { scripts: ['for (;;);'], timeoutMs: 1500 },
      code: 'RENDER_TIMEOUT',
      message: /in time/,
    },
  ],
};
