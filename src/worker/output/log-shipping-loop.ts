import type { Clock, Random } from '../../core/clock.ts'
import type { Working } from '../../core/wire/protocol.ts'
import { backOffMs } from '../requests/back-off.ts'
import { mustRegisterAgain } from '../requests/refusal.ts'
import { send } from '../requests/send-request.ts'
import type { Session } from '../requests/session-registration.ts'
import type { Telling } from '../events/worker-reporter.ts'
import type { Shelf } from './output-buffer.ts'

/** People watch; what is printed within this time travels together. */
const LINGER_MS = 200
const ANSWER_MS = 10_000

export interface ShippingDeps {
  readonly client: Working
  readonly clock: Clock
  readonly random: Random
  readonly shelf: Shelf
  readonly telling: Telling
}

/** Carries what attempts print to the server, one message at a time, until the session ends. */
export async function shippingLoop(session: Session, deps: ShippingDeps): Promise<void> {
  const { clock, random, shelf, telling } = deps
  const { signal } = session
  const over = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let failures = 0
  while (!signal.aborted) {
    if (shelf.isEmpty) await Promise.race([shelf.bell.heard(), over])
    if (failures === 0) await linger(deps, signal)
    else await clock.sleep(backOffMs(failures, random), signal)
    if (signal.aborted) return
    const gathered = shelf.gather()
    if (gathered.chunks.length + gathered.progress.length === 0) continue
    const message = {
      registration: session.registration,
      chunks: gathered.chunks.map((item) => item.message),
      ...(gathered.progress.length > 0 ? { progress: gathered.progress } : {}),
    }
    const sent = await send(() => deps.client.log(session.id, message), {
      ...{ clock, limitMs: ANSWER_MS, signal },
    })
    if (sent.kind === 'abandoned') return
    failures = sent.kind === 'failed' ? failures + 1 : 0
    if (sent.kind === 'failed') {
      telling.error(sent.error)
      if (mustRegisterAgain(sent.error)) session.end('the server refused a log')
      continue
    }
    for (const [index, { attempt }] of gathered.chunks.entries()) {
      const stored = sent.answer.stored[index]
      if (stored === null) attempt.forget()
      else if (stored !== undefined) attempt.output.stored(stored)
    }
  }
}

/** Not a pause for its own sake: short output should find the report of its ending in time. */
async function linger({ clock, shelf }: ShippingDeps, signal: AbortSignal): Promise<void> {
  const enough = new AbortController()
  const stop = () => enough.abort('over')
  signal.addEventListener('abort', stop, { once: true })
  const hurry = async () => {
    while (!shelf.isUrgent() && !enough.signal.aborted) await shelf.bell.heard()
  }
  await Promise.race([clock.sleep(LINGER_MS, enough.signal), hurry()])
  stop()
  signal.removeEventListener('abort', stop)
}
