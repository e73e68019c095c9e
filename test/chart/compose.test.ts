import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { shellBlocks, yamlBlocks } from '../support/markdown.ts';

const ROOT = new URL('../../', import.meta.url);
const ROLES = ['api', 'worker', 'dispatcher'] as const;

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly args: Readonly<Record<string, string>> };
  readonly pull_policy?: string;
  readonly command?: string;
  readonly environment: Readonly<Record<string, string | number>>;
  readonly security_opt?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
}

const asTexts = (values: Readonly<Record<string, string | number>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

describe('compose.yaml', () => {
  const { services } = parse(readFileSync(new URL('compose.yaml', ROOT), 'utf8'), { merge: true }) as {
    services: Record<string, Service>;
  };
  /** As Compose replaces `${NAME:-default}` where NAME is not set. */
  const environment = (role: string) =>
    Object.fromEntries(
      Object.entries(services[role]!.environment).map(([name, value]) => [
        name,
        String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
      ]),
    );

  for (const role of ROLES) {
    it(`gives the role ${role} a valid configuration`, () => {
      assert.equal(services[role]!.command, role);
      const config = loadConfig(role, environment(role));
      assert.deepEqual(config.KAFKA_BROKERS, ['kafka:9092']);
    });

    it(`gives the role ${role} no more of the machine than it needs`, () => {
      const { read_only, cap_drop, security_opt } = services[role]!;
      assert.deepEqual([read_only, cap_drop], [true, ['ALL']]);
      assert.ok(security_opt?.includes('no-new-privileges'));
    });
  }

  it('builds the image once for all roles', () => {
    const building = Object.keys(services).filter((name) => services[name]!.build !== undefined);
    // Builders reject two services that export one name at a time.
    assert.deepEqual(building, ['api']);
    for (const role of ROLES) {
      // Made here: a registry that has one of that name has another.
      assert.deepEqual([services[role]!.image, services[role]!.pull_policy], ['platen', 'never']);
    }
  });

  it('pins third-party images, from a configured mirror if there is one, as the Dockerfile does', () => {
    const dockerfile = readFileSync(new URL('Dockerfile', ROOT), 'utf8');
    const [, base] = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile)!;
    assert.match(base!, /^\$\{REGISTRY\}\/library\/node:\d+\.\d+\.\d+-trixie-slim(@sha256:[0-9a-f]{64})?$/);
    // The browser as well, in the version for the Debian of that image.
    assert.match(dockerfile, /^ARG CHROMIUM_VERSION=\d+(?:\.\d+){3}-\d+~deb13u\d+$/m);
    assert.match(dockerfile, /"chromium-headless-shell\$\{CHROMIUM_VERSION:\+=\$CHROMIUM_VERSION\}"/);
    for (const image of [services.mongodb!.image!, services.kafka!.image!])
      assert.match(image, /^\$\{REGISTRY:-docker\.io\}\/[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    assert.match(dockerfile, /^ARG REGISTRY=docker\.io$/m);
    assert.match(services.api!.build!.args.REGISTRY!, /^\$\{REGISTRY:-docker\.io\}$/);
    // Every stage begins with that image, or with one before it.
    const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)];
    const named = stages.flatMap(([, , name]) => name ?? []);
    for (const [, from] of stages) assert.ok(/^\$\{NODE_IMAGE\}$/.test(from!) || named.includes(from!), from);
  });

  it('is published with TLS by the override that the documentation has', async () => {
    const [block] = await yamlBlocks('install.md', '### With TLS, for others to reach');
    const override: { services: Record<string, Service> } = parse(block!);
    const { proxy, ...roles } = override.services;
    const own = (role: string) => ({ ...environment(role), ...asTexts(roles[role]!.environment) });
    for (const role of Object.keys(roles)) {
      assert.ok(role in services, role);
      assert.equal(loadConfig(role as 'api', own(role)).PLATEN_PUBLIC_URL, 'https://pdf.example.com');
    }
    const { PLATEN_TRUSTED_PROXIES, PLATEN_REGISTRATION } = loadConfig('api', own('api'));
    assert.deepEqual([PLATEN_TRUSTED_PROXIES, PLATEN_REGISTRATION], [1, 'closed']);
    assert.match(proxy!.command!, /--to api:8080$/);
    // What a `.env` there sets takes the place of what everybody knows.
    const [commands] = await shellBlocks('install.md', '### With TLS, for others to reach');
    for (const [, name] of commands!.matchAll(/^(PLATEN_\w+)=/gm))
      assert.match(String(services.api!.environment[name!]), new RegExp(`^\\$\\{${name}:-`));
  });

  it('limits a publicly known key to this machine', () => {
    assert.match(environment('api').PLATEN_BOOTSTRAP_API_KEY!, /^sk_live_/);
    assert.deepEqual(services.api!.ports, ['127.0.0.1:8080:8080']);
  });

  it("runs workers under the profile that allows Chromium's sandbox", () => {
    const path = services
      .worker!.security_opt!.find((option) => option.startsWith('seccomp='))!
      .slice('seccomp='.length);
    assert.ok(existsSync(new URL(path, ROOT)));
  });

  it('passes the settings of billing and mails to the services that need them, and none by default', () => {
    const needed: Readonly<Record<string, readonly string[]>> = {
      STRIPE_SECRET_KEY: ['api', 'dispatcher'],
      STRIPE_WEBHOOK_SECRET: ['api'],
      STRIPE_API_BASE: ['api', 'dispatcher'],
      SMTP_URL: ['dispatcher'],
      PLATEN_MAIL_FROM: ['dispatcher'],
    };
    for (const role of ROLES) {
      for (const [name, roles] of Object.entries(needed)) {
        const given = services[role]!.environment[name];
        assert.equal(given, roles.includes(role) ? `\${${name}:-}` : undefined, `${role} ${name}`);
        assert.equal(environment(role)[name] ?? '', '');
      }
    }
    for (const role of ['api', 'dispatcher'])
      assert.equal(environment(role).PLATEN_PUBLIC_URL, 'http://localhost:8080');
  });

  it('gives the secret of download links to the API alone', () => {
    for (const role of ROLES) assert.equal('PLATEN_SECRET' in services[role]!.environment, role === 'api');
  });
});
