import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { type Experiment, newExperiment } from '../../../dashboard/src/pages/experiment.ts';
import { experimentIn, linkOf } from '../../../dashboard/src/pages/experiment-link.ts';

const EXPERIMENT: Experiment = {
  ...newExperiment(null),
  html: '<p>“shared” 😀',
  url: 'https://ada:secret@example.com/a?b=c@d',
  options: {
    format: 'A5',
    cookies: [{ name: 'a', value: 'secret' }],
    assetHeaders: { Authorization: 'secret' },
    protection: { userPassword: 'secret' },
  },
  mode: 'live',
  jobId: 'a',
};

const packed = (text: string) => `#x=${deflateRawSync(text).toString('base64url')}`;

describe('An experiment in the address of the playground', () => {
  it('comes back as it was, without secrets, without its PDF, and costs nothing', async () => {
    const { fragment, leftOut } = await linkOf(EXPERIMENT);
    assert.match(fragment!, /^#x=[\w-]+$/);
    const { jobId: _, ...kept } = EXPERIMENT;
    const back = await experimentIn(fragment!);
    assert.deepEqual(back, {
      ...kept,
      url: 'https://example.com/a?b=c@d',
      options: { format: 'A5' },
      mode: 'test',
    });
    assert.ok(!JSON.stringify(back).includes('secret'));
    assert.deepEqual(leftOut, ['cookies', 'assetHeaders', 'protection', 'the password of the address']);
  });

  it('is in no address once that is longer than 8,000 characters', async () => {
    const noise = Array.from({ length: 3000 }, (_, i) => ((i * 2_654_435_761) % 4_294_967_296).toString(36));
    const { fragment } = await linkOf({ ...EXPERIMENT, html: noise.join(' ') });
    assert.equal(fragment, undefined);
    assert.notEqual((await linkOf({ ...EXPERIMENT, html: 'x'.repeat(100_000) })).fragment, undefined);
  });

  it('is not read from what is none, nor beyond two million characters', async () => {
    for (const fragment of [
      '',
      '#once=abc',
      '#x=',
      '#x=!!!',
      '#x=AAAA',
      packed('null'),
      packed('[]'),
      packed('{"source":"file"}'),
      packed('{"html":1}'),
      packed('{"options":[]}'),
      packed(JSON.stringify({ html: 'x'.repeat(2_000_001) })),
    ])
      assert.equal(await experimentIn(fragment), undefined, fragment.slice(0, 40));
    const { html } = (await experimentIn(packed('{"html":"a","more":1,"__proto__":{"b":1}}')))!;
    assert.equal(html, 'a');
  });
});
