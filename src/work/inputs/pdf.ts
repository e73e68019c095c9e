import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { defineSource } from './input-kind.ts';

/** A PDF that somebody has sent, or that of an earlier job of the account: one of the two. */
export const pdf = defineSource({
  mode: 'pdf',
  stored: {
    pdf: z.string().optional().describe('The PDF in base64.'),
    pdfJobId: z.uuid().optional().describe('The job whose PDF it is.'),
  },
  async documentOf({ pdf, pdfJobId }, { pdfOf }) {
    if (pdfJobId === undefined) return { kind: 'pdf', pdf: Buffer.from(pdf, 'base64') };
    const found = await pdfOf(pdfJobId);
    if (found === undefined)
      throw new PlatenError('GONE', `The PDF of the job ${pdfJobId} is no longer kept.`);
    return { kind: 'pdf', pdf: found };
  },
  markupOf: ({ pdf = '' }) => pdf,
  withMarkup: (source, pdf) => ({ ...source, pdf }),
});
