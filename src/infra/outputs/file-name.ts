import { create } from 'content-disposition';
import { PDF_EXTENSION } from './media-type.ts';

/** Bytes in UTF-8. Far below the 255 that file systems take, so that a browser can add " (1)". */
const MAX_BYTES = 150;
/** Bytes in UTF-8 of a name that file systems take. */
const MAX_SYSTEM_BYTES = 255;

/** Separators of paths and drives, and characters that Windows rejects in names. */
const FORBIDDEN = /[\\/:*?"<>|]/gu;
/** Controls, line and paragraph separators, unassigned and private characters, lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;
/** Format characters reverse text or hide in it (U+202E shows "fdp.exe" as "exe.pdf"); joiners belong to words. */
const FORMAT = /[\p{Cf}--[\u200c\u200d]]/gv;
/** Device names that Windows reserves, whatever extension follows. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/iu;

/**
 * A name under which a file can be saved on any system, with the extension `.pdf`: `wanted` without everything that
 * does not belong in a plain name. If nothing is left, the name is made from `fallback`.
 */
export function safeFileName(wanted: string | undefined, fallback: string): string {
  return (stemOf(wanted ?? '') || stemOf(fallback) || 'document') + PDF_EXTENSION;
}

/**
 * Why a file could not be saved under the name on any system, in words that follow "name"; undefined if it can.
 *
 * @param name one line of text.
 */
export function fileNameError(name: string): string | undefined {
  if (name.search(FORBIDDEN) !== -1) return 'must be the name of a file alone, without \\ / : * ? " < > |';
  if (name.search(INVISIBLE) !== -1 || name.search(FORMAT) !== -1)
    return 'must have no characters that cannot be seen';
  if (trimmed(name) !== name) return 'must neither begin nor end with a full stop or a space';
  if (RESERVED.test(name.split('.')[0]!.trim())) return 'is a name that Windows has reserved';
  return Buffer.byteLength(name) > MAX_SYSTEM_BYTES
    ? `must have at most ${MAX_SYSTEM_BYTES} bytes in UTF-8`
    : undefined;
}

/** A file name without the extension of PDFs. */
export function withoutExtension(fileName: string): string {
  return fileName.endsWith(PDF_EXTENSION) ? fileName.slice(0, -PDF_EXTENSION.length) : fileName;
}

/** RFC 6266: an ASCII file name for old readers, and also the real one by RFC 8187 where they differ. */
export function contentDisposition(fileName: string, type: 'attachment' | 'inline'): string {
  return create(fileName, { type });
}

function stemOf(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(INVISIBLE, '')
    .replace(FORMAT, '')
    .replace(FORBIDDEN, '_')
    .replace(/ +/g, ' ')
    .replace(/(\.pdf)?[. ]*$/i, '');
  // Leading dots hide a file or lead upwards; Windows drops trailing dots and blanks.
  const stem = trimmed(cutToBytes(trimmed(plain), MAX_BYTES - PDF_EXTENSION.length));
  if (/^_*$/.test(stem)) return '';
  // Windows checks the part before the first dot.
  return RESERVED.test(stem.split('.')[0]!.trim()) ? `_${stem}` : stem;
}

function trimmed(name: string): string {
  return name.replace(/^[. ]+|[. ]+$/g, '');
}

/** The longest prefix that fits, never cut inside a grapheme. */
function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let cut = '';
  let bytes = 0;
  for (const { segment } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) {
    bytes += Buffer.byteLength(segment);
    if (bytes > maxBytes) break;
    cut += segment;
  }
  return cut;
}
