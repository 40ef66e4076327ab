import type { Seeded } from '../../sim/seeded.ts'

/** A worker session as the fuzz plays it: coherent calls go on where the last one ended. */
export interface PlayedSession {
  readonly session: string
  registration: number
  number: number
  readonly granted: { readonly run: string; readonly fence: number; chunks: number }[]
}

const KEPT = 40
const WORDS = ['a', 'b', 'mail', 'default', 'etl-1', 'x'.repeat(128)]

/** What answers have shown so far, so that calls meet things that exist. */
export interface Pool {
  name(): string
  run(): string
  /** A run that is a workflow. */
  flow(): string
  token(): string
  delivery(): string
  backfill(): string
  cursor(): string
  etag(): string
  /** Of the plain paths: a job by number or by UUID, and a worker that may have registered. */
  plainJob(): string
  uuid(): string
  plainWorker(): string
  session(): PlayedSession | undefined
  /** Takes in whatever an answer shows; sessions only from the operations that speak of them. */
  learn(body: unknown, headers: Readonly<Record<string, unknown>>): void
  welcome(session: string, registration: number): void
  forget(session: string): void
  find(session: string): PlayedSession | undefined
}

export function createPool(seeded: Seeded): Pool {
  const runs: string[] = []
  const flows: string[] = []
  const tokens: string[] = []
  const deliveries: string[] = []
  const backfills: string[] = []
  const cursors: string[] = []
  const numbers: string[] = []
  const uuids: string[] = []
  const etags: string[] = []
  const sessions: PlayedSession[] = []

  const keep = (list: unknown[], item: unknown) => {
    if (list.includes(item)) return
    list.push(item)
    // The first ones were furnished with everything a run can have; they stay.
    if (list.length > KEPT) list.splice(KEPT / 4, 1)
  }
  const oneOf = (list: readonly string[], otherwise: string) =>
    list.length === 0 || seeded.chance(0.05) ? otherwise : seeded.pick(list)

  const learn = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const { id, workflow } = value as { id?: unknown; workflow?: unknown }
    if (workflow && /^run_[0-9a-z]{11}$/.test(String(id))) keep(flows, id)
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
    flow: () => oneOf(flows, 'run_00000000001'),
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
    welcome(session, registration) {
      const known = sessions.find((one) => one.session === session)
      if (known) Object.assign(known, { registration, number: 0 })
      else keep(sessions, { session, registration, number: 0, granted: [] })
    },
    forget(session) {
      const at = sessions.findIndex((one) => one.session === session)
      if (at >= 0) sessions.splice(at, 1)
    },
    find: (session) => sessions.find((one) => one.session === session),
  }
}
