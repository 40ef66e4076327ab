import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../harness/child.ts'
import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'
import { HOSTILE_REQUESTS, type Send } from '../load/hostile-requests.ts'
import type { LoopDelay } from '../load/loop-delay.ts'

export interface LoopSettings {
  readonly store: string
  /** Only requests whose name contains this. */
  readonly only?: string
}

/** Interval between two liveness probes. */
const PROBE_INTERVAL_MS = 5
/** Work that a request causes after its response counts for it too. */
const SETTLE_MS = 300

/** Sends one hostile request after the other and measures how long each blocks the server's event loop. */
measureAndExit(async () => {
  const { store, only = process.env['PUNCTUAL_BENCH_REQUEST'] ?? '' } =
    readVariantSettings() as LoopSettings
  const server = startChild('punctual-server.ts', { store, watchesLoop: true })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const prober = startChild('loop-probe.ts', { url, periodMs: PROBE_INTERVAL_MS })
  await prober.nextMessage('ready')
  const agent = new Agent({ keepAlive: true })
  const send = createSend(url, token, agent)
  const loop = async () => {
    server.sendCommand('loop')
    return (await server.nextMessage('loop')) as unknown as LoopDelay
  }
  const slowest = async () => {
    prober.sendCommand('slowest')
    return (await prober.nextMessage('slowest'))['ms'] as number
  }
  const wrong: string[] = []
  const measurements: Record<string, number> = {}
  // The first request loads and compiles code, once in the lifetime of a server.
  await send('POST', '/v1/runs:batch', { runs: [{ job: 'first' }] })
  for (const hostile of HOSTILE_REQUESTS) {
    if (!hostile.name.includes(only)) {
      if (only === '') await hostile.prepare?.(send)
      continue
    }
    await hostile.prepare?.(send)
    await pause(SETTLE_MS)
    await loop()
    await slowest()
    const { status } = await hostile.send(send)
    await pause(SETTLE_MS)
    const { delayMs, busyMs } = await loop()
    const probeMs = await slowest()
    console.error(
      `${hostile.name}: ${status}, delay ${delayMs.toFixed(0)} ms, busy ${busyMs.toFixed(0)} ms, probe ${probeMs.toFixed(0)} ms`,
    )
    if (status !== hostile.status) wrong.push(`${hostile.name}: ${status}, not ${hostile.status}`)
    measurements[`${hostile.name} (delay)`] = delayMs
    measurements[`${hostile.name} (busy)`] = busyMs
    measurements[`${hostile.name} (probe)`] = probeMs
  }
  agent.destroy()
  if (wrong.length > 0) throw new Error(`unexpected statuses: ${wrong.join('; ')}`)
  await prober.stop()
  await server.stop()
  return measurements
})

function createSend(url: string, token: string, agent: Agent): Send {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const bytes = bytesOf(body)
      const headers = {
        authorization: `Bearer ${token}`,
        ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
      }
      const outgoing = request(`${url}${path}`, { method, agent, headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const status = answer.statusCode ?? 0
          if (status >= 400) console.error(text.slice(0, 200))
          resolve({ status, text })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(bytes)
    })
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
