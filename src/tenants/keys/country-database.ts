import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import ipaddr from 'ipaddr.js';
import { type Response as MmdbResponse, Reader } from 'mmdb-lib';

/** Looks up the country of an IP address, without a request over the network. */
export interface CountryDatabase {
  /** The country's English name; null for private addresses, and for addresses without a known country. */
  countryOf(address: string): string | null;
}

/** 8 MB, in the public domain (CC0), compiled from the registries' allocations and the routing tables. */
const FILE = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

interface Row {
  readonly country_code?: string;
}

/** Reads the bundled database; one lookup takes a few microseconds. */
export async function openCountryDatabase(): Promise<CountryDatabase> {
  const bytes = await readFile(createRequire(import.meta.url).resolve(FILE));
  // The library's types know MaxMind's own databases only.
  const reader = new Reader<Row & MmdbResponse>(bytes);
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return {
    countryOf(address) {
      if (!ipaddr.isValid(address)) return null;
      // A mapped IPv4 address is looked up as IPv4.
      const parsed = ipaddr.process(address);
      // The database has a few rows for reserved addresses.
      if (parsed.range() !== 'unicast') return null;
      const code = reader.get(parsed.toString())?.country_code;
      return code === undefined || !/^[A-Z]{2}$/.test(code) ? null : (names.of(code) ?? null);
    },
  };
}
