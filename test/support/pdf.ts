import { createCanvas } from '@napi-rs/canvas';
import { getDocument, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** Reading PDFs back: what a test may say of a document without trusting the code that wrote it. */

export interface PdfPage {
  /** Points (1/72 inch), as a reader sees the page: after its rotation. */
  readonly width: number;
  readonly height: number;
  /** Degrees that the page is turned by: 0, 90, 180 or 270. */
  readonly rotation: number;
  /** The page's words in the order they were drawn, lines parted by line breaks, runs of white space as one space. */
  readonly text: string;
  readonly lines: readonly string[];
  /** Addresses of the page's web links; `#` followed by a name or index for links inside the document. */
  readonly links: readonly string[];
}

export interface PdfMetadata {
  readonly title: string | undefined;
  readonly author: string | undefined;
  readonly subject: string | undefined;
  readonly creator: string | undefined;
  readonly producer: string | undefined;
  readonly keywords: readonly string[];
}

export interface PdfAttachment {
  readonly name: string;
  readonly description: string;
  readonly content: Uint8Array;
}

export interface ReadPdf {
  readonly pages: readonly PdfPage[];
  readonly metadata: PdfMetadata;
  /** The XMP packet as it stands in the file, when there is one. */
  readonly xmp: string | undefined;
  /** Whether the document is marked as tagged and has structure. */
  readonly tagged: boolean;
  /** Titles of the outline's top level. */
  readonly outline: readonly string[];
  readonly attachments: readonly PdfAttachment[];
  /** The text of all pages, parted by line breaks. */
  readonly text: string;
}

export type Rgb = readonly [red: number, green: number, blue: number];

export interface RenderedPage {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** The colour of one pixel, counted from the upper left corner. */
  at(x: number, y: number): Rgb;
  /** How many pixels have this colour, each channel within `tolerance` (default 8). */
  countColor(colour: Rgb, tolerance?: number): number;
  /** How many pixels are something else than white, by more than `tolerance` (default 8) in a channel. */
  countInk(tolerance?: number): number;
  /** The smallest box around what `countColor` counts; undefined when there is none. */
  boxOfColor(colour: Rgb, tolerance?: number): PixelBox | undefined;
  /** The smallest box around all ink. */
  boxOfInk(tolerance?: number): PixelBox | undefined;
}

/** Pixels, both ends included. */
export interface PixelBox {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Everything a test usually checks of a PDF. Rejects when the bytes are no PDF, or the password does not open it. */
export async function readPdf(bytes: Uint8Array, password?: string): Promise<ReadPdf> {
  return withDocument(bytes, password, async (document) => {
    const pages: PdfPage[] = [];
    for (let number = 1; number <= document.numPages; number++) {
      pages.push(await readPage(await document.getPage(number)));
    }
    const { info, metadata } = await document.getMetadata();
    const outline = await document.getOutline();
    return {
      pages,
      metadata: metadataOf(info as Record<string, unknown>),
      xmp: metadata?.getRaw() ?? undefined,
      tagged: await isTagged(document),
      outline: (outline ?? []).map((entry) => entry.title),
      attachments: await attachmentsOf(document),
      text: pages.map((page) => page.text).join('\n'),
    };
  });
}

/** Draws one page (counted from 1) on white; `scale` is in pixels per point. */
export async function renderPage(
  bytes: Uint8Array,
  pageNumber = 1,
  scale = 1,
  password?: string,
): Promise<RenderedPage> {
  return withDocument(bytes, password, async (document) => {
    const page = await document.getPage(pageNumber);
    const viewport = page.getViewport({ scale });
    const [width, height] = [Math.round(viewport.width), Math.round(viewport.height)];
    const canvas = createCanvas(width, height);
    // pdf.js is typed for the browser's canvas; the one of @napi-rs/canvas has the same drawing calls.
    await page.render({ canvas: canvas as unknown as HTMLCanvasElement, viewport, background: '#ffffff' })
      .promise;
    return pixels(width, height, canvas.getContext('2d').getImageData(0, 0, width, height).data);
  });
}

async function withDocument<Result>(
  bytes: Uint8Array,
  password: string | undefined,
  use: (document: PDFDocumentProxy) => Promise<Result>,
): Promise<Result> {
  const assets = new URL('./', import.meta.resolve('pdfjs-dist/package.json')).pathname;
  const loading = getDocument({
    ...(password !== undefined && { password }),
    data: new Uint8Array(bytes), // a copy: pdf.js takes the buffer it is given away from its owner
    verbosity: 0, // says nothing of fonts it has to replace
    standardFontDataUrl: `${assets}standard_fonts/`,
    cMapUrl: `${assets}cmaps/`,
    wasmUrl: `${assets}wasm/`,
    iccUrl: `${assets}iccs/`,
  });
  try {
    return await use(await loading.promise);
  } finally {
    await loading.destroy();
  }
}

async function attachmentsOf(document: PDFDocumentProxy): Promise<PdfAttachment[]> {
  const found: PdfAttachment[] = [];
  for (const [name, { description }] of (await document.getAttachments()) ?? []) {
    const content = await document.getAttachmentContent(name);
    if (content === null) throw new Error(`The attachment ${name} has no content.`);
    found.push({ name, description, content });
  }
  return found;
}

async function isTagged(document: PDFDocumentProxy): Promise<boolean> {
  // Typed as an object, handed out as a map (pdf.js 6.5).
  const markInfo: unknown = await document.getMarkInfo();
  if (!(markInfo instanceof Map) || markInfo.get('Marked') !== true) return false;
  return (await (await document.getPage(1)).getStructTree()) != null;
}

async function readPage(page: PDFPageProxy): Promise<PdfPage> {
  const { width, height } = page.getViewport({ scale: 1 });
  const lines = await linesOf(page);
  const annotations: Record<string, unknown>[] = await page.getAnnotations();
  const links = annotations
    .filter((annotation) => annotation.subtype === 'Link')
    .map((link) => String(link.unsafeUrl ?? link.url ?? `#${JSON.stringify(link.dest)}`));
  page.cleanup();
  return { width, height, rotation: page.rotate, text: lines.join('\n'), lines, links };
}

async function linesOf(page: PDFPageProxy): Promise<string[]> {
  const content = await page.getTextContent();
  let text = '';
  for (const item of content.items) {
    if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
  }
  return text
    .split('\n')
    .map((line) => line.replace(/\s+/gu, ' ').trim())
    .filter((line) => line !== '');
}

function metadataOf(info: Record<string, unknown>): PdfMetadata {
  const text = (name: string): string | undefined => {
    const value = info[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    title: text('Title'),
    author: text('Author'),
    subject: text('Subject'),
    creator: text('Creator'),
    producer: text('Producer'),
    keywords: (text('Keywords') ?? '').split(/\s*[,;]\s*/).filter((word) => word !== ''),
  };
}

function pixels(width: number, height: number, data: Uint8ClampedArray): RenderedPage {
  const at = (x: number, y: number): Rgb => {
    if (x < 0 || y < 0 || x >= width || y >= height) throw new RangeError(`No pixel at ${x}, ${y}.`);
    const offset = (Math.floor(y) * width + Math.floor(x)) * 4;
    return [data[offset]!, data[offset + 1]!, data[offset + 2]!];
  };
  const near = (offset: number, colour: Rgb, tolerance: number): boolean =>
    Math.abs(data[offset]! - colour[0]) <= tolerance &&
    Math.abs(data[offset + 1]! - colour[1]) <= tolerance &&
    Math.abs(data[offset + 2]! - colour[2]) <= tolerance;
  const survey = (wanted: (offset: number) => boolean): { count: number; box: PixelBox | undefined } => {
    let count = 0;
    let [left, top, right, bottom] = [width, height, -1, -1];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (!wanted((y * width + x) * 4)) continue;
        count++;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
      }
    }
    return { count, box: count === 0 ? undefined : { left, top, right, bottom } };
  };
  const white: Rgb = [255, 255, 255];
  return {
    width,
    height,
    at,
    countColor: (colour, tolerance = 8) => survey((offset) => near(offset, colour, tolerance)).count,
    countInk: (tolerance = 8) => survey((offset) => !near(offset, white, tolerance)).count,
    boxOfColor: (colour, tolerance = 8) => survey((offset) => near(offset, colour, tolerance)).box,
    boxOfInk: (tolerance = 8) => survey((offset) => !near(offset, white, tolerance)).box,
  };
}

/** A document with `count` objects that belong to no page: reading it takes about 10 microseconds for each. */
export function documentWithObjects(count: number): Buffer {
  const chunks = ['%PDF-1.7\n'];
  const offsets: number[] = [];
  let at = chunks[0]!.length;
  const add = (body: string) => {
    offsets.push(at);
    const object = `${offsets.length} 0 obj\n${body}\nendobj\n`;
    chunks.push(object);
    at += object.length;
  };
  add('<</Type/Catalog/Pages 2 0 R>>');
  add('<</Type/Pages/Count 1/Kids[3 0 R]>>');
  add('<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>>');
  for (let i = 0; i < count; i += 1) add('<</A[1 2 3 4 5 6]/B(text)/C 3 0 R>>');
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = offsets.length + 1;
  chunks.push(`xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R>>\n`);
  chunks.push(`startxref\n${at}\n%%EOF\n`);
  return Buffer.from(chunks.join(''), 'latin1');
}
