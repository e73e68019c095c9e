/**
 * Draws the picture of a document that the README has: the first request of `make run`, examples/invoice.json.
 * `node_modules/.bin/node test/dashboard/document-picture.ts docs/pictures/invoice.webp`
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import { renderPage } from '../support/pdf.ts';
import { openStandaloneService } from '../support/service.ts';

const file = process.argv[2];
if (file === undefined) throw new Error('Say which file the picture is written to.');
/** Pixels for each point: sharp at the size of the README. */
const SCALE = 1.5;
const QUALITY = 80;
/** Of the page: the rest of it is white. */
const UPPER_PART = 0.62;

const request = await readFile(new URL('../../examples/invoice.json', import.meta.url), 'utf8');
const service = await openStandaloneService();
try {
  const { client } = await service.newTenant('business');
  const headers = { 'X-API-Key': client.key, 'Content-Type': 'application/json' };
  const response = await fetch(`${service.url}/v1/pdf`, { method: 'POST', headers, body: request });
  if (response.status !== 200) throw new Error(await response.text());
  const page = await renderPage(new Uint8Array(await response.arrayBuffer()), 1, SCALE);
  const height = Math.round(page.height * UPPER_PART);
  const canvas = createCanvas(page.width, height);
  const image = canvas.getContext('2d').createImageData(page.width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < page.width; x++) image.data.set([...page.at(x, y), 255], (y * page.width + x) * 4);
  canvas.getContext('2d').putImageData(image, 0, 0);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, await canvas.encode('webp', QUALITY));
} finally {
  await service.stop();
}
process.exit(0);
