import type { Clock, Random } from '../../core/clock.ts'
import type { WorkerClient } from '../../core/wire/protocol.ts'
import { backOffMs } from '../requests/back-off.ts'
import { mustRegisterAgain } from '../requests/refusal.ts'
import { sendRequest } from '../requests/send-request.ts'
import type { SessionRegistration } from '../requests/session-registration.ts'
import type { WorkerReporter } from '../events/worker-reporter.ts'
import type { OutputBuffer } from './output-buffer.ts'

/** Short enough for live output; everything printed within this time is sent together. */
const LINGER_MS = 200
const ANSWER_MS = 10_000

export interface LogShippingDeps {
  readonly client: WorkerClient
  readonly clock: Clock
  readonly random: Random
  readonly outputBuffer: OutputBuffer
  readonly reporter: WorkerReporter
}

/** Sends the output of attempts to the server, one message at a time, until the session ends. */
export async function logShippingLoop(
  session: SessionRegistration,
  deps: LogShippingDeps,
): Promise<void> {
  const { clock, random, outputBuffer, reporter } = deps
  const { signal } = session
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let failures = 0
  while (!signal.aborted) {
    if (outputBuffer.isEmpty) await Promise.race([outputBuffer.wakeUp.wait(), ended])
    if (failures === 0) await linger(deps, signal)
    else await clock.sleep(backOffMs(failures, random), signal)
    if (signal.aborted) return
    const batch = outputBuffer.nextBatch()
    if (batch.chunks.length + batch.progress.length === 0) continue
    const message = {
      registration: session.registration,
      chunks: batch.chunks.map((item) => item.message),
      ...(batch.progress.length > 0 ? { progress: batch.progress } : {}),
    }
    const sent = await sendRequest(() => deps.client.log(session.key, message), {
      clock,
      limitMs: ANSWER_MS,
      signal,
    })
    if (sent.kind === 'abandoned') return
    failures = sent.kind === 'failed' ? failures + 1 : 0
    if (sent.kind === 'failed') {
      reporter.error(sent.error)
      if (mustRegisterAgain(sent.error)) session.end('the server refused a log')
      continue
    }
    for (const [index, { attempt }] of batch.chunks.entries()) {
      const stored = sent.answer.stored[index]
      if (stored === null) attempt.forget()
      else if (stored !== undefined) attempt.output.stored(stored)
    }
  }
}

/** Waits so that short output can travel with the report of the attempt's end. */
async function linger(
  { clock, outputBuffer }: LogShippingDeps,
  signal: AbortSignal,
): Promise<void> {
  const enough = new AbortController()
  const stop = () => enough.abort('finished')
  signal.addEventListener('abort', stop, { once: true })
  const hurry = async () => {
    while (!outputBuffer.isUrgent() && !enough.signal.aborted) await outputBuffer.wakeUp.wait()
  }
  await Promise.race([clock.sleep(LINGER_MS, enough.signal), hurry()])
  stop()
  signal.removeEventListener('abort', stop)
}
