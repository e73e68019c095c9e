import type { z } from 'zod';
import type { CelRule } from './schema-fields.ts';

/** A column of `kubectl get`; one of priority 1 is shown with `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'number' | 'boolean';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: 0 | 1;
}

/** A column of texts, unless it is said to be of another type. */
export function column(
  name: string,
  jsonPath: string,
  description: string,
  further: Partial<Pick<PrinterColumn, 'type' | 'priority'>> = {},
): PrinterColumn {
  return { name, type: 'string', jsonPath, ...further, description };
}

/** Everything that the CustomResourceDefinition of a kind is made of. */
export interface ResourceDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  /** About the object as a whole: of its metadata, rules can use only the name. */
  readonly rules: readonly CelRule[];
  readonly columns: readonly PrinterColumn[];
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath: string;
  };
}

/** The last columns of every kind. */
export const COMMON_COLUMNS: readonly PrinterColumn[] = [
  column('Status', '.status.conditions[?(@.type=="Ready")].reason', 'Ready, or what is the matter'),
  column('Managed by', '.status.managedBy', 'The installation that manages it', { priority: 1 }),
  column('Age', '.metadata.creationTimestamp', 'Since it was made', { type: 'date' }),
];
