import type * as prom from 'prom-client'
import {
  type OccurrenceOutcome,
  OCCURRENCE_OUTCOMES,
} from '../../core/schedule/firing/occurrence.ts'
import { type ExpectationViolation, VIOLATION_KINDS } from '../../core/expectation/violation.ts'
import type { ClockEvent } from '../../core/trusted-clock.ts'
import type { EndCommand, Lease, TickBatch, TickResult } from '../../store/port.ts'
import { type BlobMetrics, blobMetrics } from './blob-metrics.ts'
import { STORE_TROUBLES } from '../../store/port.ts'
import type { StoreFailure } from '../health/store-health.ts'
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from '../webhooks/deliver.ts'

/** Counters of a node. Numbers only: names of jobs and runs belong in logs, not in time series. */
export interface Metrics extends BlobMetrics {
  /** A tick is durable. */
  onTick(batch: TickBatch, result: TickResult, tookMs: number): void
  /** An attempt that this node granted has ended. */
  onEnd(lease: Lease, command: EndCommand, now: number): void
  onGrant(lease: Lease): void
  onRequest(method: string, route: string, status: number): void
  onLoopLag(ms: number): void
  onScheduleLag(ms: number): void
  onDelivery(outcome: DeliveryOutcome): void
  /** Outcomes of schedule times. */
  onOccurrences(outcomes: readonly OccurrenceOutcome[]): void
  /** Expectations of runs that were violated. */
  onViolations(violations: readonly ExpectationViolation[]): void
  /** Events of the store's wall clock. */
  onClock(event: ClockEvent): void
  /** Registers the source of list-request figures. */
  setListFigures(figures: () => ListFigures): void
  /** The page that Prometheus reads. */
  page(): Promise<{ readonly type: string; readonly text: string }>
}

const CLOCK_EVENTS: readonly ClockEvent['kind'][] = [
  'held',
  'accepted',
  'returned',
  'ignored',
  'suspended',
  'proven',
]
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200]

/** List requests of one server: running, waiting for a slot, and refused since the start. */
export interface ListFigures {
  readonly busy: number
  readonly waiting: number
  readonly refused: { readonly rate_limited: number; readonly overloaded: number }
}

const NO_LISTS: ListFigures = { busy: 0, waiting: 0, refused: { rate_limited: 0, overloaded: 0 } }

/** Values that are read only when metrics are requested. */
export interface MetricSources {
  /** Ready runs, by project and queue. */
  queueDepths(): Promise<readonly { project: string; queue: string; ready: number }[]>
  live(): Promise<Readonly<Record<string, number>>>
  /** Why the store cannot be used. */
  storeFailure(): StoreFailure['kind'] | null
  storeFreeBytes(): Promise<number | null>
  slots(): { used: number; free: number }
  /** Workers of this node. */
  workers(): { active: number; quarantined: number }
  /** The store's wall clock: its offset while it is held, and what is held because of it. */
  clock(): { offMs: number; isHeld: boolean; mayDelete: boolean }
  readonly version: string
}

/** Counts start with the first read: unread metrics need no memory. */
export function createMetrics(sources: MetricSources): Metrics {
  let counting: Promise<Metrics> | undefined
  let active: Metrics | undefined
  let lists = () => NO_LISTS
  const begin = async () => {
    const { Counter, Gauge, Histogram, Registry } = await import('prom-client')
    active = countWith({ Counter, Gauge, Histogram, Registry }, sources)
    active.setListFigures(() => lists())
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
    onViolations: (violations) => active?.onViolations(violations),
    onClock: (event) => active?.onClock(event),
    setListFigures: (figures) => (lists = figures),
    page: async () => (await (counting ??= begin())).page(),
  }
}

type Library = Pick<typeof prom, 'Counter' | 'Gauge' | 'Histogram' | 'Registry'>

