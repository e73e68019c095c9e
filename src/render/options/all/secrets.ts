import { MASK } from '../core/option.ts';
import { ALL_OPTIONS, type RenderOptions } from './render-options.ts';

/** The same options for whoever may know them without their secrets. */
export function maskOptions(options: RenderOptions): RenderOptions {
  return replaceSecrets(options, () => MASK);
}

/** The secrets in options: values of headers and cookies. */
export function secretsOf(options: RenderOptions): string[] {
  const secrets: string[] = [];
  replaceSecrets(options, (secret) => {
    secrets.push(secret);
    return secret;
  });
  return secrets;
}

function replaceSecrets(options: RenderOptions, replace: (secret: string) => string): RenderOptions {
  const replaced: Record<string, unknown> = { ...options };
  for (const { name, mask } of ALL_OPTIONS)
    if (mask !== undefined && replaced[name] !== undefined) replaced[name] = mask(replaced[name], replace);
  return replaced;
}
