import type { HealthChecks } from './api-part.ts';
import type { Part } from './part.ts';
import { type Platform, platformProblems } from './platform.ts';

/** The health of a process: of what is common, and of each of its parts. `parts` may still grow. */
export function healthOf(platform: Platform, parts: readonly Part[]): HealthChecks {
  return {
    async readiness() {
      const problems = await platformProblems(platform);
      for (const part of parts) problems.push(...(await part.problems()));
      return { ready: problems.length === 0, problems };
    },
    liveness() {
      const problem = parts.map((part) => part.stuck()).find((stuck) => stuck !== undefined);
      return problem === undefined ? { live: true } : { live: false, problem };
    },
  };
}
