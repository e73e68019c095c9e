import { type Document, docstring, type Models, type Operation, type Schema, snakeCase } from './models.ts';

/** What methods are called where that does not follow from the path. */
const NAMES: Readonly<Record<string, string>> = {
  getAccount: 'me',
  getBatchMetrics: 'batch_metrics',
  previewUpgrade: 'upgrade_preview',
  signOut: 'sign_out',
  checkOut: 'checkout',
  buyOverage: 'buy_overage',
  setAutoOverage: 'set_auto_overage',
  endSession: 'end_session',
  revokeApiKey: 'revoke_api_key',
  cancelUserBatch: 'cancel_batch',
  cancelUserRender: 'cancel_render',
  shareUserRender: 'share_render',
};
/** Those of browsers: whoever has an access token has no such session to end. */
const LEFT_OUT = ['endCurrentSession'];
const VERBS: Readonly<Record<string, string>> = {
  get: 'get',
  post: 'create',
  patch: 'update',
  put: 'replace',
  delete: 'delete',
};
const PARAMETER = /\{(\w+)\}/g;

interface Method {
  readonly name: string;
  readonly text: string;
  /** What of the models it names. */
  readonly annotations: string;
}

/** The Python module with a method for each route that takes an access token and responds with JSON. */
export function accountModule(document: Document, models: Models): string {
  const routes = Object.entries(document.paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([verb, operation]) => ({ path, verb, operation })),
    )
    .filter(({ operation: { security, operationId } }) => {
      return security?.some((scheme) => 'bearer' in scheme) && !LEFT_OUT.includes(operationId);
    });
  const names = routes.map(nameOf);
  const methods = routes
    .map((route, i) => {
      // Of two routes with one name each has that of its operation: no other route of the API is held up by that.
      const isUnique = names.filter((name) => name === names[i]).length === 1;
      return methodOf(document, models, route, isUnique ? names[i]! : route.operation.operationId);
    })
    .filter((method) => method !== undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const used = models.names().filter((name) => methods.some(({ annotations }) => isIn(name, annotations)));
  const imports = used
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map((name) => `    ${name},`);
  return `${HEADER.replace('MODELS', imports.join('\n'))}${methods.map(({ text }) => text).join('\n')}`;
}

const isIn = (name: string, text: string) => new RegExp(`\\b${name}\\b`).test(text);

interface Route {
  readonly path: string;
  readonly verb: string;
  readonly operation: Operation;
}

function methodOf(document: Document, models: Models, route: Route, name: string): Method | undefined {
  const { path, verb, operation } = route;
  const responses = responsesOf(operation);
  if (responses === undefined) return undefined;
  const bodies = responses.filter((model) => !models.isEmpty(model));
  const result = bodies.length === 0 ? 'None' : bodies.join(' | ');

  const inPath = [...path.matchAll(PARAMETER)].map(([, name]) => ({
    name: name!,
    as: pathName(path, name!),
  }));
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const body = bodyOf(document, operation);
  const arguments_ = [
    ...query.map(({ name, required = false, schema }) => ({ name, required, schema })),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
      name,
      required: body?.required?.includes(name) ?? false,
      schema,
    })),
  ].map(({ name, required, schema }) => {
    const annotation = models.requestType(schema, `${operation.operationId}.${name}`);
    const type = required || annotation.endsWith(' | None') ? annotation : `${annotation} | None`;
    return { name, required, as: snakeCase(name), type, doc: schema.description };
  });
  const parameters = [
    'self',
    ...inPath.map(({ as }) => `${as}: str`),
    ...(arguments_.length === 0 ? [] : ['*']),
    ...arguments_.map(({ as, type, required }) => `${as}: ${type}${required ? '' : ' = None'}`),
  ];
  const values = (names: readonly string[]) =>
    `{${arguments_
      .filter(({ name }) => names.includes(name))
      .map(({ name, as }) => `"${name}": ${as}`)
      .join(', ')}}`;
  const address = path.replace(PARAMETER, (_, name: string) => `{quote(${pathName(path, name)}, safe='')}`);
  const sent = [
    `"${verb.toUpperCase()}"`,
    `${inPath.length > 0 ? 'f' : ''}"${address}"`,
    ...(query.length > 0 ? [`query=${values(query.map(({ name }) => name))}`] : []),
    ...(body !== undefined ? [`body=${values(Object.keys(body.properties ?? {}))}`] : []),
  ];
  const described = arguments_.filter(({ doc }) => doc !== undefined);
  const text = [
    `    async def ${name}(`,
    ...parameters.map((parameter) => `        ${parameter},`),
    `    ) -> ${result}:`,
    ...methodDoc(operation, described),
    `        ${bodies.length === 0 ? '' : 'response = '}await self._send(`,
    ...sent.map((argument) => `            ${argument},`),
    '        )',
    ...decoding(bodies),
    '',
  ];
  return { name, text: text.join('\n'), annotations: `${parameters.join()} ${result}` };
}

