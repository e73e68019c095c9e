import assert from 'node:assert/strict';
import { type CountryDatabase, openCountryDatabase } from '../../../src/tenants/keys/country-database.ts';

describe('the country database', () => {
  let countries: CountryDatabase;

  before(async () => {
    countries = await openCountryDatabase();
  });

  for (const [address, country] of [
    ['193.99.144.80', 'Germany'],
    ['::ffff:193.99.144.80', 'Germany'],
    ['2a02:2e0:3fe:1001:302::', 'Germany'],
    ['8.8.8.8', 'United States'],
    ['133.11.0.1', 'Japan'],
    ['127.0.0.1', null],
    ['10.1.2.3', null],
    ['192.168.0.1', null],
    ['::1', null],
    ['fd00::1', null],
    ['not an address', null],
    ['', null],
  ] as const) {
    it(`knows ${address || 'nothing'} to be of ${country ?? 'no country'}`, () => {
      assert.equal(countries.countryOf(address), country);
    });
  }
});
