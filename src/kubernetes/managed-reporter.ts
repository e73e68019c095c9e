import type { Logger } from '../telemetry/logger.ts';
import { EVENTS } from './resources/events.ts';
import { INSTALLATION, type Installation, managerOf } from './resources/installation.ts';
import type { RenderPlan, RenderPool } from './resources/kinds.ts';
import type { EventRecorder } from './runtime/client/event-recorder.ts';
import { keyOf } from './runtime/client/kube-object.ts';

interface Deps {
  readonly installation: Installation;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Reports, once for each object and manager, that another installation manages a plan or a pool. By an event and the
 * log: the object itself, its status included, is the other's alone.
 */
export function managedReporter({ installation, events, logger }: Deps) {
  const reported = new Map<string, string | undefined>();
  return (object: RenderPlan | RenderPool): void => {
    const { kind, metadata } = object;
    const key = `${kind} ${keyOf(metadata)}`;
    const manager = managerOf(object);
    if (reported.get(key) === manager) return;
    reported.set(key, manager);
    const { id } = installation;
    const note = `The installation ${manager} manages this ${kind}, so the installation ${id}, which watches the namespace as well, leaves it alone. To hand it over: kubectl -n ${metadata.namespace} annotate ${kind.toLowerCase()} ${metadata.name} --overwrite ${INSTALLATION}=${id}`;
    logger.warn({ kind, key: keyOf(metadata), manager }, 'another installation manages an object');
    const reason = 'ManagedElsewhere';
    events.record(object, { type: EVENTS[reason].type, reason, action: 'Reconcile', note });
  };
}
