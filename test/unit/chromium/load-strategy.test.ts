import assert from 'node:assert/strict';
import { examineDocument } from '../../../src/render/chromium/job/document/job-document.ts';
import { loadStrategy } from '../../../src/render/chromium/job/document/load-strategy.ts';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { RenderSource } from '../../../src/render/renderer.ts';

const STILL = '<p>text</p>';
const PICTURE = '<img src="https://pictures.example/a.png">';
const SCRIPTED = '<script>document.title = 1</script>';
/** What stays with a Document when its content is replaced. */
const LASTING = '<meta http-equiv="refresh" content="9">';

describe('the load strategy', () => {
  const html = (text: string): RenderSource => ({ kind: 'html', html: text });
  const url: RenderSource = { kind: 'url', url: 'https://site.example/' };
  const csp = "default-src 'self'";
  const assetHeaders = { Authorization: 'Bearer abc' };
  const noScript = { javascriptEnabled: false };
  const idle = { waitUntil: 'networkidle' } as const;
  const report = { report: true };
  const failOn = { blank: true };

  const replaceContent = { load: 'replace-content', clean: 'empty' };
  const replaceAndLeave = { load: 'replace-content', clean: 'leave' };
  const rewrite = { load: 'rewrite', clean: 'reset' };
  const navigate = { load: 'navigate', clean: 'reset' };
  const openUrl = { load: 'open-url', clean: 'reset' };

  // The document, the options, and the strategy in a pristine page and in any other.
  const cases: readonly [string, RenderSource, RenderOptions, pristine: object, used: object][] = [
    ['a still document', html(STILL), {}, replaceContent, replaceContent],
    ['one that fetches', html(PICTURE), {}, replaceAndLeave, replaceAndLeave],
    ['a still one, when idle', html(STILL), idle, replaceContent, replaceContent],
    ['one with script', html(SCRIPTED), {}, rewrite, navigate],
    ['one with script, when idle', html(SCRIPTED), idle, navigate, navigate],
    ['one whose script is off', html(SCRIPTED), noScript, replaceContent, replaceContent],
    ['one that would stay', html(LASTING), {}, navigate, navigate],
    ['one that would stay, without script', html(LASTING), noScript, navigate, navigate],
    ['a still one with a report', html(STILL), report, replaceContent, replaceContent],
    ['one that fetches, with a report', html(PICTURE), report, navigate, navigate],
    ['one that fetches, with rules', html(PICTURE), { failOn }, navigate, navigate],
    ['one with script and a report', html(SCRIPTED), report, navigate, navigate],
    ['a still one under a policy', html(STILL), { csp }, navigate, navigate],
    ['one with script under a policy', html(SCRIPTED), { csp }, navigate, navigate],
    ['one with headers for its assets', html(PICTURE), { assetHeaders }, navigate, navigate],
    ['a URL', url, {}, openUrl, openUrl],
    ['a URL without script', url, noScript, openUrl, openUrl],
    ['a URL under a policy, with headers', url, { csp, assetHeaders }, openUrl, openUrl],
  ];
  for (const [what, source, options, inPristine, inUsed] of cases) {
    it(`for ${what}`, () => {
      const document = examineDocument(source, options);
      assert.deepEqual(loadStrategy(document, { pristine: true }), inPristine, 'in a pristine page');
      assert.deepEqual(loadStrategy(document, { pristine: false }), inUsed, 'in a used page');
    });
  }
});

describe('an examined document', () => {
  const examine = (html: string, options: RenderOptions = {}) =>
    examineDocument({ kind: 'html', html }, options);

  it('is still when it has no script, or its script is off', () => {
    assert.equal(examine(STILL).still, true);
    assert.equal(examine(SCRIPTED).still, false);
    assert.equal(examine(SCRIPTED, { javascriptEnabled: false }).still, true);
  });

  it('needs frames for what scripts do with them only if they run', () => {
    const observer = '<script>new IntersectionObserver(draw)</script>';
    assert.equal(examine(observer).needsFrames, true);
    assert.equal(examine(observer, { javascriptEnabled: false }).needsFrames, false);
  });

  it('is not known when it is at a URL: it needs frames, and is still only without script', () => {
    const source: RenderSource = { kind: 'url', url: 'https://site.example/' };
    const { still, needsFrames, traits } = examineDocument(source, {});
    assert.deepEqual({ still, needsFrames, traits }, { still: false, needsFrames: true, traits: undefined });
    assert.equal(examineDocument(source, { javascriptEnabled: false }).still, true);
  });

  it('has to have loaded by default', () => {
    assert.equal(examine(STILL).settings.milestone, 'load');
    assert.equal(examine(STILL, { waitUntil: 'domcontentloaded' }).settings.milestone, 'DOMContentLoaded');
    assert.equal(examine(STILL, { waitUntil: 'networkidle' }).settings.milestone, 'networkIdle');
  });
});
