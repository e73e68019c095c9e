export const OF_KUBERNETES = Symbol('a type of Kubernetes');

/** A schema as it stands in a CustomResourceDefinition. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  /** Marks the schema of a type of Kubernetes' own API; YAML has no such keys, so it is in no definition. */
  readonly [OF_KUBERNETES]?: true;
  readonly [keyword: string]: unknown;
}
