import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** One JSON line per event on stdout. What could hold a secret or a document is cut out wherever it turns up. */
export function createLogger(options: { level: string; role: string; instance: string }): Logger {
  return pino({
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
    serializers: { err: pino.stdSerializers.err },
  });
}
