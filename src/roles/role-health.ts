import { type Core, coreProblems } from './core.ts';
import type { Component } from './process/component.ts';
import type { HealthChecks, LifePhase } from './process/health-checks.ts';
import { withoutHosts } from './process/without-hosts.ts';

/**
 * The health of a process: of its core, and of each of its components. `components` may still grow.
 *
 * A process is ready when it can do what it is requested to do. An API can without the bus: the dispatcher publishes
 * later what it could not. A worker or dispatcher gets its work by the bus, so a new one is not ready until it has
 * connected once, or a rollout with a wrong password would succeed. From then on it stays ready: replacing it would
 * gain nothing, and it has work to finish.
 */
export function healthOf(core: Core, components: readonly Component[], phase: () => LifePhase): HealthChecks {
  const browserOf = () => components.find((component) => component.browser !== undefined)?.browser;
  let mayLackBus = core.role === 'api';
  return {
    async readiness() {
      const problems = await coreProblems(core);
      const busProblem = core.bus.problem();
      mayLackBus ||= busProblem === undefined;
      const lacks = busProblem === undefined ? [] : [`bus: ${busProblem}`];
      if (!mayLackBus) problems.push(...lacks);
      if (phase() !== 'running') problems.push(`the process is ${phase()}`);
      for (const component of components) problems.push(...(await component.problems()));
      const browser = browserOf();
      return {
        ready: problems.length === 0,
        problems: problems.map(withoutHosts),
        ...(mayLackBus && lacks.length > 0 && { lacks: lacks.map(withoutHosts) }),
        ...(browser && { browser }),
      };
    },
    browserVersion: () => browserOf()?.version,
    liveness() {
      const problem = components.map((component) => component.stuck()).find((stuck) => stuck !== undefined);
      return problem === undefined ? { live: true } : { live: false, problem };
    },
  };
}
