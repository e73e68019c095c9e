import assert from 'node:assert/strict';
import { BlockedBudget, BlockedRenders } from '../../../src/render/chromium/cpu/blocked-budget.ts';
import { BlockedTime } from '../../../src/render/chromium/cpu/blocked-time.ts';

/** A page of which it is said what it computes, and a clock. */
class Computed {
  now = 0;
  used = 0;
  /** The budget that it shares with other pages. Default: a budget of its own. */
  budget = new BlockedBudget(() => this.now);
  known = true;
  readonly changes: number[] = [];
  readonly blocked = new BlockedTime(
    this,
    (change) => this.changes.push(change),
    () => this.now,
    () => this.budget,
  );

  get process() {
    return this.known ? { sample: () => ({ processorMs: this.used }) } : undefined;
  }

  /** Milliseconds go by, of which the page computes some. @returns whether that is more than it may. */
  after(ms: number, computed: number): boolean {
    this.now += ms;
    this.used += computed;
    return this.blocked.exceeded();
  }
}

describe('a blocked page', () => {
  it('may compute a little at once, and a twentieth of a core all the while', () => {
    const page = new Computed();
    page.used = 5000;
    page.blocked.begin();
    assert.equal(page.after(100, 90), false);
    for (let i = 0; i < 100; i++) assert.equal(page.after(100, 5), false);
    assert.equal(page.after(100, 30), true);
  });

  it('is noticed when it computes without end, and when it divides that up', () => {
    for (const share of [1, 0.2, 0.1]) {
      const page = new Computed();
      page.blocked.begin();
      let checks = 0;
      while (!page.after(100, 100 * share)) checks++;
      assert.ok(checks < 30, `a share of ${share} was noticed after ${checks} looks`);
    }
  });

  it('has used up what it may compute at once when it is blocked again', () => {
    const page = new Computed();
    page.blocked.begin();
    assert.equal(page.after(100, 400), true);
    page.blocked.end();
    page.now += 1000;
    page.used += 500;
    page.blocked.begin();
    assert.equal(page.after(100, 20), true);
  });

  it('reports its beginning and its end once each', () => {
    const page = new Computed();
    page.blocked.begin();
    page.blocked.begin();
    page.blocked.end();
    page.blocked.end();
    assert.deepEqual(page.changes, [1, -1]);
  });

  it('is noticed as soon as it is known to begin to compute, once', () => {
    const page = new Computed();
    page.blocked.disturb();
    page.blocked.begin();
    assert.equal(page.after(100, 0), false);
    page.blocked.disturb();
    assert.equal(page.after(1, 0), true);
    assert.equal(page.after(100, 0), false);
  });

  it('is not noticed while its process is not known', () => {
    const page = new Computed();
    page.known = false;
    page.blocked.begin();
    assert.equal(page.after(100, 1000), false);
  });
});

describe('blocked pages of one account', () => {
  /** So many pages that have begun to be blocked, with one budget. */
  const together = (count: number) => {
    const pages = Array.from({ length: count }, () => new Computed());
    const [first] = pages;
    for (const page of pages) {
      page.budget = first!.budget;
      page.blocked.begin();
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

  it('stay blocked while others of them compute too much', () => {
    const [one, ...others] = together(4);
    for (const page of others) page.after(100, 90);
    assert.equal(one!.after(100, 0), false);
    assert.equal(one!.after(100, 4), false);
  });

  it('have a budget of their own, for as long as one of them is blocked', () => {
    const budgets = new BlockedRenders();
    const budget = budgets.budgetOf('a');
    budget.enter();
    assert.equal(budgets.budgetOf('a'), budget);
    assert.notEqual(budgets.budgetOf('b'), budget);
    budget.enter();
    budget.leave();
    assert.equal(budgets.budgetOf('a'), budget);
    budget.leave();
    assert.notEqual(budgets.budgetOf('a'), budget);
  });

  it('are counted, which is reported whenever it changes', () => {
    const reported: number[] = [];
    const blocked = new BlockedRenders((renders) => reported.push(renders));
    for (const change of [1, 1, -1] as const) blocked.count(change);
    assert.deepEqual(reported, [1, 2, 1]);
  });
});
