import { z } from 'zod';

/** An address of a service that is given by a setting. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
