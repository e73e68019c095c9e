import assert from 'node:assert/strict';
import { Rest } from '../../../src/chromium/page/rest.ts';
import { RestBudget, RestBudgets } from '../../../src/chromium/page/rest-budget.ts';

/** A page of which it is said what it computes, and a clock. */
class Computed {
  now = 0;
  used = 0;
  /** What it may compute with others; by itself, unless said otherwise. */
  budget = new RestBudget(() => this.now);
  known = true;
  readonly changes: number[] = [];
  readonly rest = new Rest(
    this,
    (change) => this.changes.push(change),
    () => this.now,
    () => this.budget,
  );

  get process() {
    return this.known ? { processorMs: () => this.used } : undefined;
  }

  /** Milliseconds go by, of which the page computes some. @returns whether that is more than it may. */
  after(ms: number, computed: number): boolean {
    this.now += ms;
    this.used += computed;
    return this.rest.exceeded();
  }
}

describe('a page at rest', () => {
  it('may compute a little at once, and a twentieth of a core all the while', () => {
    const page = new Computed();
    page.used = 5000;
    page.rest.begin();
    assert.equal(page.after(100, 90), false);
    for (let i = 0; i < 100; i++) assert.equal(page.after(100, 5), false);
    assert.equal(page.after(100, 30), true);
  });

  it('is noticed when it computes without end, and when it divides that up', () => {
    for (const share of [1, 0.2, 0.1]) {
      const page = new Computed();
      page.rest.begin();
      let looks = 0;
      while (!page.after(100, 100 * share)) looks++;
      assert.ok(looks < 30, `a share of ${share} was noticed after ${looks} looks`);
    }
  });

  it('has used up what it may compute at once when it rests again', () => {
    const page = new Computed();
    page.rest.begin();
    assert.equal(page.after(100, 400), true);
    page.rest.end();
    page.now += 1000;
    page.used += 500;
    page.rest.begin();
    assert.equal(page.after(100, 20), true);
  });

  it('tells of its beginning and its end once each', () => {
    const page = new Computed();
    page.rest.begin();
    page.rest.begin();
    page.rest.end();
    page.rest.end();
    assert.deepEqual(page.changes, [1, -1]);
  });

  it('is noticed as soon as it is known to begin to compute, once', () => {
    const page = new Computed();
    page.rest.disturb();
    page.rest.begin();
    assert.equal(page.after(100, 0), false);
    page.rest.disturb();
    assert.equal(page.after(1, 0), true);
    assert.equal(page.after(100, 0), false);
  });

  it('is not measured where its process is not known', () => {
    const page = new Computed();
    page.known = false;
    page.rest.begin();
    assert.equal(page.rest.measured, false);
    assert.equal(page.after(100, 1000), false);
  });
});

describe('pages at rest of one account', () => {
  /** So many pages that have begun to rest, with one budget. */
  const together = (count: number) => {
    const pages = Array.from({ length: count }, () => new Computed());
    const [first] = pages;
    for (const page of pages) {
      page.budget = first!.budget;
      page.rest.begin();
    }
    return pages;
  };

  it('may together compute at once what one of them may', () => {
    const pages = together(16);
    const noticed = pages.map((page) => page.after(100, 20));
    assert.ok(noticed.lastIndexOf(false) < 10, `${noticed}`);
  });

  it('may each compute a twentieth of a core all the while', () => {
    const pages = together(16);
    for (let i = 0; i < 100; i++)
      assert.deepEqual(
        pages.filter((page) => page.after(100, 5)),
        [],
      );
  });

  it('go on resting while others of them compute too much', () => {
    const [one, ...others] = together(4);
    for (const page of others) page.after(100, 90);
    assert.equal(one!.after(100, 0), false);
    assert.equal(one!.after(100, 4), false);
  });

  it('have a budget of their own, for as long as one of them rests', () => {
    const budgets = new RestBudgets();
    const budget = budgets.of('a');
    budget.enter();
    assert.equal(budgets.of('a'), budget);
    assert.notEqual(budgets.of('b'), budget);
    budget.enter();
    budget.leave();
    assert.equal(budgets.of('a'), budget);
    budget.leave();
    assert.notEqual(budgets.of('a'), budget);
  });
});
