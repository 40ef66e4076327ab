import assert from 'node:assert/strict'
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/worker/clock/system-clock.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import type { Check, CheckReport } from './check.ts'
import type { HeartbeatJob, HeartbeatTally } from './lists/heartbeats.ts'
import type { ReaderJob, ReaderTally } from './lists/readers.ts'
import { seedPostgres, seedSqlite } from './lists/seed.ts'

const PUNCTUAL = join(import.meta.dirname, '../../bin/punctual')
const HEARTBEATS_FILE = join(import.meta.dirname, 'lists/heartbeats.ts')
const READERS_FILE = join(import.meta.dirname, 'lists/readers.ts')
const RUNS = Number(process.env['PUNCTUAL_LISTS_RUNS'] ?? 1_000_000)
/** Seconds per phase; every round has one phase without readers and one with them. */
const SECONDS = Number(process.env['PUNCTUAL_LISTS_SECONDS'] ?? 8)
const ROUNDS = 5
const READERS = 150
const EIGHT = Array.from({ length: 8 }, () => ({ job: 'long' }))
const NEVER = 'q=tag.b:nope&limit=10'
/** One of five readers uses a filter that matches. */
const MIXED = [NEVER, NEVER, NEVER, NEVER, 'q=tag.a:x&limit=10', NEVER, NEVER, NEVER, NEVER]
/** As many names as a filter may have. */
const MANY_JOBS = `q=job:${Array.from({ length: 400 }, (_, nth) => `j${nth % 300}`).join()}&limit=10`
const ORDINARY = [
  'q=state:failed&limit=10',
  'q=job:seeded&limit=10',
  'q=since:24h&limit=10',
  MANY_JOBS,
]
const LISTS = [...MIXED, ...ORDINARY.flatMap((one) => [one, NEVER, NEVER])].map(
  (query) => `/v1/runs?${query}`,
)
/** The longest time that one request may keep the event loop. */
const LOOP_MS = 100
/** Lines of the log that readers page through while others list runs. */
const LOG_LINES = 1_000_000
const PRINT = `seq -f 'line %.0f of a long log' ${LOG_LINES}`

/** Effects that many readers must not have, on a history of a million runs. */
export const listChecks: Check[] = [
  {
    id: 'S2-sqlite',
    title: 'many list requests next to workers: punctual up',
    run: (report) =>
      inDirectory(async (directory) => {
        const data = join(directory, 'data')
        await start(directory, 'up', ['--data', data]).then(({ stop }) => stop())
        await seedSqlite(join(data, 'punctual.db'), RUNS)
        const server = await start(directory, 'up', ['--data', data, '--slots', '8'])
        try {
          await playScenario([server.url], tokenIn(data), report)
        } finally {
          await server.stop()
        }
      }),
  },
  {
    id: 'S2-postgres',
    title: 'many list requests next to workers: two servers on PostgreSQL',
    run: (report) =>
      inDirectory(async (directory) => {
        const store = await postgresUrl()
        await seedPostgres(store, RUNS)
        const data = join(directory, 'data')
        const started: Running[] = []
        try {
          const args = ['--store', store, '--data', data]
          started.push(await start(directory, 'server', args))
          started.push(await start(directory, 'server', args))
          const urls = started.map(({ url }) => url)
          started.push(startWorker(directory, urls, tokenIn(data)))
          await playScenario(urls, tokenIn(data), report)
        } finally {
          for (const one of started.toReversed()) await one.stop()
        }
      }),
  },
]

interface Given {
  readonly urls: readonly string[]
  readonly root: string
  readonly viewer: string
}

