import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { waitFor } from '../support/wait-for.ts'
import { SHORT_TIMES } from './short-times.ts'
import { survivorsOf } from './survivors.ts'

/**
 * Workers that run real processes and are killed or frozen midway. Each process forks children that leave its
 * group, session and environment, ignore SIGTERM, keep its output open and record that they are alive. From
 * these records: no process of an attempt may live after its successor has begun.
 */
export interface WorkerDeaths {
  readonly kind: 'kill' | 'freeze'
  readonly rounds: number
  readonly jobs?: number
  readonly containment?: ContainmentLevel | 'auto' | undefined
  readonly launcher?: 'native' | 'node' | 'auto' | undefined
  /** How long processes may outlive a killed worker. */
  readonly maxSurvivalMs: number
  report?(line: string): void
}

export type ContainmentLevel = 'pidns' | 'cgroup' | 'group'

export interface DeathReport {
  readonly rounds: number
  /** Longest time until the last process of a killed worker had exited. */
  readonly exitedMs: number
  readonly violations: readonly string[]
}

const TOKEN = `punctual_root_${'x'.repeat(40)}`
const MAIN = join(import.meta.dirname, '../../bin/punctual')
/** Processes that must be alive in every first attempt. */
const MEMBERS = ['self', 'child', 'escaped']
/** Has neither the environment nor the parents nor the session of its attempt: only the kernel can attribute it. */
const DETACHED = 'nameless'

/**
 * The first attempt and its children live until they are killed; the second attempt ends at once. They wait by
 * reading from a pipe without a writer, because 200 processes that start `sleep` would be a load of their own.
 */
const JOB = `
  ID="$PUNCTUAL_RUN_ID.$PUNCTUAL_ATTEMPT"
  now() { read up _ < /proc/uptime; echo "$up" > "$DIR/$ID.$1"; }
  alive() { exec 9<> <(:); while :; do now "$1"; read -t 0.5 -u 9; done; }
  now start
  [ "$PUNCTUAL_ATTEMPT" = 1 ] || exit 0
  trap '' TERM HUP
  (alive child &)
  export -f now alive
  export ID
  (setsid bash -c 'alive escaped' &)
  if [ -n "$DETACHED" ]; then
    functions="$(declare -f now alive)"
    (env -i setsid bash -c 'DIR=$1 ID=$2; eval "$3"; alive nameless' - "$DIR" "$ID" "$functions" &)
  fi
  alive self`

export async function killWorkers(plan: WorkerDeaths): Promise<DeathReport> {
  const violations: string[] = []
  let exitedMs = 0
  for (let round = 1; round <= plan.rounds; round += 1) {
    const result = await runRound(plan)
    violations.push(...result.violations.map((what) => `round ${round}: ${what}`))
    exitedMs = Math.max(exitedMs, result.exitedMs)
    plan.report?.(
      `${plan.kind} ${round} of ${plan.rounds}: exited after ${result.exitedMs.toFixed(0)} ms`,
    )
  }
  return { rounds: plan.rounds, exitedMs, violations }
}

