import { z } from 'zod';

/** The body of a response without any data. */
export const successSchema = z.strictObject({ success: z.literal(true) }).meta({ id: 'Success' });
