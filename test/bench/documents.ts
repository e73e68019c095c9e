import { readFileSync } from 'node:fs';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';

export interface BenchDocument {
  readonly name: 'invoice' | 'report' | 'text';
  readonly html: string;
  readonly pages: number;
}

/** The same print settings for every subject. */
export const PRINT: RenderOptions = { format: 'A4', printBackground: true, preferCSSPageSize: true };

const invoice = readFileSync(new URL('../../examples/invoice.html', import.meta.url), 'utf8');

/** A small generator with a fixed seed (Park and Miller), so that every run prints the same documents. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const WORDS =
  'margin paper ledger column quarter carrier harbour invoice figure parcel season weight measure balance report'.split(
    ' ',
  );

function sentence(next: () => number): string {
  const words = Array.from(
    { length: 8 + Math.floor(next() * 9) },
    () => WORDS[Math.floor(next() * WORDS.length)]!,
  );
  return `${words[0]![0]!.toUpperCase()}${words.join(' ').slice(1)}.`;
}

/** Ten pages: a title, four charts drawn on canvases in animation frames, and a long table. */
function report(): string {
  const next = random(7);
  const rows = Array.from({ length: 232 }, (_, i) => {
    const cells = Array.from({ length: 5 }, () => `<td>${(next() * 10_000).toFixed(2)}</td>`).join('');
    return `<tr><td>Line ${i + 1}</td>${cells}</tr>`;
  }).join('');
  const charts = Array.from({ length: 4 }, () =>
    JSON.stringify(Array.from({ length: 24 }, () => Math.round(next() * 100))),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Quarterly report</title><style>
@page { size: A4; margin: 18mm } body { font: 10pt/1.5 Arial, sans-serif; color: #223 }
h1 { font-size: 26pt } section { break-after: page } canvas { width: 100%; border: 1px solid #ccd; margin: 6mm 0 }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { border-bottom: 1px solid #dde; padding: 4.4px 6px; text-align: right } td:first-child { text-align: left }
</style></head><body><section><h1>Quarterly report</h1><p>${Array.from({ length: 30 }, () => sentence(next)).join(' ')}</p></section>
${charts.map((data, i) => `<section><h2>Chart ${i + 1}</h2><canvas width="900" height="420" data-series='${data}'></canvas><p>${Array.from({ length: 20 }, () => sentence(next)).join(' ')}</p></section>`).join('')}
<table><thead><tr><th>Item</th><th>January</th><th>February</th><th>March</th><th>April</th><th>Sum</th></tr></thead><tbody>${rows}</tbody></table>
<script>
for (const canvas of document.querySelectorAll('canvas')) requestAnimationFrame(() => {
  const series = JSON.parse(canvas.dataset.series), c = canvas.getContext('2d'), w = canvas.width / series.length;
  series.forEach((value, i) => { c.fillStyle = 'hsl(' + (200 + i * 4) + ' 60% 50%)'; c.fillRect(i * w + 4, canvas.height - value * 4, w - 8, value * 4); });
});
</script></body></html>`;
}

/** Fifty pages of running text. */
function text(): string {
  const next = random(11);
  const chapters = Array.from({ length: 50 }, (_, i) => {
    const paragraphs = Array.from(
      { length: 6 },
      () => `<p>${Array.from({ length: 6 }, () => sentence(next)).join(' ')}</p>`,
    );
    return `<section><h2>Chapter ${i + 1}</h2>${paragraphs.join('')}</section>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Fifty pages</title><style>
@page { size: A4; margin: 22mm } body { font: 11pt/1.6 Georgia, serif } section { break-after: page } section:last-child { break-after: auto }
</style></head><body>${chapters.join('')}</body></html>`;
}

export const DOCUMENTS: readonly BenchDocument[] = [
  { name: 'invoice', html: invoice, pages: 1 },
  { name: 'report', html: report(), pages: 10 },
  { name: 'text', html: text(), pages: 50 },
];
