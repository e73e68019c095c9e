import assert from 'node:assert/strict';
import { withBase } from '../../../src/render/chromium/job/document/base-element.ts';

const BASE = 'https://a.example/x/?a=1&b';
const TAG = '<base href="https://a.example/x/?a=1&amp;b">';

describe('the base of a document', () => {
  for (const [prologue, rest] of [
    ['', '<p>x'],
    ['', '<html><head><title>x'],
    ['<!doctype html>', '<html lang=de><p>x'],
    [
      '\uFEFF<!-- <!doctype a> -->\r\n <?xml version="1.0"?> <!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN">',
      '\n<html>',
    ],
    ['<!-- one --!><!--> <!--->\n<!doctype html>', '<frameset>'],
    ['', '<p><!doctype html>'],
    ['', 'x<!doctype html>'],
    ['', '<!-- <base href="/own"> --><script>"<base href=/own>"</script>'],
    ['', '<base target=_blank><p>'],
    ['', '<base href="data:text/html,x">'],
    ['', '<base href=" JavaScript:1">'],
  ] as const)
    it(`is put in front of all but the doctype: ${JSON.stringify(prologue + rest)}`, () =>
      assert.equal(withBase(prologue + rest, BASE), prologue + TAG + rest));

  it('is its own where that is complete, and its own resolved against the given one where it is relative', () => {
    const complete = '<!doctype html><head><base href="http://own.example/">';
    assert.equal(withBase(complete, BASE), complete);
    const relative = '<!doctype html><head><base target=x><base href="../y/">';
    assert.equal(
      withBase(relative, BASE),
      relative.replace('<head>', '<base href="https://a.example/y/"><head>'),
    );
  });

  it('is found in linear time', () => {
    for (const part of ['<!--', '<!-- -->', ' ', '<?', '<!doctype ', '<base ', '<base href=x>', '<'])
      assert.ok(withBase(part.repeat(1_000_000), BASE).includes('<base href="https'));
  });
});
