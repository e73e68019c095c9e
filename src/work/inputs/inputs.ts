import type { z } from 'zod';
import { html } from './html.ts';
import type { InputKind } from './input-kind.ts';
import { template } from './template.ts';
import { url } from './url.ts';

const KINDS = { html, url, template };

/** The fields of a request that state its input. */
export const INPUT_FIELDS = { ...html.fields, ...url.fields, ...template.fields };
/** The fields of the sources of jobs, as their owners see them. */
export const SOURCE_FIELDS = { ...html.stored, ...url.stored, ...template.stored };
export const INPUT_MODES = Object.values(KINDS).map(({ mode }) => mode);

/** The input of a checked request, which has the fields of one kind. */
export type RequestedInput = z.output<z.ZodObject<typeof INPUT_FIELDS>>;
/** The document to render. Stored separately from the job: it is read once, and may have megabytes. */
export type JobSource = Parameters<(typeof KINDS)[keyof typeof KINDS]['documentOf']>[0];
export type InputMode = JobSource['mode'];

/** Every kind of input, by its mode. The types reject a kind whose fields are missing above. */
export const INPUTS: Readonly<Record<InputMode, InputKind<JobSource, RequestedInput>>> = KINDS;
export const INPUT_KINDS = Object.values(INPUTS);
