import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { API_ROUTES } from '../../../src/http/app.ts';
import type { RouteDeclaration } from '../../../src/http/request/route.ts';
import { PasskeyStore } from '../../../src/tenants/members/passkey-store.ts';
import { AccountClient, newEmail, PASSWORD } from '../../support/account-client.ts';
import { SAME_ORIGIN } from '../../support/browser.ts';
import { HOSTILE_TEXTS, isAbout } from '../../support/hostile-texts.ts';
import { fieldsOf, type SchemaField } from '../../support/schema-fields.ts';
import { type Reply, send } from '../../support/send.ts';
import { callApi, type TestCaller, useApi } from './support/api.ts';

/** What is sent to a field that is tested with all texts in another route, and to passwords, whose hashes take long. */
const FEW = ['\0', '\ud800', '__proto__', '😀'];
/** Texts of fields that have a form, with the hostile text in place of the question mark. */
const EMBEDDED: readonly (readonly [RegExp, string])[] = [
  [/source\.uploadUrl$/, 'https://example.com/{row}/?'],
  [/url$/i, 'https://example.com/?'],
  [/assetOrigins\[\]$/, 'https://a?b.example'],
  [/\.email$/, 'a?@example.com'],
  [/allowedIps\[\]$/, '10.0.0.0/8?'],
  [/\.(?:margin\.\w+|width|height|pageRanges|limit|offset)$/, '1?'],
  [/\.timezone$/, 'UTC?'],
  [/\.locale$/, 'de?'],
];
/** How a text may be shown that is not shown as it was sent, in each case as the documentation says. */
const SHOWN_AS: readonly ((text: string) => string | undefined)[] = [
  (text) => text,
  (text) => text.toWellFormed(),
  (text) => text.trim(),
  (text) => URL.parse(text)?.href,
  (text) => URL.parse(text)?.origin,
];
/** Fields that are never shown again, or masked, or whose file gets a safe name. */
const NOT_SHOWN =
  /^\.(?:uploadUrl|password|email|invitation|oneTimeToken|currentPassword|newPassword|token|filename|items\[\]\.(?!id$).*|source\..*|options\.(?:assetHeaders\{\}|cookies\[\]\.value|protection\.\w+Password))$/;

/** Where a request has fields. */
const SECTIONS = ['params', 'query', 'headers', 'body'] as const;
type Section = (typeof SECTIONS)[number];
type Given = Partial<Record<Section, unknown>>;

/**
 * Sends hostile texts in each text field of each route, and in each parameter of its path and query, within a request that
 * is valid otherwise. A route that takes a body needs a valid one in BODIES.
 */
