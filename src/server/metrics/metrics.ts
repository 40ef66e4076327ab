import type * as prom from 'prom-client'
import { type Outcome, OUTCOMES } from '../../core/schedule/firing/occurrence.ts'
import { type Lapse, LAPSES } from '../../core/expectation/violation.ts'
import type { EndCommand, Lease, TickBatch, TickResult } from '../../store/port.ts'
import { type BlobMetrics, blobMetrics } from './blob-metrics.ts'
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from '../webhooks/deliver.ts'

/** What a node counts. Numbers only: names of jobs and runs belong in logs, not in time series. */
export interface Metrics extends BlobMetrics {
  /** A tick that is durable now. */
  onTick(batch: TickBatch, result: TickResult, tookMs: number): void
  /** An attempt this node granted has ended. */
  onEnd(lease: Lease, command: EndCommand, now: number): void
  onGrant(lease: Lease): void
  onRequest(method: string, route: string, status: number): void
  onLoopLag(ms: number): void
  onScheduleLag(ms: number): void
  onDelivery(outcome: DeliveryOutcome): void
  /** What became of times of schedules. */
  onOccurrences(outcomes: readonly Outcome[]): void
  /** What did not come true of runs. */
  onLapses(lapses: readonly Lapse[]): void
  /** The page that Prometheus reads. */
  page(): Promise<{ readonly type: string; readonly text: string }>
}

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200]

/** What can be asked when somebody looks. */
export interface MetricSources {
  /** Ready runs, by project and queue. */
  queueDepths(): Promise<readonly { project: string; queue: string; ready: number }[]>
  live(): Promise<Readonly<Record<string, number>>>
  slots(): { used: number; free: number }
  /** Workers of this node. */
  workers(): { active: number; quarantined: number }
  readonly version: string
}

/** Counts from the first look on: what nobody reads need not be in memory. */
export function createMetrics(sources: MetricSources): Metrics {
  let counting: Promise<Metrics> | undefined
  let active: Metrics | undefined
  const begin = async () => {
    const { Counter, Gauge, Histogram, Registry } = await import('prom-client')
    active = countWith({ Counter, Gauge, Histogram, Registry }, sources)
    return active
  }
  return {
    onTick: (batch, result, tookMs) => active?.onTick(batch, result, tookMs),
    onEnd: (lease, command, now) => active?.onEnd(lease, command, now),
    onGrant: (lease) => active?.onGrant(lease),
    onRequest: (method, route, status) => active?.onRequest(method, route, status),
    onLoopLag: (ms) => active?.onLoopLag(ms),
    onScheduleLag: (ms) => active?.onScheduleLag(ms),
    onBlob: (figures) => active?.onBlob(figures),
    onCollected: (count) => active?.onCollected(count),
    onDelivery: (outcome) => active?.onDelivery(outcome),
    onOccurrences: (outcomes) => active?.onOccurrences(outcomes),
    onLapses: (lapses) => active?.onLapses(lapses),
    page: async () => (await (counting ??= begin())).page(),
  }
}

type Library = Pick<typeof prom, 'Counter' | 'Gauge' | 'Histogram' | 'Registry'>

