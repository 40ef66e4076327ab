import type { Database } from 'better-sqlite3'
import type { Clock } from '../../src/core/clock.ts'
import type { WorkerClient } from '../../src/core/wire/protocol.ts'
import type { NodeConfig } from '../../src/server/cluster/config.ts'
import type { RequestOrigin } from '../../src/server/workers/session-registry.ts'
import type {
  ClaimDemand,
  SessionOwner,
  Store,
  TickBatch,
  TickResult,
} from '../../src/store/port.ts'
import { FLEET, COMPAT_FLEET } from './hostile-worker.ts'
import type { Seeded } from './seeded.ts'

/**
 * Historic bugs of schedulers. Each is planted from outside, so the product contains none of them: by a store
 * that answers wrongly, a wrong clock, a client that changes messages, or a setting that breaks a rule.
 */
export interface PlantedBug {
  readonly name: string
  store?(original: Store, db: Database, seeded: Seeded): Store
  clock?(original: Clock): Clock
  workerClient?(original: WorkerClient): WorkerClient
  readonly config?: Partial<NodeConfig>
  /** Adds a hostile worker to the world. */
  readonly isHostile?: true
  mapOrigin?(origin: RequestOrigin): RequestOrigin
  /** The invariant that must find it, if others could find it too. */
  readonly invariant?: RegExp
  /** The first seed `npm test` tries, for a bug that few seeds notice. `npm run sim -- --bugs` starts with 1. */
  readonly firstSeed?: number
}

/** The same store with some methods replaced. */
function withStoreMethods(original: Store, methods: Partial<Store>): Store {
  return new Proxy(original, {
    get: (target, verb: string) =>
      (methods as Record<string, unknown>)[verb] ?? (Reflect.get(target, verb) as unknown),
  })
}

const afterTick =
  (spoil: (batch: TickBatch, result: TickResult) => TickResult) =>
  (original: Store): Store =>
    withStoreMethods(original, { tick: async (batch) => spoil(batch, await original.tick(batch)) })

/** A store that sometimes finds nothing in some lanes although runs wait there. */
export function skippingLanes(
  isMeant: (lane: { id: number; queue: string }) => boolean,
  chance: number,
) {
  return (original: Store, db: Database, seeded: Seeded): Store => {
    const lane = db.prepare<[number], { id: number; queue: string }>(
      'SELECT id, queue FROM lane WHERE id = ?',
    )
    const spoil = (claim: ClaimDemand): ClaimDemand => {
      const found = lane.get(claim.laneId)
      if (!found || !isMeant(found) || !seeded.chance(chance)) return claim
      return { ...claim, sessions: [], salts: [] }
    }
    return withStoreMethods(original, {
      tick: (batch) => original.tick({ ...batch, claims: batch.claims.map(spoil) }),
    })
  }
}

