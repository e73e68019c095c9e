import { z } from 'zod';
import type { Given, Option } from '../core/option.ts';
import { OPTIONS } from '../generated/options.ts';

type Options = typeof OPTIONS;

export const ALL_OPTIONS: readonly Option[] = Object.values(OPTIONS);

const shape = Object.fromEntries(ALL_OPTIONS.map(({ name, schema }) => [name, schema])) as {
  [Name in keyof Options]: Options[Name]['schema'];
};

/** The contract's render options object (interface: "Render options object"). Unknown fields are rejected. */
export const renderOptionsSchema = ALL_OPTIONS.reduce(
  (schema, { name, rules = [] }) =>
    // Checked even where other options have errors, so that all are reported at once.
    rules.reduce(
      (checked, { error, holds }) =>
        checked.refine((options) => holds({ ...options }), { path: [name], error, when: () => true }),
      schema,
    ),
  z.strictObject(shape).partial(),
).meta({ id: 'RenderOptions' });

export type RenderOptions = z.infer<typeof renderOptionsSchema>;

/** Reads single options of a render. */
export function given(options: RenderOptions): Given {
  const values: Readonly<Record<string, unknown>> = options;
  return <Value>({ name, default: value }: Pick<Option<Value>, 'name' | 'default'>) =>
    (values[name] as Value | undefined) ?? value;
}
