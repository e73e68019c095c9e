import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { createLogOutput } from './log-output.ts';

export type { Logger } from 'pino';

/** One JSON line per event on stdout. What could hold a secret or a document is cut out wherever it turns up. */
export function createLogger(
  options: { level: string; role: string; instance: string },
  destination?: DestinationStream,
): Logger {
  const settings: LoggerOptions = {
    level: options.level,
    base: { role: options.role, instance: options.instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        'authorization',
        '*.authorization',
        '["x-api-key"]',
        '*["x-api-key"]',
        'apiKey',
        '*.apiKey',
        'password',
        '*.password',
        'secret',
        '*.secret',
        'token',
        '*.token',
        'html',
        '*.html',
        'data',
        '*.data',
        'assetHeaders',
        '*.assetHeaders',
      ],
      censor: '[redacted]',
    },
    serializers: { err: (thrown: unknown) => told(thrown, MAX_CAUSES) },
  };
  return pino(settings, destination ?? createLogOutput());
}

/** Causes of causes that are told. */
const MAX_CAUSES = 4;

/**
 * What an error says for itself. Its other fields are left out: those of the database's driver hold what was to be
 * written, documents and PDFs among it.
 */
function told(thrown: unknown, causes: number): unknown {
  if (!(thrown instanceof Error)) return typeof thrown === 'object' ? String(thrown) : thrown;
  const { name, message, stack, cause } = thrown;
  const { code, errors } = thrown as { code?: unknown; errors?: unknown };
  const deeper = causes > 0;
  return {
    type: name,
    message,
    stack,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(deeper && cause !== undefined && { cause: told(cause, causes - 1) }),
    ...(deeper && Array.isArray(errors) && { errors: errors.map((error) => told(error, 0)) }),
  };
}
