import { readFile } from 'node:fs/promises';

/** A call of the API server, as its audit log has it. */
export interface AuditedCall {
  readonly verb: string;
  readonly apiGroup: string;
  /** `deployments`, `renderpools/status` */
  readonly resource: string;
  readonly namespace: string;
  /** Empty for calls that are about no single object, and for objects that are made. */
  readonly name: string;
  /** Of the response. */
  readonly code: number;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/**
 * The requests of a service account to an API server so far, oldest first; a watch is listed when it begins, and again
 * when it ends.
 *
 * @param user `system:serviceaccount:NAMESPACE:NAME`
 */
export async function callsOf(auditLog: string, user: string): Promise<AuditedCall[]> {
  const lines = (await readFile(auditLog, 'utf8')).split('\n').filter(Boolean);
  return lines.flatMap((line) => {
    const { verb, user: by, objectRef, responseStatus } = JSON.parse(line) as AuditEvent;
    if (by.username !== user || objectRef === undefined) return [];
    const { apiGroup = '', resource = '', subresource, namespace = '', name = '' } = objectRef;
    const path = subresource === undefined ? resource : `${resource}/${subresource}`;
    return [{ verb, apiGroup, resource: path, namespace, name, code: responseStatus?.code ?? 0 }];
  });
}

/** A rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** @returns each right that the rules give and no call needed, as `verb resource.group` and the object's name. */
export function unusedRights(rules: readonly Rule[], calls: readonly AuditedCall[]): string[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
    apiGroups.flatMap((apiGroup) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) =>
          verbs
            .filter((verb) => !calls.some((call) => needs(call, { apiGroup, resource, name, verb })))
            .map((verb) => `${verb} ${resource}${apiGroup && `.${apiGroup}`}${name && ` ${name}`}`),
        ),
      ),
    ),
  );
}

function needs(
  call: AuditedCall,
  right: Pick<AuditedCall, 'apiGroup' | 'resource' | 'name' | 'verb'>,
): boolean {
  if (call.apiGroup !== right.apiGroup || call.resource !== right.resource) return false;
  if (right.name !== '' && call.name !== right.name) return false;
  // An apply that makes its object needs both.
  return call.verb === right.verb || (right.verb === 'create' && call.verb === 'patch' && call.code === 201);
}
