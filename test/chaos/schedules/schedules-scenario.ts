import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSeeded } from '../../sim/seeded.ts'
import { createServerHome } from '../../support/server-home.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type Cast, chaosProcess, createCast, type Role } from '../processes.ts'
import { castServers, raiseServers, TOKEN } from '../server-processes.ts'
import type { Database } from '../databases.ts'
import { withClient } from '../dump-postgres.ts'
import type { FaultKind } from '../history.ts'
import { everySecondLaws } from './every-second-invariants.ts'
import { HANDLED_JOB, plantSchedules } from './create-schedules.ts'
import { type Fates, readFates } from './occurrence-stats.ts'
import { countForsaken, type Start, startLaws } from './start-invariants.ts'
import type { TockSettings } from './tock-worker-process.ts'
import { torment } from './inject-faults.ts'

/** Schedules of every second on one PostgreSQL, and everything that can happen to those who fire them. */
export interface SchedulesPlan {
  readonly seed: number
  readonly schedules: number
  /** None but those that workers are there for, so few that they can fire ahead of their times. */
  readonly onlyHandled?: boolean | undefined
  readonly seconds: number
  readonly servers: number
  readonly workers: number
  /** Keep what the servers complained about here. */
  readonly keep?: string | undefined
  database(): Promise<Database>
  say(line: string): void
}

export interface SchedulesResult {
  readonly fates: Fates
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>
  /** Of handlers, on all workers. */
  readonly starts: number
  readonly violations: readonly string[]
  readonly tookMs: number
}

const CATCH_UP_MS = 120_000
const CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`
const BEHIND = `SELECT count(*)::int AS behind FROM schedule_next WHERE nominal_at <= $1::bigint`

export async function playSchedules(plan: SchedulesPlan): Promise<SchedulesResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-schedules-')
  mkdirSync(dir, { recursive: true })
  const faults: { kind: FaultKind; target: string }[] = []
  const note = (kind: FaultKind, target: string) => void faults.push({ kind, target })
  const cast = createCast(dir, (processName) => note('died', processName))
  try {
    const database = await plan.database()
    const { servers, urls } = await castServers(cast, plan.servers, database)
    await raiseServers(servers, database)
    const workers = castWorkers(cast, plan.workers, { dir, urls })
    await Promise.all(workers.map((role) => role.start()))
    await plantSchedules(urls, database.storeUrl, plan)
    plan.say(`${plan.schedules} schedules of every second on ${plan.servers} servers`)
    const leapsAtMs: number[] = []
    const onLeap = () => void leapsAtMs.push(Date.now())
    const endMs = performance.now() + plan.seconds * 1_000
    const isOver = () => performance.now() >= endMs
    await Promise.all(
      servers.map((role, first) => {
        const seeded = createSeeded(plan.seed + first)
        return torment(role, { seeded, note }, { first, isOver, onLeap })
      }),
    )
    plan.say(`${faults.length} faults; everybody is well again`)
    const untilMs = await catchUp(database.storeUrl)
    const forsaken = await awaitRescue(database.storeUrl)
    for (const role of [...workers, ...servers]) await role.current().stop()
    const starts = readStarts(dir)
    return await withClient(database.storeUrl, async (client) => ({
      fates: await readFates(client),
      faults: countKinds(faults),
      starts: starts.length,
      violations: [
        ...(await everySecondLaws(client, untilMs)),
        ...(await startLaws(client, starts, leapsAtMs)),
        ...(forsaken > 0 ? [`no lease outlives its node for ever: ${forsaken} leases do`] : []),
        ...faults.filter(({ kind }) => kind === 'died').map(({ target }) => `${target} died`),
      ],
      tookMs: performance.now() - startedMs,
    }))
  } finally {
    await cast.dismiss()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}

/** Until nothing that is due by now is untold. What never is, is the laws' to report. */
function catchUp(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const [clock] = (await client.query<{ now: number }>(CLOCK)).rows
    const untilMs = clock!.now
    const isTold = async () => {
      const { rows } = await client.query<{ behind: number }>(BEHIND, [untilMs])
      return rows[0]?.behind === 0
    }
    const what = 'every time that came due to be told'
    await waitFor(isTold, { what, deadlineMs: CATCH_UP_MS, intervalMs: 100 }).catch(() => {})
    return untilMs
  })
}

/** How many leases of nodes that are gone nobody has brought back. */
function awaitRescue(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const isRescued = async () => (await countForsaken(client)) === 0
    const what = 'every lease of a dead node to come back'
    await waitFor(isRescued, { what, deadlineMs: CATCH_UP_MS, intervalMs: 100 }).catch(() => {})
    return countForsaken(client)
  })
}

function castWorkers(
  cast: Cast,
  count: number,
  { dir, urls }: { readonly dir: string; readonly urls: readonly string[] },
): Role[] {
  return Array.from({ length: count }, (_, index) =>
    cast.role(`worker-${index + 1}`, (name) => {
      // Each worker prefers another server.
      const own = [...urls.slice(index % urls.length), ...urls.slice(0, index % urls.length)]
      const startsPath = join(dir, `${name}.starts`)
      const settings: TockSettings = {
        ...{ name, job: HANDLED_JOB, urls: own, token: TOKEN, startsPath },
      }
      return chaosProcess('schedules/tock-worker-process.ts', settings)
    }),
  )
}

function readStarts(dir: string): Start[] {
  const files = readdirSync(dir).filter((name) => name.endsWith('.starts'))
  const lines = files.flatMap((name) => readFileSync(join(dir, name), 'utf8').trim().split('\n'))
  return lines.filter(Boolean).map((line) => {
    const [runId, atMs] = line.split(' ').map(Number) as [number, number]
    return { runId, atMs }
  })
}

function countKinds(faults: readonly { kind: FaultKind }[]): SchedulesResult['faults'] {
  const kinds = Object.entries(Object.groupBy(faults, ({ kind }) => kind))
  return Object.fromEntries(kinds.map(([kind, list]) => [kind, list.length]))
}
