import assert from 'node:assert/strict';
import { callersTrace, recordedTrace } from '../../../src/infra/tracing/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const VALID = `00-${TRACE}-${SPAN}-01`;

describe('the trace that a caller continues', () => {
  it('is taken from its headers', () => {
    assert.deepEqual(callersTrace({ traceparent: VALID, tracestate: 'congo=t61,  rojo=00f067' }), {
      traceparent: VALID,
      tracestate: 'congo=t61,rojo=00f067',
    });
    assert.deepEqual(callersTrace({ traceparent: `00-${TRACE}-${SPAN}-00` }), {
      traceparent: `00-${TRACE}-${SPAN}-00`,
    });
  });

  it('is of the present version, with the flags that it knows, whatever the caller sends of a later one', () => {
    assert.deepEqual(callersTrace({ traceparent: `fe-${TRACE}-${SPAN}-fb` }), { traceparent: VALID });
  });

  for (const [what, traceparent] of Object.entries({
    'is absent': undefined,
    'is empty': '',
    'is short': VALID.slice(1),
    'has more at its end': `${VALID}-what-the-future-will-be-like`,
    'is sent twice': `${VALID}, ${VALID}`,
    'has spaces around it': ` ${VALID} `,
    'has capital letters': VALID.toUpperCase(),
    'is of the version that is forbidden': `ff${VALID.slice(2)}`,
    'has a trace of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
    'has a span of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
    'has other letters': `00-${'g'.repeat(32)}-${SPAN}-01`,
    'is as long as it has to be, and something else': '$'.repeat(55),
    'has a line break': `${VALID.slice(0, 54)}\n`,
    'is a megabyte': VALID.repeat(20_000),
  })) {
    it(`is ignored where traceparent ${what}`, () => {
      assert.equal(callersTrace({ traceparent, tracestate: 'congo=t61' }), undefined);
    });
  }

  for (const [what, tracestate] of Object.entries({
    'is empty': '',
    'has more than 512 characters': `congo=${'t'.repeat(250)},rojo=${'t'.repeat(250)},a=b`,
    'has more than 32 members': Array.from({ length: 33 }, (_, i) => `a${i}=b`).join(','),
    'has no member': 'no member',
    'has characters beyond ASCII': 'congo=tö',
    'has a control character': 'congo=t\u0001',
    'has a key in capitals': 'CONGO=t61',
  })) {
    it(`is taken without a tracestate that ${what}`, () => {
      assert.deepEqual(callersTrace({ traceparent: VALID, tracestate }), { traceparent: VALID });
    });
  }

  it('is named where it is recorded, and nowhere else', () => {
    assert.equal(recordedTrace({ traceparent: VALID }), TRACE);
    assert.equal(recordedTrace({ traceparent: `00-${TRACE}-${SPAN}-00` }), undefined);
    assert.equal(recordedTrace(undefined), undefined);
  });
});
