import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { onCommands, readVariantSettings, sendMessage } from '../harness/variant-process.ts'

/** Requests `/livez` of a server periodically and records the longest wait for a response. */
const { url, periodMs } = readVariantSettings() as { url: string; periodMs: number }
const agent = new Agent({ keepAlive: true })
let slowestMs = 0
let requestedAt: number | undefined

onCommands(
  (command) => {
    if (command !== 'slowest') return
    const waited = requestedAt === undefined ? 0 : performance.now() - requestedAt
    sendMessage('slowest', { ms: Math.max(slowestMs, waited) })
    slowestMs = 0
  },
  () => process.exit(0),
)

sendMessage('ready')
for (;;) {
  requestedAt = performance.now()
  await new Promise<void>((resolve) => {
    get(`${url}/livez`, { agent }, (answer) => {
      answer.resume().on('end', resolve)
    }).on('error', () => resolve())
  })
  slowestMs = Math.max(slowestMs, performance.now() - requestedAt)
  requestedAt = undefined
  await pause(periodMs)
}