describe('Hostile texts in any field of any route', () => {
  const api = useApi({
    plan: {
      maxActiveKeys: 10_000,
      maxWaitingJobs: 1_000_000,
      monthlyRenders: 1_000_000,
      maxStoredBytes: 1024 ** 4,
      features: { callbacks: true, templateVersions: true, revealIp: true },
    },
    config: {
      PLATEN_SIGN_IN_FAILURES_PER_ACCOUNT: 1_000_000,
      PLATEN_SIGN_IN_FAILURES_PER_ADDRESS: 1_000_000,
    },
    templateBounds: { templates: 10_000, versions: 10_000 },
  });
  let caller: TestCaller;
  let owner: AccountClient;
  let ids: Readonly<Record<string, string>>;

  before(async () => {
    caller = await api.newCaller();
    owner = new AccountClient(api.url, (await api.tenants.tokens.issue(caller.accountId)).token);
    const template = await owner.expect(201, 'POST', '/user/templates', { name: 'x', content: 'x' });
    const key = await owner.expect(201, 'POST', '/user/api-keys', { name: 'x' });
    // No job ends, so that its input can be read.
    api.worker.render = () => new Promise(() => undefined);
    const made = { credentialId: 'x', name: 'x', publicKey: 'x', counter: 0 };
    const passkeys = new PasskeyStore(api.domain.connection, api.domain.clock);
    const { _id: passkeyId } = (await passkeys.add({ _id: caller.accountId }, made))!;
    const claimed = { domain: 'engines.example', issuer: 'https://login.example.com', clientId: 'x' };
    const { domain } = await owner.expect(201, 'POST', '/user/domains', claimed);
    ids = {
      domain,
      passkeys: passkeyId,
      templates: template.id,
      versionId: template.versionId,
      'api-keys': key.id,
      itemId: 'a',
    };
  });

  /** A valid body of each route that takes one. @param field in whose position another text comes. */
  const BODIES: Readonly<Record<string, (field: string) => Record<string, unknown>>> = {
    'post /v1/pdf': (field) => ({ ...documentFor(field), executionMode: 'async' }),
    'post /v1/pdf/convert': (field) => ({
      ...(field !== '.jobId' && { pdf: 'JVBERi0=' }),
      executionMode: 'async',
      ...optionsFor(field),
    }),
    'post /v1/pdf/fill': (field) => ({
      ...(field !== '.jobId' && { pdf: 'JVBERi0=' }),
      executionMode: 'async',
      values: {},
    }),
    'post /v1/pdf/flatten': (field) => ({
      ...(field !== '.jobId' && { pdf: 'JVBERi0=' }),
      executionMode: 'async',
    }),
    'post /v1/pdf/validate': (field) => (field === '.jobId' ? {} : { pdf: 'JVBERi0=' }),
    'post /user/renders': (field) => ({ ...documentFor(field), executionMode: 'async', mode: 'live' }),
    'post /user/renders/:id/share': () => ({}),
    'post /v1/pdf/batch': batchFor,
    'post /user/batches': batchFor,
    'post /auth/register': () => ({ email: newEmail(), password: PASSWORD }),
    'post /auth/login': () => ({ email: newEmail(), password: PASSWORD }),
    'post /auth/session': (field) =>
      field === '.oneTimeToken'
        ? {}
        : field.startsWith('.passkey')
          ? { passkey: { id: 'eA', clientDataJSON: 'e30', authenticatorData: 'eA', signature: 'eA' } }
          : { email: newEmail(), password: PASSWORD },
    'post /auth/password': () => ({ currentPassword: PASSWORD, newPassword: PASSWORD }),
    'post /auth/forgot': () => ({ email: newEmail() }),
    'post /auth/reset': () => ({ token: 'x'.repeat(43), password: PASSWORD }),
    'post /auth/email/verify': () => ({ token: 'x'.repeat(43) }),
    'patch /auth/session': () => ({ accountId: randomUUID() }),
    'post /auth/invitations': () => ({ token: 'x'.repeat(43) }),
    'post /auth/invitations/accept': () => ({ token: 'x'.repeat(43), password: PASSWORD }),
    'post /auth/second-factor/confirm': () => ({ code: '123456' }),
    'post /auth/passkeys': () => ({
      name: 'x',
      credential: { id: 'eA', clientDataJSON: 'e30', attestationObject: 'oA' },
    }),
    'patch /auth/passkeys/:id': () => ({ name: 'x' }),
    'patch /user/account': () => ({ name: 'x' }),
    'post /user/domains': () => ({
      domain: `${randomUUID()}.example`,
      issuer: 'https://login.example.com',
      clientId: 'x',
    }),
    'patch /user/domains/:domain': () => ({ clientId: 'x' }),
    'post /user/members/invitations': () => ({ email: newEmail(), role: 'viewer' }),
    'patch /user/members/:id': () => ({ role: 'viewer' }),
    'post /user/api-keys': () => ({ name: 'x' }),
    'patch /user/api-keys/:id': () => ({ name: 'x' }),
    'post /user/templates': (field) => ({ name: 'x', content: 'x', ...optionsFor(field) }),
    'patch /user/templates/:id': (field) => ({ name: 'x', ...optionsFor(field) }),
    'put /user/templates/:id/draft': (field) => ({ name: 'x', content: 'x', ...optionsFor(field) }),
    'post /user/templates/:id/draft/publish': () => ({}),
    'post /user/templates/preview': (field) =>
      field === '.templateId' ? {} : { content: 'x', ...optionsFor(field) },
    'post /user/webhook-deliveries/test': () => ({}),
    'post /user/webhook-deliveries/redeliver-failed': () => ({ since: new Date().toISOString() }),
  };

  /** A valid query of each route that needs one. */
  const QUERIES: Readonly<Record<string, object>> = { 'get /user/renders/zip': { ids: randomUUID() } };

  /** A document, with what the field of its options needs besides. */
  function documentFor(field: string): Record<string, unknown> {
    if (field === '.url' || field === '.templateId') return {};
    if (/^\.(?:templateVersionId|data)/.test(field)) return { templateId: ids.templates };
    return { html: 'x', ...optionsFor(field) };
  }

  function batchFor(field: string): Record<string, unknown> {
    if (field.startsWith('.source')) {
      const url = field === '.source.upload' ? {} : { url: 'https://example.com/' };
      return { source: { format: 'csv', templateId: ids.templates, ...url, ...optionsFor(field) } };
    }
    return {
      items: [
        { id: 'a', ...documentFor(field.replace('.items[]', '')) },
        { id: 'b', html: 'x' },
      ],
    };
  }

  function optionsFor(field: string): Record<string, unknown> {
    const site = field.endsWith('cookies[].domain') ? {} : { url: 'https://example.com/' };
    if (field.includes('.cookies[]')) return { options: { cookies: [{ name: 'a', value: 'b', ...site }] } };
    if (field.includes('.attachments[]'))
      return { options: { attachments: [{ name: 'a.txt', content: 'YQ==' }] } };
    if (field.includes('.einvoice.')) return { options: { einvoice: { profile: 'en16931' } } };
    if (field.includes('.watermark')) return { options: { watermark: { text: 'x' } } };
    if (/\.seal\.(?!key)/.test(field)) {
      const rect = { left: '0', top: '0', width: '5cm', height: '2cm' };
      const visible = field.includes('.visible.') && { visible: { page: 1, rect } };
      const level = field.endsWith('Url') && { level: 'B-T' };
      return { options: { seal: { key: { keyId: 'a' }, ...visible, ...level } } };
    }
    return {};
  }

  /** A template, whose schema is shown as text, in whichever form it was sent. */
  async function templateOf(id: string) {
    const template = await owner.expect(200, 'GET', `/user/templates/${id}`);
    const { message } = (await api.templates.resolve(caller.accountId, id))!;
    return { ...template, message, dataSchema: template.dataSchema && JSON.parse(template.dataSchema) };
  }

  /** What shows the texts of a request again, in the form of its body. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  const SHOWN: Readonly<Record<string, (json: any) => Promise<unknown>>> = {
    'post /v1/pdf': async ({ jobId }) => inputOf(jobId),
    'post /v1/pdf/convert': async ({ jobId }) => inputOf(jobId),
    'post /v1/pdf/fill': async ({ jobId }) => {
      const input = await inputOf(jobId);
      return { ...input, ...input.options.fill };
    },
    'post /v1/pdf/flatten': async ({ jobId }) => inputOf(jobId),
    'post /user/renders': async ({ jobId }) => inputOf(jobId),
    'post /v1/pdf/batch': batchOf,
    'post /user/batches': batchOf,
    'post /user/templates': async ({ id }) => templateOf(id),
    'patch /user/templates/:id': async ({ id }) => templateOf(id),
    'put /user/templates/:id/draft': async ({ draft }) => draft,
    'post /user/api-keys': async ({ id }) => keyOf(id),
    'patch /user/api-keys/:id': async ({ id }) => keyOf(id),
    'patch /auth/passkeys/:id': async (passkey) => passkey,
    'patch /user/account': async (account) => account,
    'post /user/webhook-deliveries/test': async ({ id }) =>
      owner.expect(200, 'GET', `/user/webhook-deliveries/${id}`),
  };

  async function batchOf({ jobId }: { jobId: string }) {
    const { job, webhookUrl } = await owner.expect(200, 'GET', `/user/batches/${jobId}`);
    const { items } = await owner.expect(200, 'GET', `/user/batches/${jobId}/items`);
    return { ...job, webhookUrl, items: [{ id: items[0].itemId }] };
  }

  /** The address of the callback is shown when the job has ended. */
  async function inputOf(jobId: string) {
    const job = await api.domain.store.live.find(jobId);
    return {
      ...(await owner.expect(200, 'GET', `/user/renders/${jobId}/input`)),
      webhookUrl: job?.webhookUrl,
    };
  }

  async function keyOf(id: string) {
    const { keys } = await owner.expect(200, 'GET', '/user/api-keys?limit=100');
    return keys.find((key: { id: string }) => key.id === id);
  }

  function request(route: RouteDeclaration, { params, query, headers, body }: Given): Promise<Reply> {
    const given = { ...idsOf(route), ...(params as object) } as Record<string, string | string[]>;
    const path = route.path.replace(/[:*](\w+)/g, (_, name: string) =>
      [given[name] ?? randomUUID()].flat().map(encoded).join('/'),
    );
    const search = Object.entries((query ?? {}) as Record<string, string>).map(
      ([name, text]) => `${name}=${encoded(text)}`,
    );
    const credentials: Record<string, Record<string, string>> = {
      apiKey: { 'x-api-key': caller.secret },
      bearer: { authorization: `Bearer ${owner.token}` },
      page: SAME_ORIGIN,
      none: {},
    };
    const all = { ...credentials[route.auth], ...(headers as Record<string, string>) };
    // An internal route is not in the API document, and not checked against it.
    const call = route.internal ? send : callApi;
    return call(api.url, route.method.toUpperCase(), `${path}?${search.join('&')}`, body, all);
  }

  function idsOf({ path }: RouteDeclaration): Record<string, string> {
    const [, , kind = ''] = path.split('/');
    return { ...ids, id: ids[kind] ?? randomUUID() };
  }

  for (const route of API_ROUTES) {
    const name = `${route.method} ${route.path}`;
    const isStream = Object.values(route.responses).some(
      ({ contentType }) => contentType === 'text/event-stream',
    );
    const fields = SECTIONS.flatMap((section) => {
      const schema = route[section];
      return schema === undefined ? [] : [...fieldsOf(schema)].map((field) => ({ section, field }));
    }).filter(
      ({ section, field }) =>
        (field.kind === 'text' || (section !== 'body' && field.kind === 'other')) &&
        !isRefusedAsWhole(route, field),
    );
    // A stream does not end, and its header cannot hold anything that is tested here.
    if (fields.length === 0 || isStream) continue;

    it(`${name}: each is stored as sent, or rejected with its path`, async () => {
      const problems: string[] = [];
      for (const { section, field } of fields) {
        const texts = isTestedElsewhere(route, field) ? FEW : HOSTILE_TEXTS;
        for (const hostile of texts) {
          for (const text of embedded(hostile, field)) {
            if (section === 'headers' && !isSendable(text)) continue;
            // Zod leaves out this name of a record, as the prototype that it would be.
            if (field.path.endsWith('{name}') && text === '__proto__') continue;
            const problem = await problemOf(route, section, field, text);
            if (problem)
              problems.push(`${section}${field.path} = ${JSON.stringify(text).slice(0, 80)}: ${problem}`);
          }
        }
      }
      assert.deepEqual(problems, []);
    });
  }

  async function problemOf(route: RouteDeclaration, section: Section, field: SchemaField, text: string) {
    const name = `${route.method} ${route.path}`;
    const body = route.body === undefined ? undefined : BODIES[name]?.(section === 'body' ? field.path : '');
    if (route.body !== undefined && body === undefined) return 'this test needs a valid body of the route';
    const valid: Given = { ...(body !== undefined && { body }), query: QUERIES[name] };
    const reply = await request(route, { ...valid, [section]: field.place(text, valid[section]) });
    if (reply.status >= 500) return `${reply.status} ${Buffer.from(reply.bytes)}`;
    if (reply.status >= 400) {
      const { code, message } = reply.json;
      const errors = [message].flat() as string[];
      if (code !== 'VALIDATION' || errors[0] === 'The path is not validly encoded.') return undefined;
      return errors.some((error) => isAbout(error, field.path, text))
        ? undefined
        : errors.join('; ').slice(0, 200);
    }
    const shown = SHOWN[name];
    if (section !== 'body' || shown === undefined || NOT_SHOWN.test(field.path)) return undefined;
    const found = await shown(reply.json);
    const isShown = SHOWN_AS.some((as) => field.isIn(found, as(text) ?? text));
    return isShown ? undefined : `shown as ${JSON.stringify(found).slice(0, 200)}`;
  }
});

