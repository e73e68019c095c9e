import assert from 'node:assert/strict';
import { observeDuration } from '../../../src/infra/telemetry/exemplars.ts';
import { createMetrics } from '../../../src/roles/metrics.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('exemplars of durations', () => {
  it('name the trace of the last duration of a bucket, in the format of OpenMetrics alone', async () => {
    const { registry, openMetrics, renderDuration, jobsEnded } = createMetrics('worker', { exemplars: true });
    observeDuration(renderDuration, { phase: 'total' }, 0.2, TRACE);
    observeDuration(renderDuration, { phase: 'total' }, 3);
    jobsEnded.inc({ state: 'completed', class: 'bulk', code: 'none' });
    const { text, contentType } = await openMetrics!();
    assert.match(contentType, /^application\/openmetrics-text; version=1\.0\.0/);
    const exemplars = text.split('\n').filter((line) => line.includes('trace_id'));
    assert.equal(exemplars.length, 1);
    assert.match(
      exemplars[0]!,
      new RegExp(
        `^platen_render_phase_duration_seconds_bucket\\{.*le="0.25".*\\} 1 # \\{trace_id="${TRACE}"\\} 0.2 `,
      ),
    );
    assert.match(text, /^# TYPE platen_jobs_ended counter\nplaten_jobs_ended_total\{.*\} 1$/m);
    assert.equal(linesOf(text, 'platen_render_phase_duration_seconds_count').length, 1);
    assert.match(linesOf(text, 'platen_render_phase_duration_seconds_count')[0]!, /\} 2$/);
    assert.match(text, /\n# EOF\n$/);
    const plain = await registry.metrics();
    assert.doesNotMatch(plain, /trace_id|# EOF/);
    assert.match(plain, /^# TYPE platen_jobs_ended_total counter\nplaten_jobs_ended_total\{.*\} 1$/m);
    assert.equal((await openMetrics!()).text.match(/_total_total/), null);
  });

  it('are not there where nothing is traced, and neither is the other format', async () => {
    const { registry, openMetrics, renderDuration } = createMetrics('worker');
    observeDuration(renderDuration, { phase: 'total' }, 0.2, TRACE);
    assert.equal(openMetrics, undefined);
    const text = await registry.metrics();
    assert.match(linesOf(text, 'platen_render_phase_duration_seconds_count')[0]!, /\} 1$/);
    assert.doesNotMatch(text, /trace_id/);
  });
});

function linesOf(text: string, metric: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(`${metric}{`));
}
