import { z } from 'zod';
import { defineOption, type Milestone } from './core/option.ts';

const MILESTONES = {
  load: 'load',
  domcontentloaded: 'DOMContentLoaded',
  networkidle: 'networkIdle',
} as const satisfies Record<string, Milestone>;

export const waitUntil = defineOption('waitUntil', z.enum(['load', 'domcontentloaded', 'networkidle']), {
  stage: 'load',
  documentation:
    'When the document counts as loaded: with its pictures and style sheets (load), without them (domcontentloaded), or when ' +
    'it fetches nothing more (networkidle).',
  default: 'load',
  needs: (value) => (value === 'networkidle' ? { network: true } : {}),
  load: (value) => ({ milestone: MILESTONES[value] }),
});
