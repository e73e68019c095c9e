/** The embedded databases. */
const ENGINES = ['mongod', 'mongo-java-server'] as const;
export type Engine = (typeof ENGINES)[number];

/** A given engine, or `auto` for the first one that is available. */
export const ENGINE_CHOICES = ['auto', ...ENGINES] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];
