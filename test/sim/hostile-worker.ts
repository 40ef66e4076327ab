import type { Database } from 'better-sqlite3'
import { publicId } from '../../src/core/ids.ts'
import type { LeasedAttempt, SessionKey, WorkerClient } from '../../src/core/wire/protocol.ts'
import type { CompatWorker } from '../../src/server/compat/compat-sessions.ts'
import type { Caller } from '../../src/server/identity/caller.ts'
import { compatPrincipalOf, principalOf } from '../../src/server/identity/principal.ts'
import type { RequestOrigin } from '../../src/server/workers/session-registry.ts'
import type { HeldLease } from '../../src/server/sessions/session.ts'
import { createSeeded, type Seeded } from './seeded.ts'
import type { SimNode } from './sim-node.ts'
import { SIM_JOBS } from './sim-worker.ts'
import type { GroundTruth } from './ground-truth.ts'

const PROJECT = 'rival'
const LARGEST = 2 ** 31 - 1
const token = (tokenId: number, project: string): Caller & { readonly project: string } => ({
  tokenId,
  name: `token-${tokenId}`,
  role: 'worker',
  project,
})
const FLEET_TOKEN = token(1, 'default')
const RIVAL_TOKEN = token(2, PROJECT)
/** A different token in the project of the fleet. */
const NEIGHBOUR_TOKEN = token(3, 'default')
const originOf = (caller: typeof FLEET_TOKEN): RequestOrigin => ({
  project: caller.project,
  principal: principalOf(caller),
})
/** The same caller in the compat protocol. */
const compatOriginOf = (caller: typeof FLEET_TOKEN): RequestOrigin => ({
  project: caller.project,
  principal: compatPrincipalOf(caller),
})

/** The token of the workers under attack. */
export const FLEET = originOf(FLEET_TOKEN)
const RIVAL = originOf(RIVAL_TOKEN)
const NEIGHBOUR = originOf(NEIGHBOUR_TOKEN)
/** The compat worker of that token. */
export const COMPAT_FLEET = compatOriginOf(FLEET_TOKEN)
const COMPAT_VICTIM = 'plain-victim'

/** Error codes that would reveal a foreign session. The only allowed code says that the session is unknown. */
const REVEALING_CODES = new Set(['session_superseded', 'exchange_out_of_order', 'invalid_field'])

/**
 * A worker with its own tokens that knows every session, run and fence but no secret. It sends requests for
 * foreign sessions, guesses secrets, sends huge numbers and reports runs it was never granted. It does the same
 * in the compat protocol, where a worker is identified by its name only.
 */
export interface HostileWorker {
  /** Makes one random hostile request. */
  act(): void
}

