import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { waitFor } from '../support/wait-for.ts'
import { watchHeartbeats } from './heartbeat-watch.ts'
import type { SHORT_TIMES } from './short-times.ts'

/** A command that prints far more than the server keeps, and limits for its worker. */
export interface Flood {
  readonly bytes: number
  /** Output bytes that are kept. */
  readonly limitBytes: number
  /** Whether the output is a single line. */
  readonly isOneLine: boolean
  readonly deadlineMs: number
  /** Lease and heartbeat times; the defaults if absent. */
  readonly times?: Readonly<Record<keyof typeof SHORT_TIMES, number>>
  /** Longest allowed time without a heartbeat. */
  readonly maxGapMs: number
  /** Memory limit of the worker. More than half of it is the program, run from its sources. */
  readonly maxWorkerMb: number
}

export interface FloodReport {
  readonly tookMs: number
  /** Peak memory of the worker. */
  readonly workerMb: number
  readonly heartbeats: number
  readonly longestGapMs: number
  readonly violations: readonly string[]
}

const TOKEN = `punctual_root_${'x'.repeat(40)}`
const MAIN = join(import.meta.dirname, '../../bin/punctual')
/** Bytes kept from the end of an output that is too long. */
const TAIL_BYTES = 64 * 1024

const LINES = '0123456789abcde\n'
const ONE_LINE = '0123456789abcdef'

export async function flood(plan: Flood): Promise<FloodReport> {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-flood-'))
  const scheduler = await openScheduler({
    store: `sqlite:${join(dir, 'p.db')}`,
    rootToken: TOKEN,
    ...(plan.times && { config: plan.times }),
  })
  const address = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const watch = await watchHeartbeats(address)
  const client = connect({ url: address, token: TOKEN })
  const worker = startWorker(watch.url)
  try {
    await once(worker.stdout as NodeJS.ReadableStream, 'data')
    const [answer] = await client.submit([{ job: 'flood', work: workOf(plan) }])
    const { id } = answer as { id: string }
    const startedMs = performance.now()
    const ended = await waitFor(
      async () => {
        const run = await client.getRun(id)
        return run.finishedAt === null ? undefined : run
      },
      { what: 'the flood to be over', deadlineMs: plan.deadlineMs, intervalMs: 250 },
    )
    const tookMs = performance.now() - startedMs
    const workerMb = peakMb(worker.pid as number)
    const { heartbeats } = watch
    const longestGapMs = watch.longestGapMs()
    const output = ended.process?.output
    const violations = [
      ...(ended.state === 'succeeded' ? [] : [`it ${ended.state}: ${ended.message}`]),
      ...(ended.attempt === 1 && ended.lost === 0 ? [] : [`it took ${ended.attempt} attempts`]),
      ...wrongCount('bytes', output?.bytes ?? 0, plan.bytes),
      ...wrongCount('dropped', output?.dropped ?? 0, plan.bytes - plan.limitBytes),
      ...wrongText(await download(address, id), plan),
      ...(workerMb < plan.maxWorkerMb ? [] : [`its worker had ${workerMb.toFixed(0)} MB`]),
      ...(longestGapMs < plan.maxGapMs ? [] : [`no heartbeat for ${longestGapMs.toFixed(0)} ms`]),
    ]
    return { tookMs, workerMb, heartbeats, longestGapMs, violations }
  } finally {
    const exited = once(worker, 'exit')
    worker.kill('SIGTERM')
    await exited
    watch.close()
    await client.close()
    await scheduler.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

function startWorker(url: string): ChildProcess {
  const args = ['worker', '--server', url, '--token', TOKEN, '--name', 'w', '--slots', '1']
  return spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
}

function workOf({ bytes, limitBytes, isOneLine }: Flood) {
  const endless = `yes ${LINES.trim()}${isOneLine ? "f | tr -d '\\n'" : ''}`
  const limits = { output_bytes: limitBytes }
  return { executor: 'shell', run: `${endless} | head -c ${bytes}`, limits } as const
}

function wrongCount(what: string, found: number, expected: number): string[] {
  return found === expected ? [] : [`${what}: ${found}, not ${expected}`]
}

/** Compares the kept bytes with the beginning and the end of what was printed. */
function wrongText(kept: Buffer, { bytes, limitBytes, isOneLine }: Flood): string[] {
  const pattern = isOneLine ? ONE_LINE : LINES
  const tail = Math.min(TAIL_BYTES, Math.floor(limitBytes / 2))
  const turn = (bytes - tail) % pattern.length
  const expected = Buffer.concat([
    Buffer.alloc(limitBytes - tail, pattern),
    Buffer.alloc(tail, pattern.slice(turn) + pattern.slice(0, turn)),
  ])
  if (kept.equals(expected)) return []
  return [`${kept.length} bytes were kept, not the ${limitBytes} that should have been`]
}

async function download(address: string, id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const answer = await fetch(`${address}/v1/runs/${id}/logs/raw`, { headers })
  return Buffer.from(await answer.arrayBuffer())
}

function peakMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024
}
