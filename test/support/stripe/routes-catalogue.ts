import { invalidRequest } from './api-error.ts';
import { API_VERSION, type Books, take } from './books.ts';
import { merged } from './params.ts';
import type * as R from './records.ts';
import { type Call, page, type Route, route } from './route.ts';

/** Products, prices, and the settings of an account: what `platen billing setup` makes. */
export const CATALOGUE_ROUTES: readonly Route[] = [
  route('POST', '/v1/products', createProduct),
  route('GET', '/v1/products', listProducts),
  route('GET', '/v1/products/:id', (call) => got(call, call.books.products, 'product')),
  route('POST', '/v1/products/:id', updateProduct),
  route('POST', '/v1/prices', createPrice),
  route('GET', '/v1/prices', listPrices),
  route('GET', '/v1/prices/:id', (call) => got(call, call.books.prices, 'price')),
  route('POST', '/v1/prices/:id', updatePrice),
  route('POST', '/v1/webhook_endpoints', createEndpoint),
  route('GET', '/v1/webhook_endpoints', listEndpoints),
  route('GET', '/v1/webhook_endpoints/:id', (call) => got(call, call.books.endpoints, 'webhook endpoint')),
  route('POST', '/v1/webhook_endpoints/:id', updateEndpoint),
  route('DELETE', '/v1/webhook_endpoints/:id', deleteEndpoint),
  route('POST', '/v1/billing_portal/configurations', createConfiguration),
  route('GET', '/v1/billing_portal/configurations', listConfigurations),
  route('POST', '/v1/billing_portal/configurations/:id', updateConfiguration),
  route('POST', '/v1/billing_portal/sessions', createPortalSession),
];

/** Responds with the object of the path's first id. */
export function got<T extends object>({ params, ids }: Call, table: ReadonlyMap<string, T>, what: string): T {
  params.end();
  return take(table, ids[0]!, what);
}

function createProduct({ books, params }: Call): R.Product {
  const row = {
    name: params.needed('name'),
    description: params.text('description') ?? null,
    active: params.flag('active') ?? true,
    metadata: params.metadata() ?? {},
  };
  const id = params.text('id');
  params.text('statement_descriptor');
  params.text('unit_label');
  params.text('tax_code');
  params.end();
  if (id !== undefined && books.products.has(id))
    throw invalidRequest(`Product already exists with that id: ${id}`, 'resource_already_exists', 'id');
  const made = books.row('prod', 'product');
  const product: R.Product = { ...made, ...(id !== undefined && { id }), ...row };
  books.products.set(product.id, product);
  return product;
}

function listProducts(call: Call) {
  const active = call.params.flag('active');
  const ids = call.params.texts('ids');
  return page(
    call,
    '/v1/products',
    call.books.products.values(),
    (product) =>
      (active === undefined || product.active === active) && (ids.length === 0 || ids.includes(product.id)),
  );
}

function updateProduct({ books, params, ids }: Call): R.Product {
  const product = take(books.products, ids[0]!, 'product');
  const name = params.text('name') ?? product.name;
  const description = params.text('description') ?? product.description;
  const active = params.flag('active') ?? product.active;
  const metadata = merged(product.metadata, params.metadata());
  params.end();
  return Object.assign(product, { name, description, active, metadata });
}

function createPrice({ books, params }: Call): R.Price {
  const product = params.needed('product');
  const recurring = params.within('recurring');
  const row = {
    currency: params.needed('currency'),
    unit_amount: params.integer('unit_amount') ?? 0,
    lookup_key: params.text('lookup_key') ?? null,
    metadata: params.metadata() ?? {},
    nickname: params.text('nickname') ?? null,
    active: params.flag('active') ?? true,
    tax_behavior: params.oneOf('tax_behavior', ['exclusive', 'inclusive', 'unspecified']) ?? 'unspecified',
    recurring:
      recurring === undefined
        ? null
        : {
            interval: recurring.oneOf('interval', ['month', 'year']) ?? 'month',
            interval_count: recurring.integer('interval_count') ?? 1,
            usage_type: recurring.oneOf('usage_type', ['licensed']) ?? ('licensed' as const),
          },
  };
  const transfer = params.flag('transfer_lookup_key') ?? false;
  params.end();
  take(books.products, product, 'product');
  takeLookupKey(books, row.lookup_key, transfer);
  const type = row.recurring === null ? 'one_time' : 'recurring';
  const price: R.Price = { ...books.row('price', 'price'), ...row, product, type };
  books.prices.set(price.id, price);
  return price;
}

/** A lookup key names one price: another has it only by taking it over. */
function takeLookupKey(books: Books, key: string | null, transfer: boolean): void {
  const holder = [...books.prices.values()].find((price) => key !== null && price.lookup_key === key);
  if (holder === undefined) return;
  if (!transfer)
    throw invalidRequest(`A price (${holder.id}) already uses that lookup key.`, 'resource_already_exists');
  holder.lookup_key = null;
}

function listPrices(call: Call) {
  const keys = call.params.texts('lookup_keys');
  const active = call.params.flag('active');
  const product = call.params.text('product');
  if (keys.length > 10)
    throw invalidRequest('At most 10 lookup keys can be asked for.', undefined, 'lookup_keys');
  return page(
    call,
    '/v1/prices',
    call.books.prices.values(),
    (price) =>
      (keys.length === 0 || keys.includes(price.lookup_key ?? '')) &&
      (active === undefined || price.active === active) &&
      (product === undefined || price.product === product),
  );
}

