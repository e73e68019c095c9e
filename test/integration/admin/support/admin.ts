import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openAdmin } from '../../../../src/admin/open-admin.ts';
import { Operators, parseOperatorTokens } from '../../../../src/config/operators.ts';
import { operatorAuthenticator } from '../../../../src/http/admin/authenticate-operator.ts';
import { adminRoutes } from '../../../../src/http/admin/routes.ts';
import { createOpsApp } from '../../../../src/http/ops-app.ts';
import { type ErrorCode, PlatenError } from '../../../../src/infra/errors/registry.ts';
import { ChangeGate } from '../../../../src/infra/overload/change-gate.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Reply, send } from '../../../support/send.ts';
import { openApi, type TestApi, type TestCaller } from '../../http/support/api.ts';

export const ANNA = 'a'.repeat(32);
export const BEN = 'b'.repeat(32);
export const TOKENS = `anna:${ANNA}, ben:${BEN}`;

/** Stands for whatever belongs to a tenant. */
export const MARKER = 'MARKED-FOR-ITS-ACCOUNT';
/** A render with the marker wherever a caller may write something. */
export const SECRET = {
  html: `<p>${MARKER}</p>`,
  executionMode: 'async',
  filename: `${MARKER}.pdf`,
  options: {
    headerTemplate: `<p>${MARKER}</p>`,
    displayHeaderFooter: true,
    cookies: [{ name: 'session', value: MARKER, url: 'https://example.com/' }],
    assetHeaders: { authorization: MARKER },
    assetOrigins: ['https://example.com'],
  },
};

export interface TestAdmin {
  readonly url: string;
  /** The bodies of all responses so far. */
  readonly seen: string[];
  /** As anna, unless there are other headers. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** @returns the JSON of a response with 200. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  ok(method: string, path: string, body?: unknown): Promise<any>;
  /** The rows of all pages of a list; the path has a query already, or none. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of every list
  allRows(path: string): Promise<any[]>;
  /** What operators did, of one kind. */
  audited(action: string): Promise<AuditedAct[]>;
  /** Lets jobs of a new account fail. */
  failedJobs(
    count: number,
    code?: ErrorCode,
  ): Promise<{ ids: string[]; caller: TestCaller; accountId: string }>;
  /** Fails when any response has had something that an account has sent. */
  assertNothingMarked(): void;
  close(): Promise<void>;
}

/**
 * An API with its administration for the tests of one `describe`, there from its `before` on. Each test finds renders that
 * succeed. Fails when any response has had something that an account has sent.
 */
export function useAdmin(): { readonly api: TestApi; readonly admin: TestAdmin } {
  const opened = {} as { api: TestApi; admin: TestAdmin };
  before(async () => {
    opened.api = await openApi();
    opened.admin = await serveAdmin(opened.api);
  });
  after(async () => {
    try {
      opened.admin.assertNothingMarked();
    } finally {
      await opened.admin.close();
      await opened.api.close();
    }
  });
  afterEach(() => {
    opened.api.worker.render = async () => ({ pages: 1 });
  });
  return opened;
}

interface AuditedAct {
  readonly action: string;
  readonly operator: string;
  readonly accountId: string | null;
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, string>>;
}

/** The port of operations of an API, with the administration. */
export async function serveAdmin(api: TestApi): Promise<TestAdmin> {
  const opened = openAdmin(api.core, api.deps, api.services);
  const app = createOpsApp(api.deps, {
    routes: adminRoutes,
    authenticate: operatorAuthenticator(new Operators(parseOperatorTokens(TOKENS))),
    changes: new ChangeGate({ problem: () => undefined, flush: async () => {} }),
    admin: () => opened,
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const seen: string[] = [];
  const call: TestAdmin['call'] = async (
    method,
    path,
    body,
    headers = { authorization: `Bearer ${ANNA}` },
  ) => {
    const reply = await send(url, method, path, body, headers);
    seen.push(Buffer.from(reply.bytes).toString());
    return reply;
  };
  const admin: TestAdmin = {
    url,
    seen,
    call,
    async ok(method, path, body) {
      const reply = await call(method, path, body);
      if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${seen.at(-1)}`);
      return reply.json;
    },
    async allRows(path) {
      const rows: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const next: string = cursor === '' ? '' : `${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
        const page = await admin.ok('GET', path + next);
        rows.push(...page.rows);
        cursor = page.cursor;
      }
      return rows;
    },
    async audited(action) {
      const entries: AuditedAct[] = await admin.allRows('/admin/api/audit?limit=200');
      return entries.filter((entry) => entry.action === action);
    },
    async failedJobs(count, code = 'URL_UNREACHABLE') {
      api.worker.render = async () => ({ fails: new PlatenError(code, `No ${MARKER}`) });
      const caller = await api.newCaller();
      const ids: string[] = [];
      for (let i = 0; i < count; i += 1) {
        const reply = await caller.render(SECRET);
        assert.equal(reply.status, 202, Buffer.from(reply.bytes).toString());
        ids.push(reply.json.jobId);
      }
      await eventually('all of them have failed', async () => {
        const found = await api.domain.store.history.some(ids);
        return found.filter((job) => job.state === 'failed').length === count;
      });
      api.worker.render = async () => ({ pages: 1 });
      return { ids, caller, accountId: caller.accountId };
    },
    assertNothingMarked() {
      assert.ok(seen.length > 3);
      for (const body of seen) assert.ok(!body.includes(MARKER), body);
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return admin;
}
