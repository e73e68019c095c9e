import { createHash, randomBytes } from 'node:crypto';

/**
 * What the place of a signature holds until it is there, in hexadecimal digits: random, so that no document of anybody has
 * it, and of this process alone, which reads it in the PDF that its finisher returns.
 */
export const MARKER = randomBytes(32).toString('hex').toUpperCase();
/** A number as long as any offset in a PDF, which stands in the byte range until that is known. */
export const UNKNOWN_OFFSET = 9_999_999_999;
/** The hash of what is signed, as it is called in JSON and by WebCrypto. */
export const DIGEST = 'SHA-256';

/** The place of a signature, as the step `seal` of the finisher makes it. */
export interface SealPlace {
  /** Its first hexadecimal digits. */
  readonly marker: string;
  /** Bytes that a signature may have. */
  readonly bytes: number;
  /** When the PDF is sealed, in milliseconds since 1970. */
  readonly at: number;
  readonly reason?: string | undefined;
  readonly location?: string | undefined;
  readonly visible?: SealAppearance | undefined;
}

/** How a seal is drawn, and where. */
export interface SealAppearance {
  /** From 1 on; from -1 back, of which -1 is the last page. */
  readonly page: number;
  /** In points, from the left and upper edges of the page as it is shown. */
  readonly rect: Readonly<Record<'left' | 'top' | 'width' | 'height', number>>;
  /** A PDF whose first page is drawn. */
  readonly sheet: Uint8Array;
  /** What is read out in its place. */
  readonly description: string;
}

/** A PDF that waits for its signature. */
export interface OpenSeal {
  /** SHA-256 of all of the PDF but the signature. */
  readonly digest: Buffer;
  /** Bytes that the signature may have. */
  readonly maxBytes: number;
  /** The same PDF with the signature: changed in place. @throws RangeError for one that is too long. */
  close(signature: Uint8Array): Uint8Array;
}

/**
 * Finds the place of the signature in a PDF, and writes there which bytes are signed. The PDF is changed in place, and keeps
 * its length.
 *
 * @throws Error for a PDF without such a place.
 */
export function openSeal(pdf: Uint8Array): OpenSeal {
  const file = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  const begin = file.indexOf(`<${MARKER}`);
  const end = file.indexOf('>', begin) + 1;
  const range = file.lastIndexOf('/ByteRange', begin);
  const open = file.indexOf('[', range);
  const close = file.indexOf(']', range);
  if (begin < 0 || range < 0 || close > begin) throw new Error('The PDF has no place for a signature.');
  const signed = [0, begin, end, file.length - end].join(' ');
  file.write(signed.padEnd(close - open - 1), open + 1, 'latin1');
  const hash = createHash('sha256').update(file.subarray(0, begin)).update(file.subarray(end));
  const maxBytes = (end - begin - 2) / 2;
  return {
    digest: hash.digest(),
    maxBytes,
    close(signature) {
      if (signature.byteLength > maxBytes) throw new RangeError('The signature is too long.');
      const digits = Buffer.from(signature).toString('hex').toUpperCase();
      file.write(digits.padEnd(2 * maxBytes, '0'), begin + 1, 'latin1');
      return pdf;
    },
  };
}
