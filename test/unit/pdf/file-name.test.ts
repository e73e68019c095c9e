import assert from 'node:assert/strict';
import { parse } from 'content-disposition';
import { contentDisposition, safeFileName } from '../../../src/infra/outputs/file-name.ts';

describe('File names', () => {
  const cases: readonly (readonly [wanted: string | undefined, safe: string])[] = [
    ['invoice.pdf', 'invoice.pdf'],
    ['Invoice 7.PDF', 'Invoice 7.pdf'],
    ['report', 'report.pdf'],
    ['v1.2 final', 'v1.2 final.pdf'],
    ['Größe – 漢字 😀.pdf', 'Größe – 漢字 😀.pdf'],
    ['e\u0301te\u0301', 'été.pdf'],
    [undefined, 'job-1.pdf'],
    ['', 'job-1.pdf'],
    ['.pdf', 'job-1.pdf'],
    ['...', 'job-1.pdf'],
    [' . ', 'job-1.pdf'],
    ['///', 'job-1.pdf'],
    ['../../etc/passwd', '_.._etc_passwd.pdf'],
    ['..\\..\\boot.ini', '_.._boot.ini.pdf'],
    ['C:\\x', 'C__x.pdf'],
    ['a"b<c>d|e?f*g', 'a_b_c_d_e_f_g.pdf'],
    ['.hidden', 'hidden.pdf'],
    ['name.pdf ...', 'name.pdf'],
    ['line\r\nSet-Cookie: x=1', 'line Set-Cookie_ x=1.pdf'],
    ['nul\u0000byte\u001b[31m', 'nulbyte[31m.pdf'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe.pdf'],
    ['zero\u200bwidth\ufeff\u2066', 'zerowidth.pdf'],
    ['half \ud83d pair', 'half pair.pdf'],
    ['CON', '_CON.pdf'],
    ['aux.txt', '_aux.txt.pdf'],
    ['lpt1.pdf', '_lpt1.pdf'],
    ['console', 'console.pdf'],
  ];
  for (const [wanted, safe] of cases) {
    it(`makes ${JSON.stringify(safe)} of ${JSON.stringify(wanted)}`, () => {
      assert.equal(safeFileName(wanted, 'job-1'), safe);
    });
  }

  it('keeps at most 150 bytes, and never half a character', () => {
    assert.equal(safeFileName('a'.repeat(400), 'f'), `${'a'.repeat(146)}.pdf`);
    assert.equal(safeFileName('é'.repeat(400), 'f'), `${'é'.repeat(73)}.pdf`);
    const family = '👨‍👩‍👧‍👦';
    assert.equal(safeFileName(family.repeat(50), 'f'), `${family.repeat(5)}.pdf`);
    for (const name of ['x'.repeat(145), 'x '.repeat(200), '漢'.repeat(99), `${'y'.repeat(145)}. .z`]) {
      const safe = safeFileName(name, 'f');
      assert.ok(Buffer.byteLength(safe) <= 150, safe);
      assert.ok(safe.isWellFormed());
      assert.equal(safeFileName(safe, 'f'), safe, 'a safe name stays as it is');
    }
  });

  it('treats the fallback alike, and has one of its own', () => {
    assert.equal(safeFileName('/', '../a'), '_a.pdf');
    assert.equal(safeFileName('', ''), 'document.pdf');
  });
});

describe('Content-Disposition', () => {
  it('names plain files plainly', () => {
    assert.equal(contentDisposition('invoice.pdf', 'attachment'), 'attachment; filename=invoice.pdf');
    assert.match(contentDisposition('a.pdf', 'inline'), /^inline; /);
  });

  it('carries any name, in ASCII and without line breaks', () => {
    for (const name of ['Größe.pdf', '漢字 😀.pdf', 'semi;colon "quoted" 100%.pdf', "tick's.pdf"]) {
      const header = contentDisposition(safeFileName(name, 'f'), 'attachment');
      assert.match(header, /^[\x20-\x7e]*$/);
      assert.equal(parse(header).parameters.filename, safeFileName(name, 'f'));
    }
  });
});
