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
 * Workers that run real processes, killed or frozen in the middle. Each process forks children that
 * leave its group, its session and its environment, ignores the polite signal and holds its output
 * open, and writes down that it is alive, so that the processes themselves are the witnesses: nothing
 * of an attempt may be seen after its successor has begun.
 */
export interface WorkerDeaths {
  readonly kind: 'kill' | 'freeze'
  readonly rounds: number
  readonly jobs?: number
  readonly containment?: Containment | 'auto' | undefined
  readonly launcher?: 'native' | 'node' | 'auto' | undefined
  /** How long processes may outlive a worker that is killed. */
  readonly goneWithinMs: number
  say?(line: string): void
}

export type Containment = 'pidns' | 'cgroup' | 'group'

export interface DeathReport {
  readonly rounds: number
  /** Longest time until the last process of a killed worker was gone. */
  readonly goneMs: number
  readonly violations: readonly string[]
}

const TOKEN = `punctual_root_${'x'.repeat(40)}`
const MAIN = join(import.meta.dirname, '../../bin/punctual')
/** Who is to be seen alive in every first attempt. */
const MEMBERS = ['self', 'child', 'escaped']
/** Without its environment, its parents and its session: only the kernel knows where it belongs. */
const NAMELESS = 'nameless'

/**
 * The first attempt lives until it is killed, and so do its children; the second ends at once. They wait
 * by reading what nobody writes, because 200 processes that start `sleep` would be a load of their own.
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
  if [ -n "$NAMELESS" ]; then
    functions="$(declare -f now alive)"
    (env -i setsid bash -c 'DIR=$1 ID=$2; eval "$3"; alive nameless' - "$DIR" "$ID" "$functions" &)
  fi
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

async function playRound(plan: WorkerDeaths) {
  const { kind, jobs = 20 } = plan
  const members = promised(plan)
  const dir = mkdtempSync(join(tmpdir(), 'punctual-deaths-'))
  const scheduler = await openScheduler({
    ...{ store: `sqlite:${join(dir, 'p.db')}`, rootToken: TOKEN, config: SHORT_TIMES },
  })
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const client = connect({ url, token: TOKEN })
  const workers: ChildProcess[] = []
  try {
    const victim = await startWorker(url, 'victim', plan, workers)
    const env = { DIR: dir, NAMELESS: members.includes(NAMELESS) ? 'yes' : '' }
    const work = { executor: 'shell', run: JOB, shell: '/bin/bash', env } as const
    const runs = await client.submit(
      Array.from({ length: jobs }, () => ({ job: 'alive', work, runsOn: { labels: {} } })),
    )
    const ids = runs.map(({ id }) => id)
    await waitFor(() => ids.every((id) => witnesses(dir, id, 1).length === members.length), {
      what: 'every process and its children to be up',
      deadlineMs: 60_000,
    })
    await startWorker(url, 'heir', plan, workers)
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

/** A launcher without help from the kernel cannot find who has left everything behind. */
function promised({ containment, launcher }: WorkerDeaths): readonly string[] {
  const isHelpless = containment === 'group' || launcher === 'node'
  return isHelpless ? MEMBERS : [...MEMBERS, NAMELESS]
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
  const gone = once(worker, 'exit')
  worker.kill('SIGKILL')
  await gone
}

async function kill(victim: ChildProcess, ids: readonly string[], { goneWithinMs }: WorkerDeaths) {
  const startedMs = performance.now()
  await end(victim)
  await waitFor(() => survivorsOf(ids).length === 0, {
    what: 'the trees to be gone',
    intervalMs: 5,
  })
  const goneMs = performance.now() - startedMs
  const late =
    goneMs > goneWithinMs
      ? [`processes lived ${goneMs.toFixed(0)} ms longer than their worker`]
      : []
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
  await waitFor(() => survivorsOf(ids).length === 0, {
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