/** The models of what the route responds with when it succeeds; undefined when that is not JSON of models. */
function responsesOf({ responses }: Operation): string[] | undefined {
  const schemas = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.entries(content))
    .flatMap(([mediaType, { schema }]) =>
      mediaType === 'application/json' ? (schema.anyOf ?? [schema]) : [{}],
    );
  const models = schemas.map(({ $ref }) => $ref?.split('/').at(-1));
  return models.length > 0 && models.every((model) => model !== undefined) ? models : undefined;
}

function decoding(models: readonly string[]): string[] {
  if (models.length === 0) return [];
  if (models.length === 1) return [`        return decoded(${models[0]}, response.body)`];
  const first = `decoded_first((${models.join(', ')}), response.body)`;
  return [`        result: ${models.join(' | ')} = ${first}`, '        return result'];
}

function bodyOf(document: Document, { requestBody }: Operation): Schema | undefined {
  const schema = requestBody?.content?.['application/json']?.schema;
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}

function methodDoc(
  operation: Operation,
  described: readonly { as: string; doc: string | undefined }[],
): string[] {
  const words = [operation.summary, operation.description].filter((text) => text !== undefined);
  const lines = docstring(words.map((text) => (text.endsWith('.') ? text : `${text}.`)).join(' '), 8);
  if (described.length === 0) return lines;
  const given = described.map(({ as, doc }) => docstring(`${as}: ${doc}`, 16).join('\n').trim().slice(3, -3));
  return [
    ...lines.map((line) => line.replace(/"""$/, '')),
    '',
    '        Args:',
    ...given.map((line) => `            ${line}`),
    '        """',
  ];
}

/** `GET /user/api-keys/{id}/versions` as `get_api_key_versions`, `POST …/{id}/rotate` as `rotate_…`. */
function nameOf({ path, verb, operation }: Route): string {
  const given = NAMES[operation.operationId];
  if (given !== undefined) return given;
  const segments = path.split('/').slice(2);
  const last = segments.at(-1)!;
  const isOne = last.startsWith('{');
  const nouns = segments
    .filter((segment) => !segment.startsWith('{'))
    .map((segment) => segment.replaceAll('-', '_'));
  if (isOne) return `${VERBS[verb]}_${nouns.map(singular).join('_')}`;
  const owners = nouns.slice(0, -1).map(singular);
  const noun = nouns.at(-1)!;
  if (verb === 'get') return ['get', ...owners, noun].join('_');
  if (verb !== 'post') return [VERBS[verb], ...owners, noun].join('_');
  // Something is created, or there is a verb in the path.
  return noun.endsWith('s') ? ['create', ...owners, singular(noun)].join('_') : [noun, ...owners].join('_');
}

function singular(noun: string): string {
  return noun
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x)es$/, '$1')
    .replace(/s$/, '');
}

/** `{id}` of `/user/api-keys/{id}` as `api_key_id`. */
function pathName(path: string, parameter: string): string {
  if (parameter !== 'id') return snakeCase(parameter);
  const before = path.split('/{id}')[0]!.split('/').at(-1)!;
  return `${singular(before.replaceAll('-', '_'))}_id`;
}

const HEADER = `# Made by \`make generate\` from docs/openapi.json; do not edit.
"""A method for each route that takes an access token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from .._decoding import decoded, decoded_first
from ..models import (
MODELS
)
from .transport import Response


class AsyncAccountRoutes:
    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Response:
        raise NotImplementedError

`;
