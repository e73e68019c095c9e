import type { ZodType, z } from 'zod';
import type { CallTerms } from '../../infra/sandbox/sandbox-pool.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import type { PdfSource, RenderSource } from '../../render/renderer.ts';
import type { TemplateEngine } from '../../tenants/templates/engine/template-engine.ts';
import type { TemplateReader } from '../../tenants/templates/template-store.ts';

/** Schemas of fields by name. All are optional, because a request or a source has the fields of one kind only. */
type Shape = Readonly<Record<string, ZodType>>;
type Name<Fields> = keyof Fields & string;
type Present<Fields extends Shape> = { readonly [F in keyof Fields]: NonNullable<z.output<Fields[F]>> };
type Given<F extends Shape, Field extends keyof F> = Partial<Present<F>> & Present<Pick<F, Field>>;
type SourceOf<Mode extends string, Stored extends Shape> = { readonly mode: Mode } & Present<Stored>;

/** What a request may use to make the source of a job. */
export interface IntakeContext {
  readonly accountId: string;
  readonly templates: Pick<TemplateReader, 'resolve'>;
  /**
   * @param name what errors call the address. Default: the source URL.
   * @throws PlatenError for an address that may not be fetched. Absent where the render checks the address.
   */
  readonly checkUrl?: (url: string, name?: string) => void;
  /** @returns what is wrong with data, by the JSON Schema of their template: see `TemplateEngine.dataErrors`. */
  readonly dataErrors: (dataSchema: string, data: object) => Promise<readonly string[]>;
}

/** What a worker may use to make the document of a source, until the deadline of the render. */
export interface DocumentContext extends CallTerms {
  readonly templates: Pick<TemplateEngine, 'render'>;
  readonly options: Pick<RenderOptions, 'locale' | 'timezone' | 'strictData'>;
  readonly withinMs: number;
  /** Receives warnings about the document; absent when nobody asks for them. */
  readonly onWarnings?: ((warnings: readonly string[]) => void) | undefined;
  /** @returns the PDF of a job of the same account; undefined when it is not kept (any more). */
  readonly pdfOf: (jobId: string) => Promise<Uint8Array | undefined>;
}

/** A source, and what the account has saved with it. */
export interface Found<Source> {
  readonly source: Source;
  /** The options of its renders, which those of a request come before: see `withSaved`. */
  readonly savedOptions?: RenderOptions | undefined;
}

/** Says what is wrong with a source that could be made, each with the field in the request. */
export interface Unfit {
  readonly unfit: readonly string[];
}

/** Says what the account does not have, as a sentence without its full stop. */
export interface Missing {
  readonly missing: string;
}

/**
 * What becomes of one kind of input once a job has it: what is stored of it, and what a worker makes of that. The last two
 * parameters are the exact types of the properties; a table of kinds omits them.
 */
export interface SourceKind<Source, Mode = string, Stored = Shape> {
  /** Its name in records, and the `mode` of its sources. */
  readonly mode: Mode;
  /** The fields of its stored source, as their owner sees them. */
  readonly stored: Stored;
  documentOf(
    source: Source,
    context: DocumentContext,
  ): RenderSource | PdfSource | Promise<RenderSource | PdfSource>;
  /** The options of its render, with what the source fills into them. Default: as they are. */
  optionsOf?(source: Source, options: RenderOptions, context: DocumentContext): Promise<RenderOptions>;
  /** The text of a source that the inputs of a batch may share: it is stored once for all of them. */
  markupOf(source: Source): string;
  /** The source with another such text. */
  withMarkup(source: Source, markup: string): Source;
}

/**
 * The complete definition of one kind of input of renders: how a request states it, and what becomes of it. The last four
 * parameters are the exact types of the properties; a table of kinds omits them.
 */
export interface InputKind<Source, Input, Mode = string, Field = Name<Input>, Fields = Shape, Stored = Shape>
  extends SourceKind<Source, Mode, Stored> {
  /** The field of a request that chooses this kind. */
  readonly field: Field;
  /** That field, and those that are only allowed together with it. */
  readonly fields: Fields;
  /** @param input the checked fields of a request that has `field`. */
  sourceOf(input: Input, context: IntakeContext): Found<Source> | Promise<Found<Source> | Missing | Unfit>;
}

/**
 * Defines a kind of input. Its file has the same name as its mode; `inputs.ts` lists it. Two texts name the fields by
 * hand: the description of `POST /v1/pdf`, and the command line, which has no schemas (`cli/batch-file.ts`).
 */
export function defineInput<
  Mode extends string,
  Fields extends Shape,
  Field extends Name<Fields>,
  Stored extends Shape,
>(kind: InputKind<SourceOf<NoInfer<Mode>, Stored>, Given<Fields, Field>, Mode, Field, Fields, Stored>) {
  return kind;
}

/** Defines what becomes of an input that is none of renders: its route makes the source. */
export function defineSource<Mode extends string, Stored extends Shape>(
  kind: SourceKind<SourceOf<NoInfer<Mode>, Stored>, Mode, Stored>,
) {
  return kind;
}
