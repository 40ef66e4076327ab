import type { Lapse } from '../../core/expectation/violation.ts'
import { judge, type RunFacts } from '../../core/expectation/check-expectations.ts'
import type { Terms } from '../../core/expectation/terms.ts'
import { TIMES_LOOKED_AT, withUsual } from '../../core/expectation/typical-duration.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import type { ExpectationRecord, RunRecord, SeenExpectation, Store } from '../../store/port.ts'
import type { Step } from '../loops/run-loop.ts'

const BATCH = 100
const LONGEST_NAP_MS = 1_000
/** Runs that ended here and are still to be looked at; beyond that, those left out are found in a while. */
const MOST_ENDED = 10_000

/** Sees what does not come true of what is expected of runs. Any node looks for all. */
export interface Lookout {
  readonly step: Step
  /** A run that may belong to a schedule has ended here. */
  ended(runId: number): void
}

export interface LookoutDeps {
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
  /** Whether this node is in touch with the store: only then does it know what time it is there. */
  mayLook(): boolean
  /** What did not come true, once for each. */
  onLapses(lapses: readonly Lapse[]): void
}

export function createLookout(deps: LookoutDeps): Lookout {
  const { store, storeNow } = deps
  const ended = new Set<number>()
  /** While nobody expects anything, it is a look at an empty index, and no more. */
  let isNeeded = false

  const look = async (record: ExpectationRecord, run: RunRecord | undefined, now: number) => {
    const { runId, version } = record
    if (!run) return { runId, version, lapses: [], left: null }
    const terms = await settled(JSON.parse(record.terms) as Terms, store)
    const { lapses, left } = judge(terms, await factsOf(run, terms, store), now)
    const next = left && { lookAt: left.lookAt, terms: JSON.stringify(left.terms) }
    return { runId, version, lapses, left: next } satisfies SeenExpectation
  }

  const lookAt = async (records: readonly ExpectationRecord[], now: number) => {
    const found = await store.findRuns({ runIds: records.map(({ runId }) => runId) })
    const runs = new Map(found.map((run) => [run.id, run]))
    const seen: SeenExpectation[] = []
    for (const record of records) seen.push(await look(record, runs.get(record.runId), now))
    const ours = new Set(await store.settleExpectations(seen))
    deps.onLapses(seen.filter(({ runId }) => ours.has(runId)).flatMap(({ lapses }) => lapses))
  }

  return {
    async step() {
      if (!deps.mayLook()) return { more: false, idleMs: LONGEST_NAP_MS }
      const runIds = [...ended].slice(0, BATCH)
      for (const runId of runIds) ended.delete(runId)
      const nextAt = await store.nextExpectationAt()
      isNeeded = nextAt !== null
      if (nextAt === null) return { more: false, idleMs: LONGEST_NAP_MS }
      // Before anything is read: what happens meanwhile is in time, and never the other way round.
      const now = storeNow()
      const due = nextAt <= now ? await store.dueExpectations({ until: now, limit: BATCH }) : []
      const over = runIds.length > 0 ? await store.expectationsOf(runIds) : []
      const records = new Map([...due, ...over].map((record) => [record.runId, record]))
      if (records.size > 0) await lookAt([...records.values()], now)
      const more = due.length === BATCH || ended.size > 0
      const restMs = nextAt > now ? nextAt - now : LONGEST_NAP_MS
      return { more, idleMs: Math.min(LONGEST_NAP_MS, restMs) }
    },

    ended(runId) {
      if (isNeeded && ended.size < MOST_ENDED) ended.add(runId)
    },
  }
}

/** How long it usually takes is looked up once, when it is looked at first. */
async function settled(terms: Terms, store: Pick<Store, 'pastDurations'>): Promise<Terms> {
  if (!terms.usually) return terms
  const { scheduleId } = terms.usually
  const past = await store.pastDurations({ scheduleIds: [scheduleId], each: TIMES_LOOKED_AT })
  const durations = past.map(({ ms }) => ms)
  return withUsual(terms, durations)
}

async function factsOf(
  run: RunRecord,
  terms: Terms,
  store: Pick<Store, 'attemptsOf' | 'logEnd'>,
): Promise<RunFacts> {
  const { id: runId, attempt, startedAt, finishedAt } = run
  const isRetried = terms.startBy !== undefined && attempt > 1
  const [first] = isRetried ? await store.attemptsOf({ runId }) : []
  return {
    ...{ startedAt, finishedAt },
    firstStartedAt: first?.startedAt ?? startedAt,
    isEmpty: terms.output === true && (await saidNothing(run, store)),
  }
}

async function saidNothing(run: RunRecord, store: Pick<Store, 'logEnd'>): Promise<boolean> {
  const { id: runId, state, result, fence } = run
  if (state !== 'succeeded' || result !== null) return false
  const end = run.process === null ? null : (JSON.parse(run.process) as ProcessEnd)
  if (end?.output) return end.output.bytes === 0
  return fence === null || (await store.logEnd({ runId, fence })).chunks === 0
}
