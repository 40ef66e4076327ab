import type { Database } from 'better-sqlite3'
import type { Clock } from '../../src/core/clock.ts'
import type { Working } from '../../src/core/wire/protocol.ts'
import type { NodeConfig } from '../../src/server/cluster/config.ts'
import type { ClaimDemand, Store, TickBatch, TickResult } from '../../src/store/port.ts'
import type { Seeded } from './seeded.ts'

/**
 * Historic bugs of schedulers, each planted from outside so that the product carries none of them:
 * by a store that lies, a clock that is the wrong one, a way that garbles, or a setting that breaks a rule.
 */
export interface PlantedBug {
  readonly name: string
  store?(honest: Store, db: Database, seeded: Seeded): Store
  clock?(honest: Clock): Clock
  working?(honest: Working): Working
  readonly config?: Partial<NodeConfig>
  /** Which law must notice it, where others might as well. */
  readonly law?: RegExp
  /** The first seed that is tried, for one that few seeds notice. */
  readonly from?: number
}

/** The same store with some verbs replaced. */
function withVerbs(honest: Store, verbs: Partial<Store>): Store {
  return new Proxy(honest, {
    get: (target, verb: string) =>
      (verbs as Record<string, unknown>)[verb] ?? (Reflect.get(target, verb) as unknown),
  })
}

const afterTick =
  (spoil: (batch: TickBatch, result: TickResult) => TickResult) =>
  (honest: Store): Store =>
    withVerbs(honest, { tick: async (batch) => spoil(batch, await honest.tick(batch)) })

/** A store that finds nothing in some lanes, now and then, though there is something. */
export function passingOver(
  isMeant: (lane: { id: number; queue: string }) => boolean,
  chance: number,
) {
  return (honest: Store, db: Database, seeded: Seeded): Store => {
    const lane = db.prepare<[number], { id: number; queue: string }>(
      'SELECT id, queue FROM lane WHERE id = ?',
    )
    const spoil = (claim: ClaimDemand): ClaimDemand => {
      const found = lane.get(claim.laneId)
      if (!found || !isMeant(found) || !seeded.chance(chance)) return claim
      return { ...claim, sessions: [], salts: [] }
    }
    return withVerbs(honest, {
      tick: (batch) => honest.tick({ ...batch, claims: batch.claims.map(spoil) }),
    })
  }
}

