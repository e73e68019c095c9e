import assert from 'node:assert/strict';
import { lengthInInches } from '../../../src/options/core/lengths.ts';
import { renderOptionsSchema } from '../../../src/options/core/render-options.ts';

const errors = (options: unknown) => {
  const parsed = renderOptionsSchema.safeParse(options);
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.path.join('.'));
};

describe('render options', () => {
  const bounds: [string, unknown[], unknown[]][] = [
    ['format', ['Letter', 'A4', 'A5', 'A3', 'Legal', 'Tabloid'], ['a4', 'A6', 4]],
    ['landscape', [true, false], ['true', 1, null]],
    ['scale', [0.1, 2], [0.09, 2.01, '1', Number.NaN]],
    ['headerTemplate', ['x'.repeat(5000)], ['x'.repeat(5001)]],
    ['footerTemplate', ['x'.repeat(5000)], ['x'.repeat(5001)]],
    ['waitUntil', ['load', 'domcontentloaded', 'networkidle'], ['networkidle0']],
    ['waitForSelector', ['x'.repeat(255)], ['x'.repeat(256), '']],
    ['delayMs', [0, 60_000], [-1, 60_001, 1.5]],
    ['timeoutMs', [1000, 300_000], [999, 300_001]],
    ['csp', ['x'.repeat(2000)], ['x'.repeat(2001), "default-src 'self'\r\nX: y"]],
    ['javascriptEnabled', [true], ['no']],
  ];
  for (const [name, good, bad] of bounds) {
    it(`hold ${name} to its bounds`, () => {
      for (const value of good) assert.deepEqual(errors({ [name]: value }), [], `${value}`.slice(0, 40));
      for (const value of bad) assert.deepEqual(errors({ [name]: value }), [name], `${value}`.slice(0, 40));
    });
  }

  it('hold watermark and metadata to their bounds', () => {
    const text = 'DRAFT';
    assert.deepEqual(
      errors({ watermark: { text: 'x'.repeat(120), opacity: 0.02, rotation: -90, color: 'x'.repeat(40) } }),
      [],
    );
    assert.deepEqual(errors({ watermark: {} }), ['watermark.text']);
    assert.deepEqual(errors({ watermark: { text, opacity: 0.61 } }), ['watermark.opacity']);
    assert.deepEqual(errors({ watermark: { text, opacity: 0.019 } }), ['watermark.opacity']);
    assert.deepEqual(errors({ watermark: { text, rotation: 91 } }), ['watermark.rotation']);
    assert.deepEqual(errors({ watermark: { text, color: 'x'.repeat(41) } }), ['watermark.color']);
    assert.deepEqual(errors({ metadata: { keywords: Array(20).fill('x'.repeat(255)) } }), []);
    assert.deepEqual(errors({ metadata: { keywords: Array(21).fill('x') } }), ['metadata.keywords']);
    assert.deepEqual(errors({ metadata: { title: 'x'.repeat(256) } }), ['metadata.title']);
  });

  it('reject asset headers that break a header, or belong to the connection', () => {
    assert.deepEqual(errors({ assetHeaders: { Authorization: 'Bearer x' } }), []);
    assert.deepEqual(errors({ assetHeaders: { 'X-A': 'a\r\nX-B: b' } }), ['assetHeaders.X-A']);
    assert.deepEqual(errors({ assetHeaders: { Host: 'a' } }), ['assetHeaders.Host']);
    assert.notDeepEqual(errors({ assetHeaders: { 'a b': 'c' } }), []);
  });

  it('accept origins for asset headers, and nothing that is more or less than one', () => {
    for (const good of ['https://a.example', 'HTTP://A.example:8080', 'https://[2001:db8::1]/']) {
      assert.deepEqual(errors({ assetOrigins: [good] }), [], good);
    }
    for (const bad of [
      'a.example',
      'ftp://a.example',
      'https://a.example/x',
      'https://u@a.example',
      'https://*',
      '//a.example',
    ]) {
      assert.deepEqual(errors({ assetOrigins: [bad] }), ['assetOrigins.0'], bad);
    }
    assert.deepEqual(errors({ assetOrigins: Array(21).fill('https://a.example') }), ['assetOrigins']);
  });

  it('reject asset headers that Chromium does not send', () => {
    for (const name of [
      'Proxy-Authorization',
      'proxy-x',
      'Set-Cookie',
      'Cookie2',
      'X-HTTP-Method-Override',
    ]) {
      assert.deepEqual(errors({ assetHeaders: { [name]: 'a' } }), [`assetHeaders.${name}`]);
    }
  });

  it('reject margins that leave nothing of the paper, together with other errors', () => {
    const upright = { top: '14.85cm', bottom: '14.85cm' };
    const across = { left: '5in', right: '12.7cm' };
    assert.deepEqual(errors({ margin: upright, format: 'A3' }), []);
    assert.deepEqual(errors({ margin: upright }), []);
    assert.deepEqual(errors({ margin: upright, landscape: true }), ['margin']);
    assert.deepEqual(errors({ margin: across }), ['margin']);
    assert.deepEqual(errors({ margin: across, landscape: true }), []);
    assert.deepEqual(errors({ margin: { top: '99999in' }, scale: 3 }), ['scale', 'margin']);
    assert.deepEqual(errors({ margin: across, preferCSSPageSize: true }), [], 'the paper is not known');
    assert.deepEqual(errors({ margin: {}, format: 'constructor' }), ['format']);
    for (const margin of [7, null, [], { left: 5 }, { left: '1em' }]) {
      assert.ok(errors({ margin }).length > 0, JSON.stringify(margin));
    }
  });

  it('list every error at once, unknown fields among them', () => {
    assert.deepEqual(errors({ scale: 3, delayMs: -1, colour: 'red' }).sort(), ['', 'delayMs', 'scale']);
  });

  it('read lengths in every absolute unit', () => {
    const inches = ['96px', '96', '1in', '2.54cm', '25.4mm', '72pt', '6pc', '101.6Q'].map(lengthInInches);
    for (const value of inches) assert.ok(Math.abs(value! - 1) < 1e-9, `${inches}`);
    for (const bad of ['', '1em', '-1mm', '1 2mm', '50%', 'auto', '1e3mm'])
      assert.equal(lengthInInches(bad), undefined, bad);
  });
});