function countWith(library: Library, sources: MetricSources): Metrics {
  const registry = new library.Registry()
  const registers = [registry]
  const counts = {
    ...attemptMetrics(library, registers),
    ...tickMetrics(library, registers),
    ...scheduleMetrics(library, registers),
    ...nodeMetrics(library, registers),
    ...blobMetrics(library, registry),
  }
  addGauges(registry, library, sources)
  addStoreGauges(registry, library, sources)
  return {
    ...counts,
    setListFigures: (figures) => addListMetrics(registry, library, figures),
    page: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

type Registers = prom.Registry[]

function attemptMetrics(
  { Counter, Histogram }: Library,
  registers: Registers,
): Pick<Metrics, 'onEnd' | 'onGrant'> {
  const executed = new Counter({
    name: 'jobs_executed_total',
    help: 'Attempts that ended.',
    registers,
    labelNames: ['status'],
  })
  const duration = new Histogram({
    name: 'job_execution_duration_seconds',
    help: 'How long attempts took.',
    registers,
    buckets: SECONDS,
  })
  const wait = new Histogram({
    name: 'punctual_run_wait_seconds',
    help: 'From due to granted.',
    registers,
    buckets: SECONDS,
  })
  const lost = new Counter({
    name: 'punctual_leases_lost_total',
    help: 'Attempts lost with their worker.',
    registers,
  })
  const success = executed.labels('success')
  const failure = executed.labels('failed')
  // A rate needs a first value, so counters start at zero.
  success.inc(0)
  failure.inc(0)
  return {
    onEnd({ startedAt }, { to, cause }, now) {
      if (cause === 'lost') lost.inc()
      if (to === 'given_back') return
      ;(to === 'succeeded' ? success : failure).inc()
      duration.observe(Math.max(0, now - startedAt) / 1_000)
    },
    onGrant: ({ dueAt, createdAt, startedAt }) =>
      wait.observe(Math.max(0, startedAt - (dueAt ?? createdAt)) / 1_000),
  }
}

function tickMetrics(
  { Counter, Histogram }: Library,
  registers: Registers,
): Pick<Metrics, 'onTick'> {
  const submitted = new Counter({
    name: 'punctual_runs_submitted_total',
    help: 'Runs stored.',
    registers,
  })
  const tickSeconds = new Histogram({
    name: 'punctual_tick_seconds',
    help: 'How long the store took for a tick.',
    registers,
    buckets: SECONDS.slice(0, 9),
  })
  const tickItems = new Histogram({
    name: 'punctual_tick_items',
    help: 'Submissions, ends and claims of a tick.',
    registers,
    buckets: [1, 5, 10, 50, 100, 500, 1_000, 5_000],
  })
  return {
    onTick(batch, result, tookMs) {
      submitted.inc(batch.submits.length)
      tickSeconds.observe(tookMs / 1_000)
      const claimed = result.claims.reduce((sum, leases) => sum + leases.length, 0)
      tickItems.observe(batch.submits.length + batch.ends.length + claimed)
    },
  }
}

function scheduleMetrics(
  { Counter, Histogram }: Library,
  registers: Registers,
): Pick<Metrics, 'onScheduleLag' | 'onOccurrences' | 'onViolations'> {
  const scheduleLag = new Histogram({
    name: 'punctual_schedule_lag_seconds',
    help: 'From due to ready.',
    registers,
    buckets: SECONDS.slice(0, 10),
  })
  const occurrences = new Counter({
    name: 'punctual_occurrences_total',
    help: 'Times of schedules, by outcome.',
    registers,
    labelNames: ['outcome'],
  })
  const violations = new Counter({
    name: 'punctual_lapses_total',
    help: 'Violated expectations of runs.',
    registers,
    labelNames: ['kind'],
  })
  for (const outcome of OCCURRENCE_OUTCOMES) occurrences.inc({ outcome }, 0)
  for (const kind of VIOLATION_KINDS) violations.inc({ kind }, 0)
  return {
    onScheduleLag: (ms) => scheduleLag.observe(ms / 1_000),
    onOccurrences(outcomes) {
      for (const outcome of outcomes) occurrences.inc({ outcome })
    },
    onViolations(found) {
      for (const { kind } of found) violations.inc({ kind })
    },
  }
}

function nodeMetrics(
  { Counter, Gauge }: Library,
  registers: Registers,
): Pick<Metrics, 'onRequest' | 'onLoopLag' | 'onDelivery' | 'onClock'> {
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered.',
    registers,
    labelNames: ['method', 'route', 'status'],
  })
  const loopLag = new Gauge({
    name: 'punctual_loop_lag_seconds',
    help: 'Delay of timers of this node.',
    registers,
  })
  const deliveries = new Counter({
    name: 'punctual_webhook_deliveries_total',
    help: 'Delivery attempts of webhooks.',
    registers,
    labelNames: ['outcome'],
  })
  const clockEvents = new Counter({
    name: 'punctual_clock_events_total',
    help: 'Events of the store’s wall clock.',
    registers,
    labelNames: ['event'],
  })
  for (const outcome of DELIVERY_OUTCOMES) deliveries.inc({ outcome }, 0)
  for (const event of CLOCK_EVENTS) clockEvents.inc({ event }, 0)
  return {
    onRequest: (method, route, status) => requests.inc({ method, route, status }),
    onLoopLag: (ms) => loopLag.set(ms / 1_000),
    onDelivery: (outcome) => deliveries.inc({ outcome }),
    onClock: ({ kind }) => clockEvents.inc({ event: kind }),
  }
}

