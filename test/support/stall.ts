import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { PDFDocument } from '@cantoo/pdf-lib';

/** More than what lies between a process and a caller that does not read. */
const LARGE = 12_000_000;

/** A PDF that is not sent as a whole before its reader takes it. */
export async function largePdf(): Promise<Buffer> {
  const document = await PDFDocument.create();
  const picture = document.context.register(document.context.stream(randomBytes(LARGE)));
  document.addPage().node.addContentStream(picture);
  return Buffer.from(await document.save());
}

/** Requests a file, on a separate connection, and reads nothing of it. */
export function stall(
  url: string,
  options: RequestOptions = {},
  body: object | undefined = undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ...options, agent: false }, (response) => {
      response.on('error', () => undefined);
      resolve(response);
    });
    asked.on('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}
