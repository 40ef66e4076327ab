import type { Seeded } from '../../sim/seeded.ts'

/** A simulated worker session: consistent calls continue from the last one. */
export interface SimulatedSession {
  readonly session: string
  readonly secret: string | undefined
  registration: number
  number: number
  readonly granted: { readonly run: string; readonly fence: number; chunks: number }[]
}

const KEPT = 40
const WORDS = ['a', 'b', 'mail', 'default', 'etl-1', 'x'.repeat(128)]

/** Objects seen in answers, so that requests use existing ones. */
export interface Pool {
  name(): string
  run(): string
  /** A run that is a workflow. */
  aWorkflow(): string
  token(): string
  delivery(): string
  backfill(): string
  cursor(): string
  etag(): string
  /** For compat routes: a job by number or UUID, and a worker that may have registered. */
  plainJob(): string
  uuid(): string
  plainWorker(): string
  session(): SimulatedSession | undefined
  /** Remembers objects from an answer; sessions only from session operations. */
  learn(body: unknown, headers: Readonly<Record<string, unknown>>): void
  welcome(session: string, secret: string | undefined, registration: number): void
  forget(session: string): void
  find(session: string): SimulatedSession | undefined
}

export function createPool(seeded: Seeded): Pool {
  const runs: string[] = []
  const workflows: string[] = []
  const tokens: string[] = []
  const deliveries: string[] = []
  const backfills: string[] = []
  const cursors: string[] = []
  const numbers: string[] = []
  const uuids: string[] = []
  const etags: string[] = []
  const sessions: SimulatedSession[] = []

  const keep = (list: unknown[], item: unknown) => {
    if (list.includes(item)) return
    list.push(item)
    // The first entries are fixtures with every field; they stay.
    if (list.length > KEPT) list.splice(KEPT / 4, 1)
  }
  const oneOf = (list: readonly string[], otherwise: string) =>
    list.length === 0 || seeded.chance(0.05) ? otherwise : seeded.pick(list)

  const learn = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { id, workflow } = value as { id?: unknown; workflow?: unknown }
    if (workflow && /^run_[0-9a-z]{11}$/.test(String(id))) keep(workflows, id)
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'number' && (key === 'id' || key === 'job_id'))
        keep(numbers, String(inner))
      else if (typeof inner !== 'string') learn(inner)
      else if (key === 'job_id') keep(uuids, inner)
      else if (/^run_[0-9a-z]{11}$/.test(inner)) keep(runs, inner)
      else if (/^tok_\d+$/.test(inner)) keep(tokens, inner)
      else if (/^dlv_[0-9a-z]{11}$/.test(inner)) keep(deliveries, inner)
      else if (/^bkf_[0-9a-z]{11}$/.test(inner)) keep(backfills, inner)
      else if (key === 'next_cursor') keep(cursors, inner)
    }
  }

  return {
    name: () => (seeded.chance(0.1) ? `n${seeded.int(200)}` : seeded.pick(WORDS)),
    run: () => oneOf(runs, 'run_00000000001'),
    aWorkflow: () => oneOf(workflows, 'run_00000000001'),
    token: () => oneOf(tokens, 'tok_999999'),
    delivery: () => oneOf(deliveries, 'dlv_00000000001'),
    backfill: () => oneOf(backfills, 'bkf_00000000001'),
    cursor: () => oneOf(cursors, 'MTox'),
    etag: () => oneOf(etags, '"1"'),
    plainJob: () => oneOf(numbers, '999999'),
    uuid: () => oneOf(uuids, '123e4567-e89b-12d3-a456-426614174000'),
    plainWorker: () => seeded.pick(['w', 'host:1', 'a@b']),
    session: () => (sessions.length === 0 ? undefined : seeded.pick(sessions)),
    learn(body, { etag }) {
      learn(body)
      if (typeof etag === 'string') keep(etags, etag)
    },
    welcome(session, secret, registration) {
      const known = sessions.find((one) => one.session === session)
      if (known) Object.assign(known, { registration, number: 0 })
      else keep(sessions, { session, secret, registration, number: 0, granted: [] })
    },
    forget(session) {
      const at = sessions.findIndex((one) => one.session === session)
      if (at >= 0) sessions.splice(at, 1)
    },
    find: (session) => sessions.find((one) => one.session === session),
  }
}
