/** What an embedded database may be. */
export const ENGINES = ['mongod', 'mongo-java-server'] as const;
export type Engine = (typeof ENGINES)[number];

/** What can be asked for: an engine, or the first of them that can be had. */
export const ENGINE_CHOICES = ['auto', ...ENGINES] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];
