import type { z } from 'zod';
import { html } from './html.ts';
import type { InputKind, SourceKind } from './input-kind.ts';
import { pdf } from './pdf.ts';
import { template } from './template.ts';
import { url } from './url.ts';

/** The kinds of input that are rendered. */
const RENDERED = { html, url, template };
const KINDS = { ...RENDERED, pdf };

/** The fields of a request that state its input. */
export const INPUT_FIELDS = { ...html.fields, ...url.fields, ...template.fields };
/** The fields of the sources of jobs, as their owners see them. */
export const SOURCE_FIELDS = { ...html.stored, ...url.stored, ...template.stored, ...pdf.stored };
export const INPUT_MODES = Object.values(KINDS).map(({ mode }) => mode);

/** The input of a checked request, which has the fields of one kind. */
export type RequestedInput = z.output<z.ZodObject<typeof INPUT_FIELDS>>;
/** What a job is made of. Stored separately from the job: it is read once, and may have megabytes. */
export type JobSource = Parameters<(typeof KINDS)[keyof typeof KINDS]['documentOf']>[0];
export type InputMode = JobSource['mode'];

/** Every kind of input, by its mode. The types reject a kind whose fields are missing above. */
export const INPUTS: Readonly<Record<InputMode, SourceKind<JobSource>>> = KINDS;
/** Every kind of input that is rendered. */
export const INPUT_KINDS: readonly InputKind<JobSource, RequestedInput>[] = Object.values(RENDERED);
