import { create } from 'content-disposition';

const EXTENSION = '.pdf';
/** Bytes in UTF-8. Far below the 255 that file systems take, so that a browser can add " (1)". */
const MAX_BYTES = 150;

/** Separators of paths and drives, and what Windows refuses in names. */
const REFUSED = /[\\/:*?"<>|]/gu;
/** Controls, line and paragraph separators, unassigned and private characters, lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu;
/** Format characters turn text around or hide in it (U+202E shows "fdp.exe" as "exe.pdf"); joiners belong to words. */
const FORMAT = /[\p{Cf}--[\u200c\u200d]]/gv;
/** Device names that Windows takes for themselves, whatever extension follows. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/iu;

/**
 * A name that is safe to save under on any system, and ends in `.pdf`: what was wished for with everything taken out
 * that is no part of a plain name, or `fallback`, treated alike, when nothing is left of it.
 */
export function safeFileName(wanted: string | undefined, fallback: string): string {
  return (stemOf(wanted ?? '') || stemOf(fallback) || 'document') + EXTENSION;
}

/** RFC 6266: an ASCII file name for old readers, and the real one beside it in RFC 8187 form where they differ. */
export function contentDisposition(fileName: string, type: 'attachment' | 'inline'): string {
  return create(fileName, { type });
}

function stemOf(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(INVISIBLE, '')
    .replace(FORMAT, '')
    .replace(REFUSED, '_')
    .replace(/ +/g, ' ')
    .replace(/(\.pdf)?[. ]*$/i, '');
  // Leading dots hide a file or lead upwards; Windows drops trailing dots and blanks.
  const stem = trimmed(cutToBytes(trimmed(plain), MAX_BYTES - EXTENSION.length));
  if (/^_*$/.test(stem)) return '';
  // What stands before the first dot is what Windows looks at.
  return RESERVED.test(stem.split('.')[0]!.trim()) ? `_${stem}` : stem;
}

function trimmed(name: string): string {
  return name.replace(/^[. ]+|[. ]+$/g, '');
}

/** The longest beginning that fits, never cut inside what a reader sees as one character. */
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
