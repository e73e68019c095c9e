import assert from 'node:assert/strict';
import { printSettings } from '../../../src/render/options/all/stages.ts';
import { testWatermark, type Watermark, watermarkHtml } from '../../../src/render/options/watermark.ts';

describe('print settings', () => {
  it('are A4 without margins, with backgrounds and without tags by default', () => {
    const settings = printSettings({});
    assert.equal(settings.paperWidth, 210 / 25.4);
    assert.equal(settings.marginTop, 0);
    assert.equal(settings.printBackground, true);
    assert.equal(settings.generateTaggedPDF, false);
  });

  it('make room for a header where no margin is given, and keep one that is', () => {
    const options = { displayHeaderFooter: true, headerTemplate: '<b>h</b>', margin: { bottom: '0mm' } };
    const settings = printSettings({ ...options, footerTemplate: '<b>f</b>' });
    assert.ok(settings.marginTop! > 0.3);
    assert.equal(settings.marginBottom, 0);
  });
});

describe('a watermark', () => {
  it('shows its text as text, in a colour that is one', () => {
    const html = watermarkHtml({ text: '<b>&', color: 'red; background: url(//x)' }, 8, 11);
    assert.match(html, /&#60;b&#62;|&#60;b&#62;&#38;/);
    assert.doesNotMatch(html, /url\(/);
  });

  it('of a test render is printed with the one that was asked for, turned so that both can be read', () => {
    const turns = (own: Watermark) => {
      const html = watermarkHtml(testWatermark(own), 8, 11);
      assert.match(html, />DRAFT<[\s\S]*>TEST</);
      return [...html.matchAll(/rotate\((-?\d+)deg\)/g)].map(([, degrees]) => Number(degrees));
    };
    assert.deepEqual(turns({ text: 'DRAFT' }), [-45, 45]);
    assert.deepEqual(turns({ text: 'DRAFT', rotation: 0 }).map(Math.abs), [0, 45]);
    assert.deepEqual(turns({ text: 'DRAFT', rotation: -45 }), [45, -45]);
  });

  it('has larger letters for shorter text', () => {
    const size = (text: string) => Number(/bold ([\d.]+)in/.exec(watermarkHtml({ text }, 8.27, 11.7))![1]);
    assert.ok(size('DRAFT') > size('A MUCH LONGER TEXT THAN THAT'));
  });
});