/** Gauges, read on request. */
function addGauges(registry: prom.Registry, library: Library, gauges: MetricSources): void {
  addRunGauges(registry, library, gauges)
  addWorkerGauges(registry, library, gauges)
  addClockGauges(registry, library, gauges)
  addProcessGauges(registry, library, gauges)
}

function addRunGauges(registry: prom.Registry, { Gauge }: Library, gauges: MetricSources): void {
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'punctual_queue_depth',
      help: 'Ready runs.',
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
      name: 'punctual_runs_live',
      help: 'Runs that have not ended.',
      labelNames: ['state'],
      async collect() {
        for (const [state, count] of Object.entries(await gauges.live())) this.set({ state }, count)
      },
    }),
  )
}

function addWorkerGauges(registry: prom.Registry, { Gauge }: Library, gauges: MetricSources): void {
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'punctual_worker_slots',
      help: 'Slots of the workers of this node.',
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
      name: 'punctual_workers',
      help: 'Workers of this node.',
      labelNames: ['state'],
      collect() {
        const { active, quarantined } = gauges.workers()
        this.set({ state: 'active' }, active)
        this.set({ state: 'quarantined' }, quarantined)
      },
    }),
  )
}

function addClockGauges(registry: prom.Registry, { Gauge }: Library, gauges: MetricSources): void {
  const clockGauge = (name: string, help: string, value: () => number) =>
    registry.registerMetric(
      new Gauge({
        registers: [],
        name,
        help,
        collect() {
          this.set(value())
        },
      }),
    )
  clockGauge('punctual_clock_held', 'Schedules and timers are held: the wall clock jumped.', () =>
    Number(gauges.clock().isHeld),
  )
  clockGauge(
    'punctual_clock_off_seconds',
    'How far the wall clock is from the trusted time.',
    () => gauges.clock().offMs / 1_000,
  )
  clockGauge('punctual_clock_deletion_held', 'Deletion by age waits for the clock.', () =>
    Number(!gauges.clock().mayDelete),
  )
}

function addProcessGauges(
  registry: prom.Registry,
  { Gauge }: Library,
  gauges: MetricSources,
): void {
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'punctual_build_info',
      help: 'Version of this program.',
      labelNames: ['version'],
      collect() {
        this.set({ version: gauges.version }, 1)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'process_resident_memory_bytes',
      help: 'Memory of this process.',
      collect() {
        this.set(process.memoryUsage.rss())
      },
    }),
  )
}

function addListMetrics(
  registry: prom.Registry,
  { Counter, Gauge }: Library,
  figures: () => ListFigures,
): void {
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'punctual_lists',
      help: 'Lists that run or wait for a slot.',
      labelNames: ['state'],
      collect() {
        const { busy, waiting } = figures()
        this.set({ state: 'running' }, busy)
        this.set({ state: 'waiting' }, waiting)
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      registers: [],
      name: 'punctual_lists_refused_total',
      help: 'Lists that were refused.',
      labelNames: ['code'],
      collect() {
        this.reset()
        for (const [code, count] of Object.entries(figures().refused)) this.inc({ code }, count)
      },
    }),
  )
}

function addStoreGauges(registry: prom.Registry, { Gauge }: Library, sources: MetricSources): void {
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'punctual_store_failure',
      help: '1 while the store cannot be used for this reason.',
      labelNames: ['kind'],
      collect() {
        const failure = sources.storeFailure()
        for (const kind of [...STORE_TROUBLES, 'unavailable'] as const) {
          this.set({ kind }, kind === failure ? 1 : 0)
        }
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      registers: [],
      name: 'punctual_store_free_bytes',
      help: 'Free space on the disk of the database.',
      async collect() {
        const free = await sources.storeFreeBytes()
        if (free !== null) this.set(free)
      },
    }),
  )
}
