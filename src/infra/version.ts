import about from '../../package.json' with { type: 'json' };

/** What a process was built from, and the Node that runs it. */
export interface Build {
  readonly version: string;
  /** The Git commit that it was built from; `unknown` when the build did not know it, or from the sources. */
  readonly commit: string;
  /** The version of Node, without a leading v. */
  readonly node: string;
}

export const BUILD: Build = {
  version: about.version,
  // The bundler replaces it (scripts/bundle.ts): it is no setting of a process.
  commit: process.env.PLATEN_BUILD_COMMIT ?? 'unknown',
  node: process.versions.node,
};
