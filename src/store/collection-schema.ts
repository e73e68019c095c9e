import { Schema, type SchemaDefinition, type SchemaOptions } from 'mongoose';

/** A collection's schema: documents are kept as they are written, and nothing but ensureIndexes creates anything. */
export function collectionSchema<T>(
  collection: string,
  fields: SchemaDefinition,
  more: SchemaOptions = {},
): Schema<T> {
  const options = { versionKey: false, minimize: false, autoIndex: false, autoCreate: false } as const;
  return new Schema(fields, { ...options, ...more, collection } as SchemaOptions) as unknown as Schema<T>;
}
