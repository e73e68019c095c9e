import type { EventRecorder } from '../infra/kube/client/event-recorder.ts';
import { keyOf } from '../infra/kube/client/kube-object.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { EVENTS } from './resources/events.ts';
import {
  assigneeOf,
  INSTALLATION,
  type Installation,
  isManageable,
  managerOf,
} from './resources/installation.ts';
import type { RenderPlan, RenderPool } from './resources/kinds.ts';

interface Deps {
  readonly installation: Installation;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Reports, once for each object and state, that another installation manages a plan or a pool, or that this one manages
 * it although it is assigned to another, which may be a typing error. By an event and the log: the object of another, its
 * status included, is the other's alone.
 */
export function managedReporter({ installation, events, logger }: Deps) {
  const reported = new Map<string, string>();
  const { id } = installation;
  return (object: RenderPlan | RenderPool): void => {
    const { kind, metadata } = object;
    const key = `${kind} ${keyOf(metadata)}`;
    const manager = managerOf(object);
    const assignee = assigneeOf(object);
    const isElsewhere = !isManageable(object, installation);
    if (!isElsewhere && (assignee === undefined || assignee === id)) {
      reported.delete(key);
      return;
    }
    const state = JSON.stringify([manager, assignee]);
    if (reported.get(key) === state) return;
    reported.set(key, state);
    const reason = isElsewhere ? 'ManagedElsewhere' : 'HandOverPending';
    const command = `kubectl -n ${metadata.namespace} annotate ${kind.toLowerCase()} ${metadata.name} --overwrite ${INSTALLATION}=`;
    const note = isElsewhere
      ? `The installation ${manager} manages this ${kind}, so the installation ${id}, which watches the namespace as well, leaves it alone. To hand it over: ${command}${id}`
      : `The annotation ${INSTALLATION} hands this ${kind} over to the installation ${assignee}, which has not taken it yet. Until it does, ${id} manages it.`;
    const message = isElsewhere
      ? 'another installation manages an object'
      : 'an object is assigned to another installation, which has not taken it yet';
    logger.warn({ kind, key: keyOf(metadata), manager, assignee }, message);
    events.record(object, { type: EVENTS[reason].type, reason, action: 'Reconcile', note });
  };
}
