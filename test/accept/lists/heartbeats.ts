// Runs in its own process: workers that hold no runs and send heartbeats until they are stopped.
import { systemClock } from '../../../src/worker/clock/system-clock.ts'

export interface HeartbeatJob {
  readonly urls: readonly string[]
  readonly token: string
  readonly count: number
}

export interface HeartbeatTally {
  sent: number
  /** Answered later than one heartbeat period after sending, not at all, or with a refusal. */
  late: number
  slowestMs: number
}

/** More often than a real worker, to measure many. */
const EVERY_MS = 250

async function register(url: string, token: string, nth: number) {
  const body = {
    name: `heartbeats-${nth}`,
    queues: ['nothing-comes-here'],
    labels: {},
    executors: ['handler:none'],
    slots: 1,
    protocol: [2],
    registration: 1,
    held: [],
    forsaken: [],
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/workers`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`registration: ${answer.status} ${await answer.text()}`)
  const { session, session_secret, heartbeat_ms } = (await answer.json()) as {
    session: string
    session_secret: string
    heartbeat_ms: number
  }
  return {
    address: `${url}/v1/workers/${session}/heartbeat`,
    headers: { ...headers, 'punctual-session-secret': session_secret },
    lateMs: heartbeat_ms,
  }
}

async function beat(job: HeartbeatJob, nth: number, tally: HeartbeatTally, isOver: () => boolean) {
  const url = job.urls[nth % job.urls.length] as string
  const { address, headers, lateMs } = await register(url, job.token, nth)
  const body = JSON.stringify({ registration: 1, answered: 0, held: [] })
  while (!isOver()) {
    const startedMs = performance.now()
    const answer = await fetch(address, { method: 'POST', headers, body }).catch(() => null)
    await answer?.arrayBuffer()
    const tookMs = performance.now() - startedMs
    tally.sent += 1
    tally.slowestMs = Math.max(tally.slowestMs, tookMs)
    if (!answer?.ok || tookMs > lateMs) tally.late += 1
    await systemClock.sleep(EVERY_MS)
  }
}

process.on('message', (job: HeartbeatJob) => {
  const tally: HeartbeatTally = { sent: 0, late: 0, slowestMs: 0 }
  let isOver = false
  process.once('SIGTERM', () => (isOver = true))
  const workers = Array.from({ length: job.count }, (_, nth) => beat(job, nth, tally, () => isOver))
  void Promise.all(workers).then(() => {
    process.send?.(tally)
    process.disconnect()
  })
})
