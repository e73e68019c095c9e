import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPdf, renderPage } from '../../support/pdf.ts';

const FOLDER = new URL('../../fixtures/documents/', import.meta.url);
const FONT = 'pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf';

const fileOf = (name: string) => fileURLToPath(import.meta.resolve(name));

/** Real-looking documents by their file's name, with their libraries and their font in them. */
export function readDocuments(): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(FOLDER)
      .sort()
      .map((name) => [name, readDocument(name)]),
  );
}

function readDocument(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8')
    .replace(/<script src="([^"]+)">/, (_, file: string) => {
      const folder = join(import.meta.dirname, '../../../node_modules', file);
      return `<script>${readFileSync(folder, 'utf8').replace(/\/\/# sourceMappingURL.*/, '')}`;
    })
    .replace('url(FONT)', () => `url(data:font/ttf;base64,${readFileSync(fileOf(FONT)).toString('base64')})`);
}

/** The part of the pixels that may differ. */
export const TOLERANCE = 0.0005;

export async function assertAlike(one: Uint8Array, other: Uint8Array, where: string): Promise<void> {
  const part = await difference(one, other);
  assert.ok(part <= TOLERANCE, `${part} of the pixels differ ${where}`);
}

/** The part of the pixels of all pages that differ visibly; 1 when the number of pages does. */
export async function difference(one: Uint8Array, other: Uint8Array): Promise<number> {
  if (withoutDates(one) === withoutDates(other)) return 0;
  const [a, b] = [(await readPdf(one)).pages.length, (await readPdf(other)).pages.length];
  if (a !== b) return 1;
  let differing = 0;
  let all = 0;
  for (let page = 1; page <= a; page++) {
    const [left, right] = [await renderPage(one, page), await renderPage(other, page)];
    all += left.width * left.height;
    for (let y = 0; y < left.height; y++) {
      for (let x = 0; x < left.width; x++) {
        const [p, q] = [left.at(x, y), right.at(x, y)];
        if (p.some((value, i) => Math.abs(value - q[i]!) > 24)) differing++;
      }
    }
  }
  return differing / all;
}

const withoutDates = (pdf: Uint8Array) =>
  Buffer.from(pdf)
    .toString('latin1')
    .replace(/\/(CreationDate|ModDate) \([^)]*\)/g, '');
