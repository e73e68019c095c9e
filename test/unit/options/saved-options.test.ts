import assert from 'node:assert/strict';
import { ALL_OPTIONS } from '../../../src/render/options/all/render-options.ts';
import { brokenRules, savedOptionsSchema, withSaved } from '../../../src/render/options/all/saved-options.ts';

describe('the options that are saved with a template', () => {
  it('are those about which a request says nothing', () => {
    const saved = { format: 'A5', scale: 0.5, landscape: true, headerTemplate: 'saved' } as const;
    assert.deepEqual(withSaved({}, saved), saved);
    assert.deepEqual(withSaved({ scale: 2, landscape: false, headerTemplate: '' }, saved), {
      format: 'A5',
      scale: 2,
      landscape: false,
      headerTemplate: '',
    });
    assert.deepEqual(saved, { format: 'A5', scale: 0.5, landscape: true, headerTemplate: 'saved' });
  });

  it('keep fields of objects of optional fields, and give way as a whole otherwise', () => {
    const merged = ALL_OPTIONS.map(({ name }) => name).filter(
      (name) =>
        Object.keys(Object(Object(withSaved({ [name]: { b: 1 } }, { [name]: { a: 1 } }))[name])).length === 2,
    );
    assert.deepEqual(
      merged,
      ['blockRequests', 'conformance', 'failOn', 'fill', 'margin', 'mediaFeatures', 'metadata'],
      'as docs/guide/templates.md says',
    );
    assert.deepEqual(
      withSaved(
        {
          margin: { top: '0' },
          metadata: { title: 'Invoice 7' },
          watermark: { text: 'DRAFT' },
          styles: ['b'],
        },
        {
          margin: { top: '2cm', left: '1cm' },
          metadata: { author: 'Shop', keywords: ['x'] },
          watermark: { text: 'PAID', rotation: 0 },
          styles: ['a'],
        },
      ),
      {
        margin: { top: '0', left: '1cm' },
        metadata: { title: 'Invoice 7', author: 'Shop', keywords: ['x'] },
        watermark: { text: 'DRAFT' },
        styles: ['b'],
      },
    );
  });

  it('choose the paper only where a request does not', () => {
    const own = { width: '10cm', height: '20cm' };
    assert.deepEqual(withSaved(own, { format: 'A5', scale: 2 }), { ...own, scale: 2 });
    assert.deepEqual(withSaved({ format: 'A5' }, own), { format: 'A5' });
    assert.deepEqual(withSaved({ width: '1cm', height: '2cm' }, own), { width: '1cm', height: '2cm' });
    for (const options of [withSaved(own, { format: 'A5' }), withSaved({ format: 'A5' }, own)])
      assert.deepEqual(brokenRules(options), []);
  });

  it('are checked against rules together with those of a request', () => {
    assert.deepEqual(brokenRules(withSaved({ pageRanges: '1' }, { firstHeaderTemplate: 'x' })), [
      'firstHeaderTemplate: must not be given with pageRanges: leave one of them out, such as {"firstHeaderTemplate": ""}',
    ]);
  });

  it('hold no secrets', () => {
    const secrets = ALL_OPTIONS.filter(({ mask }) => mask !== undefined).map(({ name }) => name);
    assert.deepEqual(secrets, ['assetHeaders', 'cookies', 'protection']);
    const { error } = savedOptionsSchema.safeParse({
      assetHeaders: { a: 'b' },
      cookies: [],
      protection: { userPassword: 'x' },
      scale: 5,
    });
    assert.deepEqual(
      error?.issues.map(({ path }) => path.join('.')),
      ['scale', 'assetHeaders', 'cookies', 'protection'],
    );
    assert.ok(savedOptionsSchema.safeParse(null).success);
  });

  it('have the profile of e-invoices, and no invoice', () => {
    const valid = { einvoice: { profile: 'en16931', documentType: 'creditNote' } };
    assert.ok(savedOptionsSchema.safeParse(valid).success);
    for (const invoice of [{ xml: '<x/>' }, { data: {} }]) {
      const { error } = savedOptionsSchema.safeParse({ einvoice: { profile: 'en16931', ...invoice } });
      assert.deepEqual(
        error?.issues.map(({ path, message }) => [path, message]),
        [
          [
            ['einvoice'],
            'must be saved without xml and data, which are of one render: the data of each render are the invoice',
          ],
        ],
      );
    }
  });
});
