import type { Clock, Random } from '../../core/clock.ts'
import type { Exchange, ExchangeAnswer, WorkerClient } from '../../core/wire/protocol.ts'
import { backOffMs } from '../requests/back-off.ts'
import { endOfTurn, type WakeUp } from '../events/wake-up.ts'
import type { AttemptTable } from '../attempts/attempt-table.ts'
import type { SessionLease } from '../heartbeat/lease.ts'
import { messageOf, withoutRefused } from '../attempts/outcome.ts'
import { mustRegisterAgain, refusedReport } from '../requests/refusal.ts'
import { sendRequest } from '../requests/send-request.ts'
import type { SessionRegistration } from '../requests/session-registration.ts'
import type { WorkerReporter } from '../events/worker-reporter.ts'

/** Time the server may take to answer, in addition to the requested wait. */
const ANSWER_MS = 10_000
/**
 * A server may end a wait early for good reasons. One that does so repeatedly is asked less often.
 */
const EARLY_ANSWERS = 3
const EARLY_MS = 1_000
const PAUSE_MS = 200

export interface ExchangeDeps {
  readonly client: WorkerClient
  readonly clock: Clock
  readonly random: Random
  readonly attemptTable: AttemptTable
  /** Notified when the attempt table changes and when the session ends. */
  readonly wakeUp: WakeUp
  readonly lease: SessionLease
  readonly reporter: WorkerReporter
  /** How long an idle worker lets the server hold an answer. */
  readonly pollMs: number
  onExchange(): void
}

/**
 * Reports finished attempts and receives new ones, one message at a time, until the session ends.
 * Batches form by themselves: attempts that finish while a message is in flight go into the next.
 */
export async function exchangeLoop(
  session: SessionRegistration,
  deps: ExchangeDeps,
): Promise<void> {
  const { wakeUp, clock } = deps
  let number = 0
  let earlyAnswers = 0
  let wasCutShort = false
  for (;;) {
    await endOfTurn()
    if (session.signal.aborted) return
    const message = compose(session, number + 1, deps)
    // An abandoned message needs a successor even if there is nothing to report: its answer carries
    // the runs that the server had already assigned.
    if (message.free === 0 && message.done.length === 0 && !wasCutShort) {
      await wakeUp.wait()
      continue
    }
    number += 1
    deps.onExchange()
    const sentMono = clock.mono()
    const answer = await deliver(session, message, deps)
    wasCutShort = answer === undefined
    if (!answer || session.signal.aborted) continue
    applyAnswer(session, message, answer, deps)
    const isEarly = clock.mono() - sentMono < Math.min(EARLY_MS, message.waitMs)
    earlyAnswers = isEarly && answer.runs.length === 0 ? earlyAnswers + 1 : 0
    if (earlyAnswers > EARLY_ANSWERS) await clock.sleep(PAUSE_MS, session.signal)
  }
}

function compose(
  session: SessionRegistration,
  number: number,
  { attemptTable, pollMs }: ExchangeDeps,
): Exchange {
  const { done, unreported } = attemptTable.nextReport()
  // Finished attempts that are not yet reported reduce the requested slots: a worker that finishes
  // faster than it can report slows down.
  const free = Math.max(0, attemptTable.free() - unreported)
  const waitMs = done.length === 0 && free > 0 ? pollMs : 0
  const { registration, answered } = session
  return { registration, number, answered, done, free, waitMs }
}

/**
 * Repeats one message until it is answered. Gives up when the message is outdated, when the server
 * will never accept it, or when the session ends.
 */
async function deliver(
  session: SessionRegistration,
  message: Exchange,
  { client, clock, random, attemptTable, wakeUp, reporter }: ExchangeDeps,
): Promise<ExchangeAnswer | undefined> {
  const isOutdated = () =>
    message.waitMs > 0 && (attemptTable.hasFinished() || attemptTable.free() !== message.free)

  for (let failures = 1; ; failures += 1) {
    const request = new AbortController()
    const outdated = async () => {
      while (!isOutdated() && !session.signal.aborted) {
        await wakeUp.wait()
        if (request.signal.aborted) break
      }
      await endOfTurn()
      return { kind: 'abandoned' } as const
    }
    const sent = await Promise.race([
      sendRequest((signal) => client.exchange(session.key, message, signal), {
        clock,
        limitMs: message.waitMs + ANSWER_MS,
        signal: request.signal,
      }),
      outdated(),
    ])
    request.abort('finished')
    if (sent.kind === 'abandoned') return undefined
    if (sent.kind === 'answered' && sent.answer.number === message.number) return sent.answer

    const error = sent.kind === 'failed' ? sent.error : wrongNumber(message, sent.answer)
    if (session.signal.aborted) return undefined
    reporter.error(error)
    if (mustRegisterAgain(error)) session.end('the server refused an exchange')
    const isReplaced = replaceRefused(error, message, attemptTable)
    await clock.sleep(backOffMs(failures, random), session.signal)
    if (session.signal.aborted || isReplaced || isOutdated()) return undefined
  }
}

/**
 * One unacceptable report would block all others while heartbeats keep their leases, so it is
 * replaced.
 */
function replaceRefused(error: unknown, { done }: Exchange, attemptTable: AttemptTable): boolean {
  const refused = refusedReport(error, done)
  const standIn = refused && withoutRefused(refused, messageOf(error))
  if (!standIn) return false
  attemptTable.replace(refused, standIn)
  return true
}

/** Runs in one turn, so that no heartbeat confirms the answer without listing its attempts. */
function applyAnswer(
  session: SessionRegistration,
  message: Exchange,
  answer: ExchangeAnswer,
  { attemptTable, lease, reporter }: ExchangeDeps,
): void {
  if (!lease.isKept()) return
  session.answered = message.number
  for (const [index, done] of message.done.entries()) {
    const verdict = answer.verdicts[index]
    if (verdict === undefined) continue
    if (verdict === 'stale') reporter.log('report was stale', { run: done.run })
    attemptTable.acknowledge(done)
  }
  for (const assignment of answer.runs) attemptTable.accept(assignment)
}

function wrongNumber(message: Exchange, answer: ExchangeAnswer): Error {
  return new Error(`exchange ${message.number} was answered as number ${answer.number}`)
}