async function playScenario(
  urls: readonly string[],
  root: string,
  report: CheckReport,
): Promise<void> {
  const [url = ''] = urls
  const call = caller(url, root)
  const given = { urls, root, viewer: await tokenOf(call, 'viewer') }
  await call('PUT', '/v1/jobs/long', { run: 'sleep 4' })
  const stopWork = keepWorkers(call)
  await waitFor(async () => (await countOf(call, 'job:long state:running')) >= 4, {
    what: 'attempts under way',
  })
  const lost = () => metric(urls, root, 'punctual_leases_lost_total')
  const lostBefore = await lost()
  const beats = startChild<HeartbeatJob, HeartbeatTally>(HEARTBEATS_FILE, {
    urls,
    token: root,
    count: 4,
  })
  const problems: string[] = []
  try {
    for (const honoursRetryAfter of [true, false]) {
      problems.push(...(await measureWithReaders(given, honoursRetryAfter, report)))
    }
    problems.push(...(await measureWithLogReaders(given, await printLog(call), report)))
    const scanMs = await walk(url, given.viewer, 'q=worker:nobody&limit=10')
    report.figure('walk without an index, to its end', `${Math.round(scanMs)} ms`)
    if (scanMs > 60_000) problems.push('the walk without an index took too long')
  } finally {
    const { sent, late, slowestMs } = await beats.stop()
    report.figure('heartbeats late', `${late} of ${sent}`)
    report.figure('slowest heartbeat', `${Math.round(slowestMs)} ms`)
    if (sent === 0 || late > 0) problems.push(`${late} of ${sent} heartbeats were late`)
    const lostNow = (await lost()) - lostBefore
    report.figure('attempts lost', lostNow)
    if (lostNow > 0) problems.push(`${lostNow} attempts lost`)
    await stopWork()
    const repeated = await countRepeated(call)
    report.figure('runs of `long` with a second attempt', repeated)
    if (repeated > 0) problems.push(`${repeated} runs had a second attempt`)
  }
  assert.deepEqual(problems, [])
}

/** Alternates phases without and with readers, so that short disturbances of the machine do not decide. */
async function measureWithReaders(
  { urls, root, viewer }: Given,
  honoursRetryAfter: boolean,
  report: CheckReport,
): Promise<string[]> {
  const how = honoursRetryAfter ? 'readers that honour Retry-After' : 'readers that ignore it'
  const job = { urls, token: viewer, paths: LISTS, count: READERS, honoursRetryAfter }
  const rounds = await playRounds(job, root, () => walk(urls[0] ?? '', viewer, NEVER))
  const { violations, fullPages, refusedShare, walkedMs } = findViolations(how, rounds, report)
  report.figure(`${how}: full pages/s`, fullPages.toFixed(1))
  report.figure(`${how}: the never-matching filter, to its end`, `${walkedMs} ms at most`)
  return [
    ...violations,
    ...(walkedMs > 60_000 ? [`${how}: the walk took ${walkedMs} ms`] : []),
    ...(fullPages < 20 ? [`${how}: ${fullPages} full pages/s`] : []),
    ...(refusedShare > 0.5 ? [`${how}: ${Math.round(100 * refusedShare)} % refused`] : []),
  ]
}

/**
 * Pages of a long log cost more than lists. Submissions may notice them, but none may wait for longer than a single
 * request may keep the event loop.
 */
async function measureWithLogReaders(
  { urls, root, viewer }: Given,
  run: string,
  report: CheckReport,
): Promise<string[]> {
  const log = `/v1/runs/${run}/logs`
  const paths = [
    `${log}?limit=10000`,
    `${log}?limit=10000&from_line=500000`,
    `${log}?tail=10000`,
    `${log}/raw`,
  ]
  const job = { urls, token: viewer, paths, count: READERS, honoursRetryAfter: true }
  const rounds = await playRounds(job, root, async () => 0)
  const how = 'readers of a long log'
  const { unanswered } = findViolations(how, rounds, report)
  const slowestMs = median(rounds.map(({ beside }) => beside.p99))
  return [
    ...(unanswered > 0 ? [`${how}: ${unanswered} not answered`] : []),
    ...(slowestMs > LOOP_MS ? [`${how}: submit p99 is ${slowestMs} ms`] : []),
  ]
}

