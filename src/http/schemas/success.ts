import { z } from 'zod';

/** The body of an answer that has nothing more to say. */
export const successSchema = z.strictObject({ success: z.literal(true) }).meta({ id: 'Success' });
