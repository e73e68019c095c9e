import assert from 'node:assert/strict';
import { beyondIndex, nameOf, shapeOf } from '../../../src/infra/store/query-shape.ts';

const ID = 'b9a3f6f2-4a35-4d0f-9a63-0f1d1e1f2a3b';

describe('The shape of a query', () => {
  const cases: [string, object, object | undefined, string][] = [
    ['a value', { a: 1, b: 'x', c: null, d: new Date() }, undefined, '{a, b, c, d}'],
    ['a value that is a document or a list', { a: { b: 1 }, c: [1, 2] }, undefined, '{a, c}'],
    ['a value said by an operator', { a: { $eq: 1 } }, undefined, '{a}'],
    ['some values', { a: { $in: [1, 2] } }, undefined, '{a:some}'],
    ['a range', { a: { $gt: 1, $lte: 5 } }, undefined, '{a:range}'],
    [
      'what no index helps with',
      { a: { $ne: 1 }, b: { $exists: true }, c: /x/, d: { $in: [1], $gt: 2 } },
      undefined,
      '{a:other, b:other, c:other, d:other}',
    ],
    ['alternatives', { $or: [{ a: 1 }, { b: 2 }] }, undefined, '{$or:other}'],
    ['conditions that all hold', { $and: [{ a: 1 }, { b: { $lt: 2 } }] }, undefined, '{a, b:range}'],
    ['an id within a path', { [`holders.${ID}`]: { $exists: true } }, undefined, '{holders.*:other}'],
    [
      'a document without a prototype',
      { a: Object.assign(Object.create(null), { $gt: 1 }) },
      {},
      '{a:range}',
    ],
    ['an order', { a: 1 }, { b: -1, c: -1 }, '{a} sort b, c'],
    ['an order that turns', { a: 1 }, { b: -1, c: 1 }, '{a} sort b, -c'],
  ];
  for (const [what, filter, sort, name] of cases) {
    it(`names ${what}`, () => assert.equal(nameOf(shapeOf(filter, sort)), name));
  }

  it('is the same whatever the values and the order of the fields', () => {
    assert.equal(
      nameOf(shapeOf({ a: 1, b: { $in: ['x'] } })),
      nameOf(shapeOf({ b: { $in: [] }, a: new Date() })),
    );
  });
});

describe('The query terms that an index does not serve', () => {
  const indexes = [
    { _id: 1 },
    { account: 1, at: -1, _id: -1 },
    { state: 1, at: 1 },
    { _id: 1, version: 1 },
  ] as const;
  const beyond = (filter: object, sort?: object) => beyondIndex(shapeOf(filter, sort), indexes);

  it('is nothing when the index has it all', () => {
    for (const [filter, sort] of [
      [{ _id: 'x' }],
      [{ _id: 'x', version: 1 }],
      [{ _id: 'x', anything: { $ne: 1 } }],
      [{ _id: { $in: ['x', 'y'] } }],
      [{ _id: { $gt: 'x' } }, { _id: 1 }],
      [{ account: 'a' }],
      [{ account: 'a' }, { at: -1, _id: -1 }],
      [{ account: 'a' }, { at: 1, _id: 1 }],
      [{ account: 'a', at: { $lt: 5 } }, { at: -1 }],
      [{ state: { $in: ['x'] }, at: { $gte: 1, $lt: 5 } }],
    ] as const) {
      assert.deepEqual(beyond(filter, sort), [], nameOf(shapeOf(filter, sort)));
    }
  });

  it('is undefined when no index leads it', () => {
    for (const filter of [
      {},
      { at: 1 },
      { version: 1 },
      { account: { $ne: 'a' } },
      { $or: [{ _id: 'x' }] },
    ]) {
      assert.equal(beyond(filter), undefined, nameOf(shapeOf(filter)));
    }
    assert.equal(beyond({}, { _id: 1 }), undefined);
  });

  it('names the fields that are compared, and an order that is made by hand', () => {
    assert.deepEqual(beyond({ account: 'a', kind: 1 }), ['kind']);
    assert.deepEqual(beyond({ account: 'a' }, { name: 1 }), ['sort name']);
    assert.deepEqual(beyond({ account: 'a', kind: 1 }, { name: 1, at: 1 }), ['kind', 'sort name, at']);
  });

  it('is the order when the index runs another way', () => {
    assert.deepEqual(beyond({ account: 'a' }, { at: -1, _id: 1 }), ['sort at, -_id']);
    assert.deepEqual(beyond({ account: 'a' }, { _id: -1 }), ['sort _id']);
  });

  it('has what comes after a range', () => {
    assert.deepEqual(beyond({ account: 'a', at: { $lt: 5 }, _id: { $gt: 'x' } }), ['_id']);
    assert.deepEqual(beyond({ state: { $gt: 'a' }, at: 1 }), ['at']);
    assert.deepEqual(beyond({ state: { $gt: 'a' } }, { at: 1 }), ['sort at']);
  });

  it('is counted at the index that gives most', () => {
    assert.deepEqual(beyond({ state: 'x', account: 'a', at: 1, _id: { $gt: 'x' } }), ['state']);
  });
});
