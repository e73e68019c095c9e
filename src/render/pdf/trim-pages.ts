/** The beginning of a page's object, as Skia writes it. Readers have not needed the procedure sets since PDF 1.4. */
const PAGE = '/Type /Page\n/Resources <<';
const PROCEDURES = '/ProcSet [/PDF /Text /ImageB /ImageC /ImageI]';
const HEAD = Buffer.from(PAGE + PROCEDURES);
const BOX = '/MediaBox [0 0 ';

/** What is printed is larger than its paper by less than this. Points. */
const MOST = 2.5;
/** What a page is larger by without being trimmed. Points. */
const LEAST = 0.001;

/**
 * Gives pages the exact size of their paper, which Chromium rounds up to points: what it prints ends at the edge of the
 * exact size, and would leave a white line beside it. The right and the lower edge are moved; what is drawn stays where
 * it is. Pages of other sizes stay as they are.
 *
 * The file is changed in place and keeps its length: the procedure sets make room for the digits. That takes as long as a
 * search for a few bytes, and no reading of the document.
 *
 * @param pdf as Chromium has printed it.
 * @param width of the paper in points.
 * @param height of the paper in points.
 */
export function trimPages(pdf: Buffer, width: number, height: number): void {
  for (let at = pdf.indexOf(HEAD); at !== -1; at = pdf.indexOf(HEAD, at + HEAD.length)) {
    const boxAt = pdf.indexOf(BOX, at);
    const end = pdf.indexOf(']', boxAt);
    const sides = pdf
      .toString('latin1', boxAt + BOX.length, end)
      .split(' ')
      .map(Number);
    const [right = 0, top = 0] = sides;
    const surplus = [right - width, top - height];
    if (boxAt === -1 || sides.length !== 2 || !surplus.every((points) => points > -LEAST && points < MOST))
      continue;
    if (surplus.every((points) => points < LEAST)) continue;
    const box = [0, top - height, width, top].map((side) => Number(side.toFixed(3))).join(' ');
    const text = pdf.toString('latin1', at, boxAt).replace(PROCEDURES, '');
    pdf.write(`${text}/MediaBox [${box}]`.padEnd(end + 1 - at), at, 'latin1');
  }
}
