import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { html } from './support.ts';

const GUIDE = join(import.meta.dirname, '../../../docs/guide/templates.md');
const ROW = /^\| `(\{\{.*\}\})` +\| (.*?) +\| (.*?) +\|$/gm;

describe('The guide to templates', () => {
  it('shows what its filters print', async () => {
    const rows = [...(await readFile(GUIDE, 'utf8')).matchAll(ROW)];
    assert.equal(rows.length, 15);
    const shown = (text: string) => text.replaceAll('_', ' ').replaceAll('&#39;', "'");
    for (const [, cell, german, american] of rows) {
      const source = cell!.replaceAll('\\|', '|');
      const data = { at: '2026-02-28T23:30:00Z' };
      const terms = { timezone: 'Europe/Berlin' };
      assert.equal(shown(html(source, data, { ...terms, locale: 'de-DE' })), german, source);
      assert.equal(shown(html(source, data, { ...terms, locale: 'en-US' })), american, source);
    }
  });
});
