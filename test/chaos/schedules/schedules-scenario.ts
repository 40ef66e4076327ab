import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSeeded } from '../../sim/seeded.ts'
import { createServerHome } from '../../support/server-home.ts'
import { waitFor } from '../../support/wait-for.ts'
import {
  type ProcessGroup,
  chaosProcess,
  createProcessGroup,
  type ProcessRole,
} from '../processes.ts'
import { defineServers, startServers, CHAOS_TOKEN } from '../server-processes.ts'
import type { ChaosDatabase } from '../databases.ts'
import { withClient } from '../dump-postgres.ts'
import type { FaultKind } from '../history.ts'
import { everySecondInvariants } from './every-second-invariants.ts'
import { HANDLED_JOB, createSchedules } from './create-schedules.ts'
import { type OccurrenceStats, readOccurrenceStats } from './occurrence-stats.ts'
import { countOrphaned, type RecordedStart, startInvariants } from './start-invariants.ts'
import type { TockSettings } from './tock-worker-process.ts'
import { injectServerFaults } from './inject-faults.ts'

/** Schedules that fire every second on one PostgreSQL, with faults in the servers and workers. */
export interface SchedulesPlan {
  readonly seed: number
  readonly schedules: number
  /** Only schedules of the job with workers, so few that they can fire ahead of their times. */
  readonly onlyHandled?: boolean | undefined
  readonly seconds: number
  readonly servers: number
  readonly workers: number
  /** Directory in which to keep the servers' standard error. */
  readonly keep?: string | undefined
  database(): Promise<ChaosDatabase>
  report(line: string): void
}

export interface SchedulesResult {
  readonly stats: OccurrenceStats
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>
  /** Handler starts on all workers. */
  readonly starts: number
  readonly violations: readonly string[]
  readonly tookMs: number
}

const CATCH_UP_MS = 120_000
const CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`
const BEHIND = `SELECT count(*)::int AS behind FROM schedule_next WHERE nominal_at <= $1::bigint`

export async function runSchedulesScenario(plan: SchedulesPlan): Promise<SchedulesResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-schedules-')
  mkdirSync(dir, { recursive: true })
  const faults: { kind: FaultKind; target: string }[] = []
  const note = (kind: FaultKind, target: string) => void faults.push({ kind, target })
  const processes = createProcessGroup(dir, (processName) => note('died', processName))
  try {
    const database = await plan.database()
    const { servers, urls } = await defineServers(processes, plan.servers, database)
    await startServers(servers, database)
    const workers = defineWorkers(processes, plan.workers, { dir, urls })
    await Promise.all(workers.map((role) => role.start()))
    await createSchedules(urls, database.storeUrl, plan)
    plan.report(`${plan.schedules} schedules of every second on ${plan.servers} servers`)
    const leapsAtMs: number[] = []
    const onLeap = () => void leapsAtMs.push(Date.now())
    const endMs = performance.now() + plan.seconds * 1_000
    const isOver = () => performance.now() >= endMs
    await Promise.all(
      servers.map((role, first) => {
        const seeded = createSeeded(plan.seed + first)
        return injectServerFaults(role, { seeded, note }, { first, isOver, onLeap })
      }),
    )
    plan.report(`${faults.length} faults; everybody is well again`)
    const untilMs = await catchUp(database.storeUrl)
    const orphaned = await waitForRescue(database.storeUrl)
    if (plan.onlyHandled) await waitForFiringAhead(database.storeUrl)
    for (const role of [...workers, ...servers]) await role.current().stop()
    const starts = readStarts(dir)
    return await withClient(database.storeUrl, async (client) => ({
      stats: await readOccurrenceStats(client),
      faults: countKinds(faults),
      starts: starts.length,
      violations: [
        ...(await everySecondInvariants(client, untilMs)),
        ...(await startInvariants(client, starts, leapsAtMs)),
        ...(orphaned > 0 ? [`no lease outlives its node for ever: ${orphaned} leases do`] : []),
        ...faults.filter(({ kind }) => kind === 'died').map(({ target }) => `${target} died`),
      ],
      tookMs: performance.now() - startedMs,
    }))
  } finally {
    await processes.killAll()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}

/** Waits until every time due by now has a record. The invariants report those that have none. */
function catchUp(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const [clock] = (await client.query<{ now: number }>(CLOCK)).rows
    const untilMs = clock!.now
    const isTold = async () => {
      const { rows } = await client.query<{ behind: number }>(BEHIND, [untilMs])
      return rows[0]?.behind === 0
    }
    const what = 'a record of every due time'
    await waitFor(isTold, { what, deadlineMs: CATCH_UP_MS, intervalMs: 100 }).catch(() => {})
    return untilMs
  })
}

/** Number of leases of dead nodes that were not recovered. */
function waitForRescue(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const isRescued = async () => (await countOrphaned(client)) === 0
    const what = 'every lease of a dead node to come back'
    await waitFor(isRescued, { what, deadlineMs: CATCH_UP_MS, intervalMs: 100 }).catch(() => {})
    return countOrphaned(client)
  })
}

/** On a busy machine no server may have had time to fire ahead during the faults. */
function waitForFiringAhead(url: string): Promise<void> {
  return withClient(url, async (client) => {
    const hasFiredAhead = async () => (await readOccurrenceStats(client)).onTheDot > 0
    const what = 'a time to be fired ahead'
    await waitFor(hasFiredAhead, { what, deadlineMs: CATCH_UP_MS, intervalMs: 100 }).catch(() => {})
  })
}

function defineWorkers(
  processes: ProcessGroup,
  count: number,
  { dir, urls }: { readonly dir: string; readonly urls: readonly string[] },
): ProcessRole[] {
  return Array.from({ length: count }, (_, index) =>
    processes.role(`worker-${index + 1}`, (name) => {
      // Each worker prefers another server.
      const own = [...urls.slice(index % urls.length), ...urls.slice(0, index % urls.length)]
      const startsPath = join(dir, `${name}.starts`)
      const settings: TockSettings = {
        name,
        job: HANDLED_JOB,
        urls: own,
        token: CHAOS_TOKEN,
        startsPath,
      }
      return chaosProcess('schedules/tock-worker-process.ts', settings)
    }),
  )
}

function readStarts(dir: string): RecordedStart[] {
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
