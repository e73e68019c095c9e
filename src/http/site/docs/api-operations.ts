/** What the reference is made of: an OpenAPI 3.1 document, as far as it reads it. */
export interface OpenApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}
export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: OpenApiSchema;
  }[];
  readonly requestBody?: { readonly description?: string; readonly content: OpenApiContent };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}
interface OpenApiResponse {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>;
  readonly content?: OpenApiContent;
}
export type OpenApiContent = Readonly<
  Record<string, { readonly schema?: OpenApiSchema; readonly example?: unknown }>
>;
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly items?: OpenApiSchema;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly allOf?: readonly OpenApiSchema[];
}

/** An operation of the API, or a callback that the service sends. */
export interface Operation {
  readonly slug: string;
  readonly method: string;
  /** Of the API; of a callback its name. */
  readonly path: string;
  readonly isCallback: boolean;
  readonly declared: OpenApiOperation;
}

/** @returns all operations in the order of the document, then the callbacks. */
export function operationsOf({ paths, webhooks }: OpenApiDocument): Operation[] {
  const found = (all: OpenApiDocument['paths'], isCallback: boolean) =>
    Object.entries(all).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, declared]) => ({
        slug: `api/${isCallback ? 'webhooks' : 'operations'}/${declared.operationId.toLowerCase()}`,
        method: method.toUpperCase(),
        ...{ path, isCallback, declared },
      })),
    );
  return [...found(paths, false), ...found(webhooks, true)];
}