/** Whether another route has the same schema of the field and does the same with it, or the field is a password. */
function isTestedElsewhere({ path }: RouteDeclaration, field: SchemaField): boolean {
  if (/assword$/.test(field.path)) return true;
  return (
    ['/user/renders', '/user/batches'].includes(path) ||
    (path !== '/v1/pdf' && field.path.includes('.options.'))
  );
}

/** Whether the field is in an option that no template, or no conversion, may have, whatever is in it. */
function isRefusedAsWhole({ path, method }: RouteDeclaration, field: SchemaField): boolean {
  if (path === '/v1/pdf/convert' && field.path.includes('.seal.visible')) return true;
  if (field.path.startsWith('.source.options.einvoice')) return true;
  const saves = `${method} ${path}`;
  return (
    /^(post|patch|put) \/user\/templates(\/:id(\/draft)?)?$/.test(saves) &&
    /\.(cookies|assetHeaders|protection|einvoice\.(?:xml|data))\b/.test(field.path)
  );
}

/** The text in one that the field might have, and by itself where that is a name with a meaning, or one is wanted. */
function embedded(text: string, { path }: SchemaField): string[] {
  const [, around = 'x?y'] = EMBEDDED.find(([fields]) => fields.test(path)) ?? [];
  const within = around.replace('?', () => text);
  if (path.endsWith('sampleData')) return [text, JSON.stringify({ [text]: text })];
  return /^[\w$.]+$/.test(text) ? [text, within] : [within];
}

/** Percent-encoded; a lone surrogate as the bytes that it would have. */
function encoded(text: string): string {
  return [...text].map((each) => (each.isWellFormed() ? encodeURIComponent(each) : '%ED%A0%80')).join('');
}

/** Whether HTTP has a way to send the text in a header. */
function isSendable(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
