import assert from 'node:assert/strict';
import { type ErrorCode, PlatenError } from '../../../src/infra/errors/registry.ts';
import { decideRetry, mustBeAlone } from '../../../src/work/jobs/retry-policy.ts';

const job = (attempts: number, crashes = 0) => ({ attempts, crashes, maxAttempts: 3 });
const verdict = (code: ErrorCode, attempts: number, crashes = 0) =>
  decideRetry(job(attempts, crashes), new PlatenError(code), 2000, () => 0.5).kind;

describe('retry policy', () => {
  it('gives errors that may pass three attempts', () => {
    for (const code of ['WORKER_LOST', 'RENDER_FAILED', 'URL_UNREACHABLE'] as const) {
      assert.deepEqual(
        [1, 2, 3].map((n) => verdict(code, n)),
        ['retry', 'retry', 'fail'],
        code,
      );
    }
  });

  it('tries a time-out once more', () => {
    assert.deepEqual(
      [1, 2].map((n) => verdict('RENDER_TIMEOUT', n)),
      ['retry', 'fail'],
    );
  });

  it('never retries errors of the document', () => {
    for (const code of ['TEMPLATE_ERROR', 'SELECTOR_TIMEOUT', 'URL_BLOCKED', 'OUTPUT_TOO_LARGE'] as const) {
      assert.equal(verdict(code, 1), 'fail', code);
    }
  });

  it('quarantines a document that has killed the browser twice, though other errors came between', () => {
    assert.equal(verdict('BROWSER_CRASHED', 1, 0), 'retry');
    assert.equal(verdict('BROWSER_CRASHED', 2, 1), 'fail');
    assert.equal(verdict('BROWSER_CRASHED', 3, 1), 'fail');
  });

  it('tries a document again whose browser ended for the first time, though its attempt before was lost', () => {
    assert.equal(verdict('BROWSER_CRASHED', 2, 0), 'retry');
  });

  it('holds the end of a browser against a document only if no other was in it, and has the next attempt alone', () => {
    const shared = new PlatenError('BROWSER_CRASHED', undefined, { shared: true });
    assert.equal(decideRetry(job(2, 1), shared, 2000, Math.random).kind, 'retry');
    assert.equal(decideRetry(job(3, 0), shared, 2000, Math.random).kind, 'fail');
    assert.equal(mustBeAlone({ error: { code: 'BROWSER_CRASHED', message: '' } }), true);
    assert.equal(mustBeAlone({ error: { code: 'RENDER_TIMEOUT', message: '' } }), false);
    assert.equal(mustBeAlone({ error: null }), false);
  });

  it('does not retry a permanent error', () => {
    const error = new PlatenError('URL_UNREACHABLE', 'no such name', { permanent: true });
    assert.equal(decideRetry(job(1), error, 2000, Math.random).kind, 'fail');
  });

  it('backs off exponentially, spread over the upper half', () => {
    const delay = (attempts: number, random: number) => {
      const decided = decideRetry(job(attempts), new PlatenError('WORKER_LOST'), 2000, () => random);
      return decided.kind === 'retry' ? decided.delayMs : undefined;
    };
    assert.deepEqual([delay(1, 0), delay(1, 1), delay(2, 0), delay(2, 1)], [1000, 2000, 2000, 4000]);
  });
});