async function printLog(call: Call): Promise<string> {
  const { id } = await call<{ id: string }>('POST', '/v1/runs', { run: PRINT })
  await waitFor(
    async () => (await call<{ state: string }>('GET', `/v1/runs/${id}`)).state === 'succeeded',
    { what: 'the long log', deadlineMs: 120_000 },
  )
  return id
}

async function playRounds(
  job: ReaderJob,
  root: string,
  walkToEnd: () => Promise<number>,
): Promise<Round[]> {
  const { urls } = job
  const rounds: Round[] = []
  for (let nth = 0; nth < ROUNDS; nth += 1) {
    const alone = await submitFor(urls, root, SECONDS)
    const startedMs = performance.now()
    const readers = startChild<ReaderJob, ReaderTally>(READERS_FILE, job)
    await systemClock.sleep(2_000)
    const beside = await submitFor(urls, root, SECONDS)
    const walkedMs = await walkToEnd()
    const readMs = performance.now() - startedMs
    rounds.push({ alone, beside, walkedMs, readMs, tally: await readers.stop() })
  }
  return rounds
}

interface Timing {
  readonly p50: number
  readonly p99: number
  readonly count: number
}

interface Round {
  readonly alone: Timing
  readonly beside: Timing
  readonly walkedMs: number
  readonly readMs: number
  readonly tally: ReaderTally
}