/** A store in which whatever stands in line goes to its end when somebody else comes in. */
export function goesToTheEnd(honest: Store, db: Database): Store {
  const goBack = db.prepare('UPDATE run SET pos = pos + 1000000000000 WHERE status = 0')
  return withVerbs(honest, {
    tick: (batch) => {
      if (batch.submits.length > 0) goBack.run()
      return honest.tick(batch)
    },
  })
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    ...{ name: 'fence unchecked on completion', from: 28 },
    store(honest, db) {
      const current = db.prepare<[number], { fence: number }>(
        'SELECT fence FROM run WHERE id = ? AND status = 1',
      )
      return withVerbs(honest, {
        findAttempts: async (pairs) => {
          const held = await honest.findAttempts(
            pairs.map(({ runId, fence }) => ({ runId, fence: current.get(runId)?.fence ?? fence })),
          )
          return held
        },
        tick: (batch) =>
          honest.tick({
            ...batch,
            ends: batch.ends.map((end) => ({
              ...end,
              fence: end.owner === null ? (current.get(end.runId)?.fence ?? end.fence) : end.fence,
            })),
          }),
      })
    },
  },
  {
    name: 'wall-clock lease',
    clock: (honest) => ({ ...honest, mono: honest.now }),
  },
  {
    name: 'lost grant never returned',
    // The look for them never comes to an end.
    store: (honest) => withVerbs(honest, { ownLeases: () => new Promise(() => {}) }),
  },
  {
    name: 'replayed completion called stale',
    store: (honest) =>
      withVerbs(
        afterTick((_batch, result) => ({
          ...result,
          ends: result.ends.map((verdict) => (verdict === 'replayed' ? 'stale' : verdict)),
        }))(honest),
        {
          findAttempts: async (pairs) =>
            (await honest.findAttempts(pairs)).map((found) =>
              found.kind === 'ended' ? { kind: 'stale' as const } : found,
            ),
        },
      ),
  },
  {
    ...{ name: 'unknown commit retried as new', from: 60 },
    store(honest) {
      // Remembers what it stored; a repeat of an id is stored again under a new one.
      const stored = new Set<number>()
      return withVerbs(honest, {
        tick: async (batch) => {
          const submits = batch.submits.map((run) =>
            stored.has(run.id) ? { ...run, id: run.id + 1, handOff: null } : run,
          )
          const result = await honest.tick({ ...batch, submits })
          for (const [index, verdict] of result.submits.entries()) {
            if (verdict.kind === 'inserted') stored.add(submits[index]?.id as number)
          }
          return result
        },
      })
    },
  },
  {
    name: 'reaper bypassing the ending',
    store(honest, db) {
      const requeue = db.prepare(
        'UPDATE run SET status = 0, node = NULL, session = NULL WHERE id = ? AND status = 1',
      )
      return withVerbs(honest, {
        orphans: async (input) => {
          for (const lease of await honest.orphans(input)) requeue.run(lease.runId)
          return []
        },
      })
    },
  },
  {
    name: 'cancel forgotten with the worker',
    store(honest, db) {
      const forget = db.prepare('UPDATE run SET cancelling = 0 WHERE id = ? AND status = 1')
      return withVerbs(honest, {
        orphans: async (input) =>
          (await honest.orphans(input)).map((lease) => {
            forget.run(lease.runId)
            return { ...lease, cancelling: false }
          }),
        tick: (batch) => {
          const ends = batch.ends.map((end) => {
            if (end.owner === null || end.to !== 'cancelled') return end
            forget.run(end.runId)
            return { ...end, to: 'retry' as const, cause: 'lost' as const, pos: end.runId, lost: 1 }
          })
          for (const end of ends) if (end.owner !== null) forget.run(end.runId)
          return honest.tick({ ...batch, ends })
        },
      })
    },
  },
  {
    // One seed in some four hundred: a node has to be cut off for long while its worker stays with it.
    ...{ name: 'node renewing past its own row', from: 115 },
    config: { renewMarginMs: -120_000 },
  },
  {
    name: 'reaping right after an outage',
    config: { steadyMs: 0 },
  },
  {
    name: 'a place counted on after its run was lost',
    store(honest, db) {
      // A counter that only an orderly ending brings down: what a lost attempt held stays counted.
      const leak = db.prepare(
        'UPDATE gate SET held = held + 1 WHERE id IN (SELECT value FROM run, json_each(run.gates) WHERE run.id = ?)',
      )
      return afterTick((batch, result) => {
        for (const [index, end] of batch.ends.entries()) {
          if (end.cause === 'lost' && result.ends[index] === 'ended') leak.run(end.runId)
        }
        return result
      })(honest)
    },
  },
  {
    name: 'blocked row without recheck',
    store(honest, db) {
      const forget = db.prepare('UPDATE run SET recheck_at = NULL WHERE status = 3')
      return afterTick((_batch, result) => {
        forget.run()
        return result
      })(honest)
    },
  },
  {
    name: 'queues of a worker served in no order',
    working: (honest) => ({
      ...honest,
      register: (hello) => honest.register({ ...hello, queues: hello.queues.toReversed() }),
    }),
  },
  {
    name: 'an earlier queue passed over until the next look',
    law: /^S2\.6 a later queue/,
    store: passingOver(({ queue }) => queue === 'heavy', 0.3),
  },
  {
    name: 'news between nodes takes three seconds',
    law: /^S2\.6 a later queue/,
    config: { laneRefreshMs: 3_000 },
  },
  {
    name: 'lost attempt passed off as never started',
    working: (honest) => ({
      ...honest,
      register: (hello) => honest.register({ ...hello, forsaken: [] }),
    }),
  },
  {
    name: 'a lane thought empty for ever',
    store: (honest) => withVerbs(honest, { laneHeads: async () => [] }),
  },
  {
    name: 'attempt used as fence',
    store(honest, db) {
      const spoil = db.prepare('UPDATE run SET fence = ? WHERE id = ? AND status = 1')
      const weaken = <T extends { runId: number; attempt: number; fence: number }>(lease: T): T => {
        spoil.run(lease.attempt, lease.runId)
        return { ...lease, fence: lease.attempt }
      }
      return afterTick((_batch, result) => ({
        ...result,
        claims: result.claims.map((leases) => leases.map(weaken)),
      }))(honest)
    },
  },
]
