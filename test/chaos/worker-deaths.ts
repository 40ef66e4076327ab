import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { findMarked } from '../../src/worker/launcher/process-tree.ts'
import { waitFor } from '../support/wait-for.ts'
import { SHORT_TIMES } from './short-times.ts'

/**
 * Workers that run real processes, killed or frozen in the middle. Each process forks children that
 * leave its group and its session, and writes down that it is alive, so that the processes
 * themselves are the witnesses: nothing of an attempt may be seen after its successor has begun.
 */
export interface WorkerDeaths {
  readonly kind: 'kill' | 'freeze'
  readonly rounds: number
  readonly jobs?: number
  say?(line: string): void
}

export interface DeathReport {
  readonly rounds: number
  /** Longest time until the last process of a killed worker was gone. */
  readonly goneMs: number
  readonly violations: readonly string[]
}

const TOKEN = `punctual_root_${'x'.repeat(40)}`
const MAIN = join(import.meta.dirname, '../../bin/punctual')
/** The first attempt lives until it is killed, and so do its children; the second ends at once. */
const JOB = `
  now() { read up _ < /proc/uptime; echo "$up" > "$DIR/$PUNCTUAL_RUN_ID.$PUNCTUAL_ATTEMPT.$1"; }
  alive() { while :; do now "$1"; sleep 0.25; done; }
  now start
  [ "$PUNCTUAL_ATTEMPT" = 1 ] || exit 0
  (alive child &)
  export -f now alive
  setsid bash -c 'alive escaped' > /dev/null 2>&1 &
  alive self`

export async function killWorkers(plan: WorkerDeaths): Promise<DeathReport> {
  const violations: string[] = []
  let goneMs = 0
  for (let round = 1; round <= plan.rounds; round += 1) {
    const result = await playRound(plan)
    violations.push(...result.violations.map((what) => `round ${round}: ${what}`))
    goneMs = Math.max(goneMs, result.goneMs)
    plan.say?.(`${plan.kind} ${round} of ${plan.rounds}: gone after ${result.goneMs.toFixed(0)} ms`)
  }
  return { rounds: plan.rounds, goneMs, violations }
}

async function playRound({ kind, jobs = 20 }: WorkerDeaths) {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-deaths-'))
  const scheduler = await openScheduler({
    ...{ store: `sqlite:${join(dir, 'p.db')}`, rootToken: TOKEN, config: SHORT_TIMES },
  })
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const client = connect({ url, token: TOKEN })
  const workers: ChildProcess[] = []
  try {
    const victim = await startWorker(url, 'victim', jobs, workers)
    const work = { executor: 'shell', run: JOB, shell: '/bin/bash', env: { DIR: dir } } as const
    const runs = await client.submit(
      Array.from({ length: jobs }, () => ({ job: 'alive', work, runsOn: { labels: {} } })),
    )
    const ids = runs.map(({ id }) => id)
    await waitFor(() => ids.every((id) => witnesses(dir, id, 1).length === 3), {
      what: 'every process and its children to be up',
      deadlineMs: 60_000,
    })
    await startWorker(url, 'heir', jobs, workers)
    const result = kind === 'kill' ? await kill(victim, ids) : await freeze(victim, ids, client)
    await waitFor(
      async () => {
        const found = await Promise.all(ids.map((id) => client.getRun(id)))
        return found.every(({ state }) => state === 'succeeded')
      },
      { what: 'every run to be finished by the other worker', deadlineMs: 60_000 },
    )
    const overlaps = ids.filter((id) => hasOverlap(dir, id)).map((id) => `${id} overlapped itself`)
    const wrong = (await Promise.all(ids.map((id) => client.getRun(id))))
      .filter(({ attempt, worker }) => attempt !== 2 || worker !== 'heir')
      .map(({ id, attempt, worker }) => `${id} ended as attempt ${attempt} of ${worker}`)
    return { ...result, violations: [...result.violations, ...overlaps, ...wrong] }
  } finally {
    for (const worker of workers) worker.kill('SIGCONT')
    await Promise.all(workers.map(end))
    await client.close()
    await scheduler.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function startWorker(
  url: string,
  name: string,
  slots: number,
  workers: ChildProcess[],
): Promise<ChildProcess> {
  const args = [
    'worker',
    '--server',
    url,
    '--token',
    TOKEN,
    '--name',
    name,
    '--slots',
    String(slots),
  ]
  const worker = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
  workers.push(worker)
  await once(worker.stdout as NodeJS.ReadableStream, 'data')
  return worker
}

async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const gone = once(worker, 'exit')
  worker.kill('SIGKILL')
  await gone
}

async function kill(victim: ChildProcess, ids: readonly string[]) {
  const startedMs = performance.now()
  await end(victim)
  await waitFor(() => livingOf(ids).length === 0, { what: 'the trees to be gone', intervalMs: 5 })
  const goneMs = performance.now() - startedMs
  const late =
    goneMs > 1_000 ? [`processes lived ${goneMs.toFixed(0)} ms longer than their worker`] : []
  return { goneMs, violations: late }
}

/** Longer than any lease: others have its runs when it wakes up. */
async function freeze(
  victim: ChildProcess,
  ids: readonly string[],
  client: ReturnType<typeof connect>,
) {
  const startedMs = performance.now()
  victim.kill('SIGSTOP')
  await waitFor(() => livingOf(ids).length === 0, {
    what: 'the trees to be gone',
    deadlineMs: 30_000,
  })
  const goneMs = performance.now() - startedMs
  await waitFor(
    async () => {
      const found = await Promise.all(ids.map((id) => client.getRun(id)))
      return found.every(({ attempt }) => attempt === 2)
    },
    { what: 'the runs to be given to the other worker', deadlineMs: 60_000 },
  )
  victim.kill('SIGCONT')
  return { goneMs, violations: [] }
}

/** Processes of first attempts that are alive. */
function livingOf(ids: readonly string[]): number[] {
  const wanted = new Set(ids)
  return findMarked(({ run, attempt }) => attempt === '1' && wanted.has(run))
}

/** Names of those that said they were alive in this attempt. */
function witnesses(dir: string, id: string, attempt: number): string[] {
  const prefix = `${id}.${attempt}.`
  return readdirSync(dir).flatMap((name) =>
    name.startsWith(prefix) && !name.endsWith('.start') ? [name] : [],
  )
}

/** By the machine's own uptime: did anybody of the first attempt live when the second began? */
function hasOverlap(dir: string, id: string): boolean {
  const read = (name: string) => Number(readFileSync(join(dir, name), 'utf8').trim())
  const began = read(`${id}.2.start`)
  return witnesses(dir, id, 1).some((name) => read(name) > began)
}
