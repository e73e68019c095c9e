import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import ipaddr from 'ipaddr.js';
import { type Response as MmdbResponse, Reader } from 'mmdb-lib';

/** Tells places from addresses, without asking anybody. */
export interface CountryDatabase {
  /** The country's English name; null for private addresses, and for those that no country is known of. */
  countryOf(address: string): string | null;
}

/** 8 MB, put into the public domain (CC0): from the registries' allocations and the routing tables. */
const FILE = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

interface Row {
  readonly country_code?: string;
}

/** Reads the bundled database; a look-up takes some microseconds. */
export async function openCountryDatabase(): Promise<CountryDatabase> {
  const bytes = await readFile(createRequire(import.meta.url).resolve(FILE));
  // The library's types know MaxMind's own databases only.
  const reader = new Reader<Row & MmdbResponse>(bytes);
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return {
    countryOf(address) {
      if (!ipaddr.isValid(address)) return null;
      // An IPv4 address that came mapped into IPv6 is looked up as what it is.
      const parsed = ipaddr.process(address);
      // The database has a few rows for addresses that belong to nobody.
      if (parsed.range() !== 'unicast') return null;
      const code = reader.get(parsed.toString())?.country_code;
      return code === undefined || !/^[A-Z]{2}$/.test(code) ? null : (names.of(code) ?? null);
    },
  };
}