function countWith(library: Library, sources: MetricSources): Metrics {
  const { Counter, Gauge, Histogram, Registry } = library
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    ...{ name: 'http_requests_total', help: 'Requests answered.', registers },
    labelNames: ['method', 'route', 'status'],
  })
  const executed = new Counter({
    ...{ name: 'jobs_executed_total', help: 'Attempts that ended.', registers },
    labelNames: ['status'],
  })
  const duration = new Histogram({
    ...{ name: 'job_execution_duration_seconds', help: 'How long attempts took.', registers },
    buckets: SECONDS,
  })
  const wait = new Histogram({
    ...{ name: 'punctual_run_wait_seconds', help: 'From due to granted.', registers },
    buckets: SECONDS,
  })
  const scheduleLag = new Histogram({
    ...{ name: 'punctual_schedule_lag_seconds', help: 'From due to standing in line.', registers },
    buckets: SECONDS.slice(0, 10),
  })
  const submitted = new Counter({
    ...{ name: 'punctual_runs_submitted_total', help: 'Runs stored.', registers },
  })
  const lost = new Counter({
    ...{ name: 'punctual_leases_lost_total', help: 'Attempts whose worker vanished.', registers },
  })
  const tickSeconds = new Histogram({
    ...{ name: 'punctual_tick_seconds', help: 'How long the store took for a tick.', registers },
    buckets: SECONDS.slice(0, 9),
  })
  const tickItems = new Histogram({
    ...{ name: 'punctual_tick_items', help: 'Submissions, ends and claims of a tick.', registers },
    buckets: [1, 5, 10, 50, 100, 500, 1_000, 5_000],
  })
  const loopLag = new Gauge({
    ...{ name: 'punctual_loop_lag_seconds', help: 'How late a timer of this node is.', registers },
  })
  const deliveries = new Counter({
    ...{ name: 'punctual_webhook_deliveries_total', help: 'Tries to tell a webhook.', registers },
    labelNames: ['outcome'],
  })
  const occurrences = new Counter({
    ...{ name: 'punctual_occurrences_total', help: 'Times of schedules, by what they became.' },
    ...{ registers, labelNames: ['outcome'] },
  })
  const lapses = new Counter({
    ...{
      name: 'punctual_lapses_total',
      help: 'What did not come true of what is expected of runs.',
    },
    ...{ registers, labelNames: ['kind'] },
  })
  const success = executed.labels('success')
  const failure = executed.labels('failed')
  // A rate needs a first value, also for what has not happened yet.
  success.inc(0)
  failure.inc(0)
  for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ outcome }, 0)
  for (const outcome of OUTCOMES) occurrences.inc({ outcome }, 0)
  for (const kind of LAPSES) lapses.inc({ kind }, 0)
  addGauges(registry, library, sources)

  return {
    ...blobMetrics(library, registry),
    onTick(batch, result, tookMs) {
      submitted.inc(batch.submits.length)
      tickSeconds.observe(tookMs / 1_000)
      const claimed = result.claims.reduce((sum, leases) => sum + leases.length, 0)
      tickItems.observe(batch.submits.length + batch.ends.length + claimed)
    },
    onEnd({ startedAt }, { to, cause }, now) {
      if (cause === 'lost') lost.inc()
      if (to === 'given_back') return
      ;(to === 'succeeded' ? success : failure).inc()
      duration.observe(Math.max(0, now - startedAt) / 1_000)
    },
    onGrant: ({ dueAt, createdAt, startedAt }) =>
      wait.observe(Math.max(0, startedAt - (dueAt ?? createdAt)) / 1_000),
    onRequest: (method, route, status) => requests.inc({ method, route, status }),
    onLoopLag: (ms) => loopLag.set(ms / 1_000),
    onScheduleLag: (ms) => scheduleLag.observe(ms / 1_000),
    onDelivery: (outcome) => deliveries.inc({ outcome }),
    onOccurrences(outcomes) {
      for (const outcome of outcomes) occurrences.inc({ outcome })
    },
    onLapses(found) {
      for (const { kind } of found) lapses.inc({ kind })
    },
    page: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

/** Asked for when somebody looks. */
function addGauges(registry: prom.Registry, { Gauge }: Library, gauges: MetricSources): void {
  registry.registerMetric(
    new Gauge({
      registers: [],
      ...{ name: 'punctual_queue_depth', help: 'Runs that stand in line.' },
      labelNames: ['project', 'queue'],
      async collect() {
        this.reset()
        for (const { project, queue, ready } of await gauges.queueDepths()) {
          this.set({ project, queue }, ready)
        }
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      ...{ name: 'punctual_runs_live', help: 'Runs that have not ended.' },
      labelNames: ['state'],
      async collect() {
        for (const [state, count] of Object.entries(await gauges.live())) this.set({ state }, count)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      ...{ name: 'punctual_worker_slots', help: 'Slots of the workers of this node.' },
      labelNames: ['state'],
      collect() {
        const { used, free } = gauges.slots()
        this.set({ state: 'used' }, used)
        this.set({ state: 'free' }, free)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      ...{ name: 'punctual_workers', help: 'Workers of this node.' },
      labelNames: ['state'],
      collect() {
        const { active, quarantined } = gauges.workers()
        this.set({ state: 'active' }, active)
        this.set({ state: 'quarantined' }, quarantined)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      ...{ name: 'punctual_build_info', help: 'Which version this is.' },
      labelNames: ['version'],
      collect() {
        this.set({ version: gauges.version }, 1)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      ...{ name: 'process_resident_memory_bytes', help: 'Memory of this process.' },
      collect() {
        this.set(process.memoryUsage.rss())
      },
    }),
  )
}
