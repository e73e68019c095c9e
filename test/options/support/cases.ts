import assert from 'node:assert/strict';
import { PDFDocument } from '@cantoo/pdf-lib';
import type { ReadPdf, RenderedPage, Rgb } from '../../support/pdf.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';

export type Options = Readonly<Record<string, unknown>>;

/** In a case's document: where its pictures are, among them ECHO. */
export const SITE = 'http://site.case';

/** A red square of 100 CSS pixels when the request's header `name` holds `value`, else a blue one. */
export const echo = (name: string, value: string): string =>
  `<img width=100 height=100 src="${SITE}/echo.svg?${new URLSearchParams({ name, value })}">`;

export const RED: Rgb = [255, 0, 0];
export const BLUE: Rgb = [0, 0, 255];

/** A PDF, as readers of PDFs find it. */
export interface Printed extends ReadPdf {
  readonly bytes: Uint8Array;
  /** What opens it; undefined for a PDF that everyone can open. */
  readonly password: string | undefined;
  /** Draws one page, counted from 1. */
  draw(page?: number, scale?: number): Promise<RenderedPage>;
}

/** An effect of an option on the PDF. */
export interface Effect {
  /** A sentence about the option. */
  readonly title: string;
  readonly html: string;
  readonly options: Options;
  /** Three options that it is combined with besides. Default: a title, tags and a delay. */
  readonly others?: Options;
  /** The kinds of input that the option is for. Default: all. */
  readonly modes?: readonly ('html' | 'url' | 'template')[];
  /** What opens the PDF. */
  readonly password?: string;
  /** Header fields of the response of the source URL. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly proof: (printed: Printed) => void | Promise<void>;
}

/** A render that the option makes fail. */
export interface Failure {
  readonly title: string;
  readonly html: string;
  readonly options: Options;
  /** The status of the source URL, for which alone the case is. */
  readonly status?: number;
  readonly code: string;
  readonly message: RegExp;
}

/** The cases of one option. */
export interface OptionCases {
  /** Values at its bounds. */
  readonly accepted: readonly unknown[];
  /** Options that are rejected, with the path and the message of the error. */
  readonly refused: readonly (readonly [options: Options, path: string, message: RegExp])[];
  readonly effects: readonly Effect[];
  readonly failures?: readonly Failure[];
}

/** Whether two lengths in points are the same, as Chromium rounds them. */
export function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1.5, `${actual} is not ${expected}`);
}

/** @throws AssertionError when two readers do not find the same pages in it. */
export async function printed(bytes: Uint8Array, password?: string): Promise<Printed> {
  const read = await readPdf(bytes, password);
  const other = await PDFDocument.load(bytes, { updateMetadata: false, ignoreEncryption: true });
  const sizes = other.getPages().map((page) => [Math.round(page.getWidth()), Math.round(page.getHeight())]);
  assert.deepEqual(
    read.pages.map(({ width, height }) => [Math.round(width), Math.round(height)]),
    sizes,
  );
  return { ...read, bytes, password, draw: (page, scale) => renderPage(bytes, page, scale, password) };
}
