import type { ExpectationViolation } from '../../core/expectation/violation.ts'
import { checkExpectations, type ObservedRun } from '../../core/expectation/check-expectations.ts'
import { decodeTerms, encodeTerms, type ExpectationTerms } from '../../core/expectation/terms.ts'
import { SAMPLED_TIMES, withTypicalDuration } from '../../core/expectation/typical-duration.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import type { ExpectationRecord, RunRecord, CheckedExpectation, Store } from '../../store/port.ts'
import type { LoopStep } from '../loops/run-loop.ts'

const BATCH = 100
const MAX_IDLE_MS = 1_000
/** Ended runs that wait for their check; beyond that, the periodic check finds the rest. */
const MOST_ENDED = 10_000

/** Detects violated expectations of runs. Any node checks for all. */
export interface ViolationDetector {
  readonly step: LoopStep
  /** A run that may belong to a schedule has ended here. */
  ended(runId: number): void
}

export interface ViolationDetectorDeps {
  readonly store: Pick<
    Store,
    | 'nextExpectationAt'
    | 'dueExpectations'
    | 'expectationsOf'
    | 'settleExpectations'
    | 'findRuns'
    | 'attemptsOf'
    | 'logEnd'
    | 'pastDurations'
  >
  storeNow(): number
  /** Whether this node is in contact with the store: only then does it know the time there. */
  mayCheck(): boolean
  /** Each violation is reported once. */
  onViolations(violations: readonly ExpectationViolation[]): void
}

export function createViolationDetector(deps: ViolationDetectorDeps): ViolationDetector {
  const { store, storeNow } = deps
  const ended = new Set<number>()
  /** Without expectations a step is one query on an empty index. */
  let isNeeded = false

  const check = async (record: ExpectationRecord, run: RunRecord | undefined, now: number) => {
    const { runId, version } = record
    if (!run) return { runId, version, violations: [], remaining: null }
    const terms = await settled(decodeTerms(record.terms), store)
    const { violations, left } = checkExpectations(terms, await factsOf(run, terms, store), now)
    const next = left && { checkAt: left.checkAt, terms: encodeTerms(left.terms) }
    return { runId, version, violations, remaining: next } satisfies CheckedExpectation
  }

  const checkDue = async (records: readonly ExpectationRecord[], now: number) => {
    const found = await store.findRuns({ runIds: records.map(({ runId }) => runId) })
    const runs = new Map(found.map((run) => [run.id, run]))
    const seen: CheckedExpectation[] = []
    for (const record of records) seen.push(await check(record, runs.get(record.runId), now))
    const ours = new Set(await store.settleExpectations(seen))
    deps.onViolations(
      seen.filter(({ runId }) => ours.has(runId)).flatMap(({ violations }) => violations),
    )
  }

  return {
    async step() {
      if (!deps.mayCheck()) return { more: false, idleMs: MAX_IDLE_MS }
      const runIds = [...ended].slice(0, BATCH)
      for (const runId of runIds) ended.delete(runId)
      const nextAt = await store.nextExpectationAt()
      isNeeded = nextAt !== null
      if (nextAt === null) return { more: false, idleMs: MAX_IDLE_MS }
      // Read before anything else: what happens meanwhile then counts as in time, never the other
      // way round.
      const now = storeNow()
      const due = nextAt <= now ? await store.dueExpectations({ until: now, limit: BATCH }) : []
      const over = runIds.length > 0 ? await store.expectationsOf(runIds) : []
      const records = new Map([...due, ...over].map((record) => [record.runId, record]))
      if (records.size > 0) await checkDue([...records.values()], now)
      const more = due.length === BATCH || ended.size > 0
      const restMs = nextAt > now ? nextAt - now : MAX_IDLE_MS
      return { more, idleMs: Math.min(MAX_IDLE_MS, restMs) }
    },

    ended(runId) {
      if (isNeeded && ended.size < MOST_ENDED) ended.add(runId)
    },
  }
}

/** Looks up the typical duration once, at the first check. */
async function settled(
  terms: ExpectationTerms,
  store: Pick<Store, 'pastDurations'>,
): Promise<ExpectationTerms> {
  if (!terms.typicalMultiple) return terms
  const { scheduleId } = terms.typicalMultiple
  const past = await store.pastDurations({ scheduleIds: [scheduleId], each: SAMPLED_TIMES })
  const durations = past.map(({ ms }) => ms)
  return withTypicalDuration(terms, durations)
}

async function factsOf(
  run: RunRecord,
  terms: ExpectationTerms,
  store: Pick<Store, 'attemptsOf' | 'logEnd'>,
): Promise<ObservedRun> {
  const { id: runId, attempt, startedAt, finishedAt } = run
  const isRetried = terms.startBy !== undefined && attempt > 1
  const [first] = isRetried ? await store.attemptsOf({ runId }) : []
  return {
    startedAt,
    finishedAt,
    firstStartedAt: first?.startedAt ?? startedAt,
    isEmpty: terms.output === true && (await hasNoOutput(run, store)),
  }
}

async function hasNoOutput(run: RunRecord, store: Pick<Store, 'logEnd'>): Promise<boolean> {
  const { id: runId, state, result, fence } = run
  if (state !== 'succeeded' || result !== null) return false
  const end = run.process === null ? null : (JSON.parse(run.process) as ProcessEnd)
  if (end?.output) return end.output.bytes === 0
  return fence === null || (await store.logEnd({ runId, fence })).chunks === 0
}