/** A store that moves every waiting run to the end of its queue when a new run arrives. */
export function requeuesAtEnd(original: Store, db: Database): Store {
  const goBack = db.prepare('UPDATE run SET pos = pos + 1000000000000 WHERE status = 0')
  return withStoreMethods(original, {
    tick: (batch) => {
      if (batch.submits.length > 0) goBack.run()
      return original.tick(batch)
    },
  })
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'fence unchecked on completion',
    firstSeed: 28,
    store(original, db) {
      const current = db.prepare<[number], { fence: number }>(
        'SELECT fence FROM run WHERE id = ? AND status = 1',
      )
      return withStoreMethods(original, {
        findAttempts: async (pairs) => {
          const held = await original.findAttempts(
            pairs.map(({ runId, fence }) => ({ runId, fence: current.get(runId)?.fence ?? fence })),
          )
          return held
        },
        tick: (batch) =>
          original.tick({
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
    firstSeed: 20,
    clock: (original) => ({ ...original, mono: original.now }),
  },
  {
    name: 'lost grant never returned',
    firstSeed: 50,
    // The query for own leases never completes.
    store: (original) => withStoreMethods(original, { ownLeases: () => new Promise(() => {}) }),
  },
  {
    name: 'replayed completion called stale',
    store: (original) =>
      withStoreMethods(
        afterTick((_batch, result) => ({
          ...result,
          ends: result.ends.map((verdict) => (verdict === 'replayed' ? 'stale' : verdict)),
        }))(original),
        {
          findAttempts: async (pairs) =>
            (await original.findAttempts(pairs)).map((found) =>
              found.kind === 'ended' ? { kind: 'stale' as const } : found,
            ),
        },
      ),
  },
  {
    name: 'unknown commit retried as new',
    firstSeed: 60,
    store(original) {
      // Remembers what it stored; a repeated id is stored again under a new one.
      const stored = new Set<number>()
      return withStoreMethods(original, {
        tick: async (batch) => {
          const submits = batch.submits.map((run) =>
            stored.has(run.id) ? { ...run, id: run.id + 1, reservation: null } : run,
          )
          const result = await original.tick({ ...batch, submits })
          for (const [index, verdict] of result.submits.entries()) {
            if (verdict.kind === 'inserted') stored.add(submits[index]?.id as number)
          }
          return result
        },
      })
    },
  },
  {
    name: 'reaper bypassing the run end',
    store(original, db) {
      const requeue = db.prepare(
        'UPDATE run SET status = 0, node = NULL, session = NULL WHERE id = ? AND status = 1',
      )
      return withStoreMethods(original, {
        orphans: async (input) => {
          for (const lease of await original.orphans(input)) requeue.run(lease.runId)
          return []
        },
      })
    },
  },
  {
    name: 'cancel forgotten with the worker',
    store(original, db) {
      const forget = db.prepare('UPDATE run SET cancelling = 0 WHERE id = ? AND status = 1')
      return withStoreMethods(original, {
        orphans: async (input) =>
          (await original.orphans(input)).map((lease) => {
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
          return original.tick({ ...batch, ends })
        },
      })
    },
  },
  {
    // About one seed in 400: a node has to be cut off for long while its worker stays connected to it.
    name: 'node renewing past its own row',
    firstSeed: 370,
    config: { renewMarginMs: -120_000 },
  },
  {
    name: 'reaping right after an outage',
    config: { steadyMs: 0 },
  },
  {
    name: 'a slot counted after its run was lost',
    store(original, db) {
      // Only a regular end decrements the counter: a lost attempt still counts as a holder.
      const leak = db.prepare(
        'UPDATE gate SET held = held + 1 WHERE id IN (SELECT value FROM run, json_each(run.gates) WHERE run.id = ?)',
      )
      return afterTick((batch, result) => {
        for (const [index, end] of batch.ends.entries()) {
          if (end.cause === 'lost' && result.ends[index] === 'ended') leak.run(end.runId)
        }
        return result
      })(original)
    },
  },
  {
    name: 'blocked row without recheck',
    store(original, db) {
      const forget = db.prepare('UPDATE run SET recheck_at = NULL WHERE status = 3')
      return afterTick((_batch, result) => {
        forget.run()
        return result
      })(original)
    },
  },
  {
    name: 'queues of a worker served in no order',
    workerClient: (original) => ({
      ...original,
      register: (hello, secret) =>
        original.register({ ...hello, queues: hello.queues.toReversed() }, secret),
    }),
  },
  {
    name: 'an earlier queue skipped until the next refresh',
    invariant: /^S2\.6 a later queue/,
    store: skippingLanes(({ queue }) => queue === 'heavy', 0.3),
  },
  {
    name: 'signals between nodes take three seconds',
    invariant: /^S2\.6 a later queue/,
    config: { laneRefreshMs: 3_000 },
  },
  {
    name: 'lost attempt reported as never started',
    workerClient: (original) => ({
      ...original,
      register: (hello, secret) => original.register({ ...hello, forsaken: [] }, secret),
    }),
  },
  {
    name: 'sessions adopted for any caller',
    isHostile: true,
    invariant: /^a session was used by/,
    store(original, db) {
      const owners = db.prepare<[number], SessionOwner & { project: string }>(
        'SELECT owner, identity, secret, project FROM session WHERE id = ?',
      )
      return withStoreMethods(original, {
        adopt: (input) => original.adopt({ ...input, ...owners.get(input.session) }),
      })
    },
  },
  {
    name: 'sessions without a secret, bound only to a project',
    isHostile: true,
    invariant: /^a session was (used by|revealed to)/,
    workerClient: (original) => ({
      ...original,
      register: (hello, secret) => original.register({ ...hello, protocol: [1] }, secret),
    }),
    mapOrigin: (origin) => (origin.project === FLEET.project ? FLEET : origin),
  },
  {
    name: 'compat workers identified only by their name',
    isHostile: true,
    invariant: /^a session was used by/,
    mapOrigin: (origin) => (origin.principal.id.startsWith('plain ') ? COMPAT_FLEET : origin),
  },
  {
    name: 'a lane thought empty for ever',
    store: (original) => withStoreMethods(original, { laneHeads: async () => [] }),
  },
  {
    name: 'attempt used as fence',
    store(original, db) {
      const spoil = db.prepare('UPDATE run SET fence = ? WHERE id = ? AND status = 1')
      const weaken = <T extends { runId: number; attempt: number; fence: number }>(lease: T): T => {
        spoil.run(lease.attempt, lease.runId)
        return { ...lease, fence: lease.attempt }
      }
      return afterTick((_batch, result) => ({
        ...result,
        claims: result.claims.map((leases) => leases.map(weaken)),
      }))(original)
    },
  },
]
