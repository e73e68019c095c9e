import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const delayMs = defineOption('delayMs', z.int().min(0).max(60_000), {
  stage: 'wait',
  documentation: 'Milliseconds to wait after loading.',
  default: 0,
  order: 2,
  takesMs: (value) => value,
  wait: (value) => pause(value),
});