async function runRound(plan: WorkerDeaths) {
  const { kind, jobs = 20 } = plan
  const members = expectedMembers(plan)
  const dir = mkdtempSync(join(tmpdir(), 'punctual-deaths-'))
  const scheduler = await openScheduler({
    store: `sqlite:${join(dir, 'p.db')}`,
    rootToken: TOKEN,
    config: SHORT_TIMES,
  })
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const client = connect({ url, token: TOKEN })
  const workers: ChildProcess[] = []
  try {
    const victim = await startWorker(url, 'victim', plan, workers)
    const env = { DIR: dir, DETACHED: members.includes(DETACHED) ? 'yes' : '' }
    const work = { executor: 'shell', run: JOB, shell: '/bin/bash', env } as const
    const runs = await client.submit(
      Array.from({ length: jobs }, () => ({ job: 'alive', work, runsOn: { labels: {} } })),
    )
    const ids = runs.map(({ id }) => id)
    await waitFor(() => ids.every((id) => livingMembers(dir, id, 1).length === members.length), {
      what: 'every process and its children to be up',
      deadlineMs: 60_000,
    })
    await startWorker(url, 'replacement', plan, workers)
    const result =
      kind === 'kill' ? await kill(victim, ids, plan) : await freeze(victim, ids, client)
    await waitFor(
      async () => {
        const found = await Promise.all(ids.map((id) => client.getRun(id)))
        return found.every(({ state }) => state === 'succeeded')
      },
      { what: 'every run to be finished by the other worker', deadlineMs: 60_000 },
    )
    const overlaps = ids.filter((id) => hasOverlap(dir, id)).map((id) => `${id} overlapped itself`)
    const wrong = (await Promise.all(ids.map((id) => client.getRun(id))))
      .filter(({ attempt, worker }) => attempt !== 2 || worker !== 'replacement')
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

/** A launcher without help from the kernel cannot find a process that has left its group, session and environment. */
function expectedMembers({ containment, launcher }: WorkerDeaths): readonly string[] {
  const isHelpless = containment === 'group' || launcher === 'node'
  return isHelpless ? MEMBERS : [...MEMBERS, DETACHED]
}

async function startWorker(
  url: string,
  name: string,
  { jobs = 20, containment = 'auto', launcher = 'auto' }: WorkerDeaths,
  workers: ChildProcess[],
): Promise<ChildProcess> {
  const flags = { server: url, token: TOKEN, name, slots: String(jobs), containment, launcher }
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value])
  const worker = spawn(process.execPath, [MAIN, 'worker', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
  workers.push(worker)
  await once(worker.stdout as NodeJS.ReadableStream, 'data')
  return worker
}

async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const exited = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exited
}

async function kill(victim: ChildProcess, ids: readonly string[], { maxSurvivalMs }: WorkerDeaths) {
  const startedMs = performance.now()
  await end(victim)
  await waitFor(() => survivorsOf(ids).length === 0, {
    what: 'every process of the trees to exit',
    intervalMs: 5,
  })
  const exitedMs = performance.now() - startedMs
  const late =
    exitedMs > maxSurvivalMs
      ? [`processes lived ${exitedMs.toFixed(0)} ms longer than their worker`]
      : []
  return { exitedMs, violations: late }
}

/** Longer than any lease: other workers have its runs when it continues. */
async function freeze(
  victim: ChildProcess,
  ids: readonly string[],
  client: ReturnType<typeof connect>,
) {
  const startedMs = performance.now()
  victim.kill('SIGSTOP')
  await waitFor(() => survivorsOf(ids).length === 0, {
    what: 'every process of the trees to exit',
    deadlineMs: 30_000,
  })
  const exitedMs = performance.now() - startedMs
  await waitFor(
    async () => {
      const found = await Promise.all(ids.map((id) => client.getRun(id)))
      return found.every(({ attempt }) => attempt === 2)
    },
    { what: 'the runs to be given to the other worker', deadlineMs: 60_000 },
  )
  victim.kill('SIGCONT')
  return { exitedMs, violations: [] }
}

/** Names of the processes that were alive in this attempt. */
function livingMembers(dir: string, id: string, attempt: number): string[] {
  const prefix = `${id}.${attempt}.`
  return readdirSync(dir).flatMap((name) =>
    name.startsWith(prefix) && !name.endsWith('.start') ? [name] : [],
  )
}

/** Whether a process of the first attempt lived when the second began, by the machine's uptime. */
function hasOverlap(dir: string, id: string): boolean {
  const read = (name: string) => Number(readFileSync(join(dir, name), 'utf8').trim())
  const began = read(`${id}.2.start`)
  return livingMembers(dir, id, 1).some((name) => read(name) > began)
}