function updatePrice({ books, params, ids }: Call): R.Price {
  const price = take(books.prices, ids[0]!, 'price');
  const key = params.text('lookup_key');
  const transfer = params.flag('transfer_lookup_key') ?? false;
  const active = params.flag('active') ?? price.active;
  const nickname = params.text('nickname') ?? price.nickname;
  const metadata = merged(price.metadata, params.metadata());
  params.end();
  if (key !== undefined && key !== price.lookup_key) takeLookupKey(books, key, transfer);
  return Object.assign(price, {
    active,
    nickname,
    metadata,
    lookup_key: key === '' ? null : (key ?? price.lookup_key),
  });
}

function createEndpoint({ books, params }: Call): R.WebhookEndpoint {
  const row = {
    url: params.needed('url'),
    api_version: params.text('api_version') ?? null,
    enabled_events: [...params.texts('enabled_events')],
    description: params.text('description') ?? null,
    metadata: params.metadata() ?? {},
  };
  params.end();
  if (row.enabled_events.length === 0)
    throw invalidRequest('Missing required param: enabled_events.', undefined, 'enabled_events');
  if (row.api_version !== null && row.api_version !== API_VERSION)
    throw invalidRequest(`Invalid API version: ${row.api_version}`, undefined, 'api_version');
  const made = books.row('we', 'webhook_endpoint');
  const endpoint: R.WebhookEndpoint = { ...made, ...row, status: 'enabled', secret: `whsec_${made.id}` };
  books.endpoints.set(endpoint.id, endpoint);
  return endpoint;
}

/** Stripe returns the secret once, when the endpoint is made. */
function listEndpoints(call: Call) {
  const list = page(call, '/v1/webhook_endpoints', call.books.endpoints.values());
  return { ...list, data: list.data.map(({ secret: _, ...reported }) => reported) };
}

function updateEndpoint({ books, params, ids }: Call): object {
  const endpoint = take(books.endpoints, ids[0]!, 'webhook endpoint');
  const url = params.text('url') ?? endpoint.url;
  const events = params.has('enabled_events') ? [...params.texts('enabled_events')] : endpoint.enabled_events;
  const disabled = params.flag('disabled');
  const description = params.text('description') ?? endpoint.description;
  const metadata = merged(endpoint.metadata, params.metadata());
  params.end();
  const status = disabled === undefined ? endpoint.status : disabled ? 'disabled' : 'enabled';
  const { secret: _, ...reported } = Object.assign(endpoint, {
    url,
    enabled_events: events,
    status,
    description,
    metadata,
  });
  return reported;
}

function deleteEndpoint({ books, params, ids }: Call): object {
  params.end();
  const { id, object } = take(books.endpoints, ids[0]!, 'webhook endpoint');
  books.endpoints.delete(id);
  return { id, object, deleted: true };
}

function createConfiguration({ books, params }: Call): R.PortalConfiguration {
  const features = params.whole('features');
  const profile = params.whole('business_profile') ?? {};
  const metadata = params.metadata() ?? {};
  const returnUrl = params.text('default_return_url') ?? null;
  params.end();
  if (features === undefined)
    throw invalidRequest('Missing required param: features.', undefined, 'features');
  const configuration: R.PortalConfiguration = {
    ...books.row('bpc', 'billing_portal.configuration'),
    active: true,
    is_default: false,
    metadata,
    features: withFlags(features),
    business_profile: profile,
    default_return_url: returnUrl,
  };
  books.portalConfigurations.set(configuration.id, configuration);
  return configuration;
}

/** Flags arrive as texts, and are returned as flags. */
function withFlags(value: unknown): object {
  return JSON.parse(
    JSON.stringify(value, (_, each) => (each === 'true' ? true : each === 'false' ? false : each)),
  );
}

function listConfigurations(call: Call) {
  const active = call.params.flag('active');
  const isDefault = call.params.flag('is_default');
  return page(
    call,
    '/v1/billing_portal/configurations',
    call.books.portalConfigurations.values(),
    (one) =>
      (active === undefined || one.active === active) &&
      (isDefault === undefined || one.is_default === isDefault),
  );
}

function updateConfiguration({ books, params, ids }: Call): R.PortalConfiguration {
  const configuration = take(books.portalConfigurations, ids[0]!, 'configuration');
  const features = params.whole('features');
  const profile = params.whole('business_profile') ?? configuration.business_profile;
  const active = params.flag('active') ?? configuration.active;
  const metadata = merged(configuration.metadata, params.metadata());
  const returnUrl = params.text('default_return_url') ?? configuration.default_return_url;
  params.end();
  return Object.assign(configuration, {
    features:
      features === undefined ? configuration.features : { ...configuration.features, ...withFlags(features) },
    business_profile: profile,
    active,
    metadata,
    default_return_url: returnUrl,
  });
}

function createPortalSession({ books, params }: Call): R.PortalSession {
  const customer = params.needed('customer');
  const asked = params.text('configuration');
  const returnUrl = params.text('return_url') ?? null;
  params.whole('flow_data');
  params.text('locale');
  params.end();
  const { deleted } = take(books.customers, customer, 'customer');
  if (deleted) throw invalidRequest(`No such customer: '${customer}'`, 'resource_missing', 'customer');
  const configuration = asked ?? [...books.portalConfigurations.values()].find((one) => one.is_default)?.id;
  if (configuration === undefined)
    throw invalidRequest(
      'No configuration provided and your test mode default configuration has not been created.',
    );
  take(books.portalConfigurations, configuration, 'configuration');
  const made = books.row('bps', 'billing_portal.session');
  const url = `https://billing.stripe.test/p/session/${made.id}`;
  const session: R.PortalSession = { ...made, configuration, customer, return_url: returnUrl, url };
  books.portalSessions.set(session.id, session);
  return session;
}
