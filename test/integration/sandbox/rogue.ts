/** Work for a sandbox to survive. */
import { readFileSync } from 'node:fs';
import { serve } from '../../../src/infra/sandbox/serve.ts';

interface Deed {
  readonly deed:
    | 'echo'
    | 'throw'
    | 'spin'
    | 'grow'
    | 'grow at once'
    | 'fill buffers'
    | 'replace'
    | 'exit'
    | 'read'
    | 'environment';
  readonly value?: unknown;
}

serve<Deed>(({ deed, value }) => {
  switch (deed) {
    case 'echo':
      return value;
    case 'throw':
      throw new Error('as asked');
    case 'spin':
      for (;;);
    case 'grow': {
      const kept: object[] = [];
      for (;;) kept.push({ n: kept.length });
    }
    case 'grow at once':
      return new Array(50_000_000).fill(1.5).length;
    case 'fill buffers': {
      const kept: Buffer[] = [];
      for (;;) kept.push(Buffer.alloc(1024 * 1024, 1));
    }
    case 'replace':
      return 'ab'.repeat(50_000_000).replace(/a/g, '<><><>').length;
    case 'exit':
      return process.exit(3);
    case 'read':
      return readFileSync(String(value), 'utf8');
    case 'environment':
      return { ...process.env };
  }
});
