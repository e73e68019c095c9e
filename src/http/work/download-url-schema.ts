import { z } from 'zod';

/** The response of the `download-url` routes. */
export const downloadUrlSchema = z
  .strictObject({
    success: z.literal(true),
    url: z.string().describe('Signed download address; no key is needed for it.'),
    expiresAt: z.iso.datetime().describe('15 minutes from now, or the end of the retention window.'),
  })
  .meta({ id: 'DownloadUrl' });
