import type { FinishStep } from '../pdf/finish-step.ts';

/** Side of the sheet; the finisher makes it as large as the diagonal of a page. */
const SIDE = 1000;
/** Letters of bars, each a rectangle `x y width height` in a cell of 70 by 100. */
const T = ['0 84 70 16', '27 0 16 84'];
const E = ['0 0 16 100', '16 84 54 16', '16 42 44 16', '16 0 54 16'];
const S = ['0 84 70 16', '0 58 16 26', '0 42 70 16', '54 16 16 26', '0 0 70 16'];
/** From the beginning of one letter to that of the next, and the length of the word. */
const ADVANCE = 90;
const LENGTH = 3 * ADVANCE + 70;
/** The cosine of 45 degrees, and its sine. */
const TURN = Math.SQRT1_2;

/**
 * The watermark of a test key for a PDF that is not printed here: the word TEST in the colour, the direction and the opacity
 * that it has in renders, drawn without a font or a browser.
 */
export const TEST_SHEET: FinishStep = { step: 'watermark', argument: testSheet() };

function testSheet(): Uint8Array {
  const letters = [T, E, S, T].flatMap((bars, i) => [
    `q 1 0 0 1 ${i * ADVANCE} 0 cm`,
    ...bars.map((bar) => `${bar} re`),
    'f Q',
  ]);
  const content = [
    'q /Mark gs 0.533 g',
    `${TURN} ${TURN} ${-TURN} ${TURN} ${SIDE / 2} ${SIDE / 2} cm`,
    `1 0 0 1 ${-LENGTH / 2} -50 cm`,
    ...letters,
    'Q',
  ].join('\n');
  const page = `<</Type /Page /Parent 2 0 R /MediaBox [0 0 ${SIDE} ${SIDE}] /Contents 4 0 R
/Resources <</ExtGState <</Mark <</ca 0.15>>>>>>>>`;
  return Buffer.from(`%PDF-1.7
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj ${page} endobj
4 0 obj <</Length ${content.length}>> stream
${content}
endstream endobj
trailer <</Root 1 0 R /Size 5>>
`);
}
