import { z } from 'zod';
import type { Given, Option } from '../core/option.ts';
import { OPTIONS } from '../generated/options.ts';

type Options = typeof OPTIONS;

export const ALL_OPTIONS: readonly Option[] = Object.values(OPTIONS);

/** The schema of an object of these options, each of which may be left out. Unknown fields are rejected. */
export function optionsSchema<Name extends keyof Options>(chosen: Pick<Options, Name>) {
  const options: readonly Option[] = Object.values(chosen);
  const shape = Object.fromEntries(options.map(({ name, schema }) => [name, schema])) as {
    [Each in Name]: Options[Each]['schema'];
  };
  return options.reduce(
    (schema, { name, rules = [] }) =>
      // Checked even where other options have errors, so that all are reported at once.
      rules.reduce(
        (checked, { error, holds }) =>
          checked.refine((given) => holds({ ...given }), { path: [name], error, when: () => true }),
        schema,
      ),
    z.strictObject(shape).partial(),
  );
}

/** The contract's render options object (interface: "Render options object"). */
export const renderOptionsSchema = optionsSchema(OPTIONS).meta({ id: 'RenderOptions' });

export type RenderOptions = z.infer<typeof renderOptionsSchema>;

/** Reads single options of a render. */
export function given(options: RenderOptions): Given {
  const values: Readonly<Record<string, unknown>> = options;
  return <Value>({ name, default: value }: Pick<Option<Value>, 'name' | 'default'>) =>
    (values[name] as Value | undefined) ?? value;
}
