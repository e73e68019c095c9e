import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { createLogOutput } from './log-output.ts';

export type { Logger } from 'pino';

/** One JSON line per event on stdout. Fields that could hold a secret or a document are removed wherever they occur. */
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
        'protection',
        '*.protection',
        'assetHeaders',
        '*.assetHeaders',
        'cookies',
        '*.cookies',
      ],
      censor: '[redacted]',
    },
    serializers: { err: (thrown: unknown) => reported(thrown, MAX_CAUSES) },
  };
  return pino(settings, destination ?? createLogOutput());
}

/** Nested causes that are logged. */
const MAX_CAUSES = 4;

/**
 * The message, stack and causes of an error. Its other fields are left out, because errors of the database driver
 * contain the data to be written, including documents and PDFs.
 */
function reported(thrown: unknown, causes: number): unknown {
  if (!(thrown instanceof Error)) return typeof thrown === 'object' ? String(thrown) : thrown;
  const { name, message, stack, cause } = thrown;
  const { code, errors } = thrown as { code?: unknown; errors?: unknown };
  const deeper = causes > 0;
  return {
    type: name,
    message,
    stack,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(deeper && cause !== undefined && { cause: reported(cause, causes - 1) }),
    ...(deeper && Array.isArray(errors) && { errors: errors.map((error) => reported(error, 0)) }),
  };
}