/** Reports the measurements; returns violations of the limits. */
function findViolations(how: string, rounds: readonly Round[], report: CheckReport) {
  const sum = (value: (tally: ReaderTally) => number) =>
    rounds.reduce((total, { tally }) => total + value(tally), 0)
  const most = (value: (round: Round) => number) => Math.round(Math.max(...rounds.map(value)))
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const readS = rounds.reduce((total, { readMs }) => total + readMs, 0) / 1_000
  const fullPages = sum((tally) => tally.fullPages) / readS
  const refused = sum((tally) => tally.refused + tally.overloaded)
  const refusedShare = refused / (refused + sum((tally) => tally.pages))
  const unanswered = sum((tally) => tally.unanswered + tally.other)
  const ratios = rounds.map(({ alone, beside }) => beside.p99 / alone.p99)
  const walkedMs = most((round) => round.walkedMs)
  const show = (name: string, value: string | number) => report.figure(`${how}: ${name}`, value)

  show('submit p50 alone', `${middle(({ alone }) => alone.p50)} ms`)
  show(`submit p50 beside ${READERS} readers`, `${middle(({ beside }) => beside.p50)} ms`)
  show('submit p99 alone', `${middle(({ alone }) => alone.p99)} ms`)
  show(`submit p99 beside ${READERS} readers`, `${middle(({ beside }) => beside.p99)} ms`)
  const each = ratios.map((ratio) => ratio.toFixed(1)).join(' ')
  show('ratio of submit p99', `${median(ratios).toFixed(2)} (${each})`)
  show('pages/s', (sum((tally) => tally.pages) / readS).toFixed(0))
  show('refused', `${(100 * refusedShare).toFixed(1)} %`)
  show('not answered', unanswered)
  show('slowest answer', `${most(({ tally }) => tally.slowestMs)} ms`)
  const violations = [
    ...(unanswered > 0 ? [`${how}: ${unanswered} not answered`] : []),
    ...(median(ratios) > 3 ? [`${how}: submit p99 is ${median(ratios)} times that alone`] : []),
  ]
  return { violations, unanswered, fullPages, refusedShare, walkedMs }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Eight attempts at a time, of four seconds each: longer than a heartbeat period. */
function keepWorkers(call: Call): () => Promise<void> {
  let isOver = false
  const feed = async () => {
    while (!isOver) {
      if ((await countOf(call, 'job:long state:live')) < 8) {
        await call('POST', '/v1/runs:batch', { runs: EIGHT })
      }
      await systemClock.sleep(1_000)
    }
  }
  const fed = feed()
  return async () => {
    isOver = true
    await fed
  }
}

async function submitFor(urls: readonly string[], token: string, seconds: number): Promise<Timing> {
  const calls = urls.map((url) => caller(url, token))
  const times: number[] = []
  const untilMono = performance.now() + seconds * 1_000
  for (let nth = 0; performance.now() < untilMono; nth += 1) {
    const startedMs = performance.now()
    const call = calls[nth % calls.length] as Call
    await call('POST', '/v1/runs', { job: 'no-worker-has-this' })
    times.push(performance.now() - startedMs)
    await systemClock.sleep(20)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) =>
    Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
  return { p50: at(0.5), p99: at(0.99), count: sorted.length }
}

/** Follows a filter through all pages to the end, as a client that is sometimes refused. */
async function walk(url: string, token: string, query: string): Promise<number> {
  const startedMs = performance.now()
  for (let cursor: string | null = ''; cursor !== null;) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/v1/runs?${query}${cursor && `&cursor=${cursor}`}`, {
      headers,
    })
    const page = (await answer.json()) as { next_cursor: string | null }
    if (answer.status === 200) cursor = page.next_cursor
    else await systemClock.sleep(Number(answer.headers.get('retry-after') ?? 1) * 1_000)
  }
  return performance.now() - startedMs
}

/** A process that works until it is stopped, and then returns its counts. */
function startChild<Job extends object, Tally>(file: string, job: Job) {
  const child = fork(file)
  const tally = once(child, 'message') as Promise<[Tally]>
  child.send(job)
  return {
    async stop(): Promise<Tally> {
      child.kill('SIGTERM')
      return (await tally)[0]
    },
  }
}

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

function caller(url: string, token: string): Call {
  return async <T>(method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text.startsWith('{') ? JSON.parse(text) : text) as T
  }
}

async function tokenOf(call: Call, role: string): Promise<string> {
  const body = { name: role, role }
  return (await call<{ token: string }>('POST', '/v1/tokens', body)).token
}

async function countOf(call: Call, q: string): Promise<number> {
  const query = new URLSearchParams({ q, limit: '20' }).toString()
  return (await call<{ data: unknown[] }>('GET', `/v1/runs?${query}`)).data.length
}

/** Runs that were started more than once: nobody ended their workers, so none should be. */
async function countRepeated(call: Call): Promise<number> {
  let repeated = 0
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { data: { attempt: number; lost: number }[]; next_cursor: string | null } =
      await call('GET', `/v1/runs?q=job:long&limit=500${cursor && `&cursor=${cursor}`}`)
    repeated += page.data.filter(({ attempt, lost }) => attempt > 1 || lost > 0).length
    cursor = page.next_cursor
  }
  return repeated
}

async function metric(urls: readonly string[], token: string, name: string): Promise<number> {
  let sum = 0
  for (const url of urls) {
    const page = await caller(url, token)<string>('GET', '/metrics')
    sum += Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1] ?? 0)
  }
  return sum
}

interface Running {
  readonly url: string
  stop(): Promise<void>
}

async function start(cwd: string, command: 'up' | 'server', args: string[]): Promise<Running> {
  const given = [PUNCTUAL, command, '--port', '0', '--launcher', 'node', ...args]
  const flags =
    command === 'up' ? given : given.filter((one) => !['--launcher', 'node'].includes(one))
  const child = spawn(process.execPath, flags, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const url = await waitFor(() => /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0], {
    what: `${command} to listen: ${printed}`,
  })
  await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: 'a ready server' })
  return { url, stop: () => end(child) }
}

function startWorker(cwd: string, urls: readonly string[], token: string): Running {
  const env = { ...process.env, PUNCTUAL_TOKEN: token, PUNCTUAL_SERVER: urls.join(',') }
  const args = [PUNCTUAL, 'worker', '--slots', '8']
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return { url: '', stop: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

function tokenIn(data: string): string {
  return readFileSync(join(data, 'admin-token'), 'utf8').trim()
}

async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-lists-'))
  try {
    await body(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
