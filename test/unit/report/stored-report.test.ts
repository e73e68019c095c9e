import assert from 'node:assert/strict';
import {
  Findings,
  MAX_CONSOLE,
  MAX_EXCEPTIONS,
  MAX_FONTS,
  MAX_PICTURE_BYTES,
  MAX_TEXT,
} from '../../../src/render/report/findings.ts';
import { MAX_GLYPHS } from '../../../src/render/report/missing-glyphs.ts';
import { MAX_REQUESTS } from '../../../src/render/report/recorded-requests.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import {
  MAX_KEPT_BYTES,
  MAX_REPORT_BYTES,
  reportWithoutFindings,
  serializedReport,
} from '../../../src/work/jobs/stored-report.ts';
import { newJob } from '../../support/domain.ts';

/** Three bytes of UTF-8 each. */
const text = (length: number) => '漢'.repeat(length);

describe('The report of a render', () => {
  it('is kept in its bound with every list full, says which it has shortened, and has room for what its job adds', () => {
    const findings = new Findings();
    for (let i = 0; i <= MAX_CONSOLE; i += 1) findings.addConsole('log', text(MAX_TEXT));
    for (let i = 0; i <= MAX_EXCEPTIONS; i += 1) findings.addException(text(MAX_TEXT), text(MAX_TEXT));
    for (let i = 0; i <= MAX_REQUESTS; i += 1) {
      findings.requests.sent(`${i}`, { url: `https://h.example/${text(400)}`, kind: 'image', main: false });
      findings.requests.responded(`${i}`, { status: 404 });
    }
    findings.missingGlyphs = Array.from({ length: MAX_GLYPHS }, (_, page) => {
      return { character: text(4), codePoint: 'U+6F22 '.repeat(4), page, count: 1 };
    });
    findings.fonts = Array.from({ length: MAX_FONTS }, () => {
      return { asked: Array(10).fill(text(100)), used: [{ family: text(100), webFont: false }] };
    });
    findings.picture = { mediaType: 'image/jpeg', data: 'x'.repeat((MAX_PICTURE_BYTES * 4) / 3) };
    const error = { code: 'ASSET_FAILED' as const, message: text(1000) };
    const bytes = serializedReport(findings, error);
    assert.ok(bytes.byteLength <= MAX_KEPT_BYTES);
    const { truncated, picture } = JSON.parse(bytes.toString());
    assert.ok(truncated.includes('console') && truncated.includes('requests'), truncated.join());
    assert.equal(picture.data.length, findings.picture.data.length, 'the picture stays');
    // Three attempts, each with an error of its own.
    assert.ok(3 * Buffer.byteLength(JSON.stringify(error)) < MAX_REPORT_BYTES - MAX_KEPT_BYTES);
  });

  const at = new Date(0);
  const phases = { page: 1, load: 2, wait: 3, print: 4, finish: 5 };
  const failedAttempt = {
    number: 1,
    startedAt: at,
    endedAt: at,
    error: { code: 'RENDER_FAILED', message: 'x' },
    phases,
  } as const;
  const outcomes: [string, Partial<Job>, RegExp][] = [
    ['lost its worker', { error: { code: 'WORKER_LOST', message: 'x' }, endedFrom: 'processing' }, /worker/],
    ['was cancelled', { state: 'cancelled', endedFrom: 'processing', startedAt: at }, /cancelled/],
    ['expired after an attempt', { endedFrom: 'queued', failedAttempts: [failedAttempt] }, /waited/],
    ['was not stored', { endedFrom: 'processing', failedAttempts: [failedAttempt] }, /could not be stored/],
    ['had a wrong template', { endedFrom: 'processing', attempts: 1 }, /before its document was loaded/],
  ];
  for (const [title, job, reason] of outcomes) {
    it(`gives the reason why a job that ${title} has no findings`, () => {
      const { job: ended } = newJob('a', { state: 'failed', ...job });
      assert.match(reportWithoutFindings(ended).warnings.join(), reason);
    });
  }
});