export function createHostileWorker(options: {
  readonly seed: number
  readonly db: Database
  readonly nodes: readonly SimNode[]
  readonly truth: GroundTruth
  /** Changes the caller as which its requests are treated; the default is its own. */
  mapOrigin?(origin: RequestOrigin): RequestOrigin
}): HostileWorker {
  const { db, nodes, truth, mapOrigin = (origin) => origin } = options
  // A separate generator, so that the rest of the world makes the same random choices as without this worker.
  const seeded = createSeeded(options.seed + 1_000_003)
  const sessions = db.prepare<[], { id: number; registration: number; owner: string }>(
    'SELECT id, registration, owner FROM session',
  )
  const leases = db.prepare<[], { id: number; fence: number }>(
    'SELECT id, fence FROM run WHERE fence IS NOT NULL ORDER BY id DESC LIMIT 20',
  )
  let own: { key: SessionKey; number: number; node: SimNode } | undefined

  const workerClient = (origin: RequestOrigin, node: SimNode): WorkerClient | undefined =>
    node.actor.isAlive ? node.node?.workingFor(mapOrigin(origin)) : undefined

  const foreignAttempts = (): LeasedAttempt[] =>
    leases.all().map(({ id, fence }) => ({ run: publicId('run', id), fence }))

  /** A success is a violation, and so is a refusal that reveals the session. */
  const expectUnknown = (what: string, request: Promise<unknown>) => {
    request.then(
      () => truth.violate('a session was used by another caller', what),
      (error: { code?: string }) => {
        if (!REVEALING_CODES.has(error.code ?? '')) return
        truth.violate('a session was revealed to another caller', `${what}: ${error.code}`)
      },
    )
  }

  const stealSession = () => {
    const victims = sessions.all().filter(({ owner }) => owner === FLEET.principal.id)
    if (victims.length === 0 || nodes.length === 0) return
    const { id, registration } = seeded.pick(victims)
    const served = workerClient(seeded.pick([RIVAL, NEIGHBOUR]), seeded.pick(nodes))
    if (!served) return
    const key = { id: publicId('ses', id), secret: seeded.pick([undefined, 'guess', '']) }
    callAs(served, key, registration)
  }

  const callAs = (served: WorkerClient, key: SessionKey, registration: number) => {
    const what = seeded.pick(['register', 'exchange', 'heartbeat', 'log', 'leave'] as const)
    const number = seeded.pick([1, 2, 3, 50, LARGEST])
    const done = foreignAttempts().map((held) => ({ ...held, outcome: 'succeeded' as const }))
    switch (what) {
      case 'register': {
        const next = seeded.pick([registration + 1, LARGEST])
        const hello = { ...helloOf(seeded), session: key.id, registration: next }
        return expectUnknown(what, served.register(hello, key.secret))
      }
      case 'exchange': {
        const turn = { registration, number, answered: number - 1, done, free: 1, waitMs: 0 }
        return expectUnknown(what, served.exchange(key, turn))
      }
      case 'heartbeat': {
        const beat = { registration, answered: seeded.pick([0, 1, LARGEST]), held: [] }
        return expectUnknown(what, served.heartbeat(key, beat))
      }
      case 'log':
        return expectUnknown(what, served.log(key, { registration, chunks: chunksOf(done) }))
      case 'leave':
        return expectUnknown(what, served.leave(key, registration))
    }
  }

  const register = async () => {
    if (nodes.length === 0) return
    const node = seeded.pick(nodes)
    const welcome = await workerClient(RIVAL, node)?.register({
      ...helloOf(seeded),
      registration: 1,
      protocol: [1, 2],
    })
    if (!welcome) return
    own = { key: { id: welcome.session, secret: welcome.secret }, number: 0, node }
  }

  /** Uses its own session to end, print for, or receive runs of other workers. */
  const misuseOwnSession = async () => {
    if (!own) return register()
    const { key, node } = own
    const served = workerClient(RIVAL, node)
    const stolen = foreignAttempts()
    if (!served) return void (own = undefined)
    own.number += 1
    const done = stolen.map((held) => ({ ...held, outcome: 'succeeded' as const }))
    const turn = { registration: 1, number: own.number, answered: own.number - 1 }
    const answer = await served.exchange(key, { ...turn, done, free: 4, waitMs: 0 })
    if (answer.verdicts.includes('accepted')) truth.violate('a foreign outcome was accepted', '')
    for (const { project, run } of answer.runs) {
      if (project !== PROJECT) truth.violate('a foreign run was granted', `${run} of ${project}`)
    }
    const printed = await served.log(key, { registration: 1, chunks: chunksOf(stolen) })
    if (printed.stored.some((stored) => stored !== null)) {
      truth.violate('foreign output was stored', '')
    }
    await served.heartbeat(key, { registration: 1, answered: 0, held: stolen.slice(0, 4) })
  }

  const compatWorkerAs = (id: string, origin: RequestOrigin): CompatWorker => ({
    id,
    origin: mapOrigin(origin),
    isEverywhere: false,
  })

  /** Registers a compat worker of the fleet, then calls with the same name and another token. */
  const stealCompatWorker = async () => {
    if (nodes.length === 0) return
    const [home, other] = [seeded.pick(nodes), seeded.pick(nodes)]
    const thief = compatOriginOf(seeded.pick([RIVAL_TOKEN, NEIGHBOUR_TOKEN]))
    const victim = { id: COMPAT_VICTIM, origin: COMPAT_FLEET, isEverywhere: false }
    if (home.actor.isAlive) await home.node?.compat.sessions.register(victim)
    const sessions = other.actor.isAlive ? other.node?.compat.sessions : undefined
    if (sessions) {
      expectUnknown('plain', sessions.heartbeat(compatWorkerAs(COMPAT_VICTIM, thief)))
    }
  }

  /** Registers its own compat worker: it must get no foreign run and end none. */
  const misuseCompatSession = async () => {
    if (nodes.length === 0) return
    const { actor, node } = seeded.pick(nodes)
    const sessions = actor.isAlive ? node?.compat.sessions : undefined
    if (!sessions) return
    const worker = compatWorkerAs('plain-hostile', compatOriginOf(RIVAL_TOKEN))
    const session = await sessions.register(worker)
    const given = await sessions.take(session, 0, worker.origin)
    if (given) truth.violate('a foreign run was granted', `run ${given.runId} to a plain worker`)
    const lease = leases.get()
    if (!lease) return
    const stolen = { runId: lease.id, fence: lease.fence } as HeldLease
    if (await sessions.end(session, stolen, { outcome: 'succeeded' })) {
      truth.violate('a foreign outcome was accepted', `run ${lease.id} from a plain worker`)
    }
  }

  return {
    act() {
      const what = seeded.weighted({
        steal: 50,
        misuseOwnSession: 30,
        stealPlain: 10,
        liePlain: 10,
      })
      if (what === 'steal') return stealSession()
      // A node that is dead or out of touch does not answer.
      if (what === 'stealPlain') return void stealCompatWorker().catch(() => {})
      if (what === 'liePlain') return void misuseCompatSession().catch(() => {})
      misuseOwnSession().catch(() => {
        own = undefined
      })
    },
  }
}

function helloOf(seeded: Seeded) {
  return {
    name: 'hostile',
    queues: ['default', 'heavy'],
    labels: {},
    slots: 4,
    executors: SIM_JOBS.map((job) => `handler:${job}`),
    held: [],
    forsaken: [],
    protocol: seeded.pick([[1], [2], [1, 2]]),
  }
}

function chunksOf(attempts: readonly LeasedAttempt[]) {
  const entries = [[0, 1, 'forged\n']] as const
  return attempts.slice(0, 3).map(({ run, fence }) => ({ run, fence, chunk: 0, entries }))
}
