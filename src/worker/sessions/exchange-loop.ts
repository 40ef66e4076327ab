import type { Clock, Random } from '../../core/clock.ts'
import type { Exchange, ExchangeAnswer, Working } from '../../core/wire/protocol.ts'
import { backOffMs } from '../requests/back-off.ts'
import { endOfTurn, type Bell } from '../events/wake-up.ts'
import type { Book } from '../attempts/attempt-table.ts'
import type { Lease } from '../heartbeat/lease.ts'
import { messageOf, withoutRefused } from '../attempts/outcome.ts'
import { mustRegisterAgain, refusedReport } from '../requests/refusal.ts'
import { send } from '../requests/send-request.ts'
import type { Session } from '../requests/session-registration.ts'
import type { Telling } from '../events/worker-reporter.ts'

/** What the server may take to answer, beyond the time it was told to wait. */
const ANSWER_MS = 10_000
/** A server may end a wait early for good reasons; one that keeps doing so is asked less often. */
const EARLY_ANSWERS = 3
const EARLY_MS = 1_000
const PAUSE_MS = 200

export interface ExchangeDeps {
  readonly client: Working
  readonly clock: Clock
  readonly random: Random
  readonly book: Book
  /** Rings when the book changes and when the session ends. */
  readonly bell: Bell
  readonly lease: Lease
  readonly telling: Telling
  /** How long an idle worker lets the server hold an answer. */
  readonly pollMs: number
  onExchange(): void
}

/**
 * Carries finished attempts out and new ones in, one message at a time, until the session ends.
 * Batches form by themselves: what finishes while a message is under way goes into the next.
 */
export async function exchangeLoop(session: Session, deps: ExchangeDeps): Promise<void> {
  const { bell, clock } = deps
  let number = 0
  let earlyAnswers = 0
  let wasCutShort = false
  for (;;) {
    await endOfTurn()
    if (session.signal.aborted) return
    const message = compose(session, number + 1, deps)
    // An abandoned message needs a successor even if there is nothing to say: its answer carries
    // whatever the server had already dealt out.
    if (message.free === 0 && message.done.length === 0 && !wasCutShort) {
      await bell.heard()
      continue
    }
    number += 1
    deps.onExchange()
    const sentMono = clock.mono()
    const answer = await deliver(session, message, deps)
    wasCutShort = answer === undefined
    if (!answer || session.signal.aborted) continue
    takeIn(session, message, answer, deps)
    const isEarly = clock.mono() - sentMono < Math.min(EARLY_MS, message.waitMs)
    earlyAnswers = isEarly && answer.runs.length === 0 ? earlyAnswers + 1 : 0
    if (earlyAnswers > EARLY_ANSWERS) await clock.sleep(PAUSE_MS, session.signal)
  }
}

function compose(session: Session, number: number, { book, pollMs }: ExchangeDeps): Exchange {
  const { done, unreported } = book.nextReport()
  // Room is not asked for what waits to be reported: who finishes faster than it can report slows down.
  const free = Math.max(0, book.free() - unreported)
  const waitMs = done.length === 0 && free > 0 ? pollMs : 0
  const { registration, answered } = session
  return { registration, number, answered, done, free, waitMs }
}

/**
 * Repeats one message until it is answered; gives up when it is outdated, when the server will never take
 * it, or when the session ends.
 */
async function deliver(
  session: Session,
  message: Exchange,
  { client, clock, random, book, bell, telling }: ExchangeDeps,
): Promise<ExchangeAnswer | undefined> {
  const isOutdated = () =>
    message.waitMs > 0 && (book.hasFinished() || book.free() !== message.free)

  for (let failures = 1; ; failures += 1) {
    const request = new AbortController()
    const outdated = async () => {
      while (!isOutdated() && !session.signal.aborted) {
        await bell.heard()
        if (request.signal.aborted) break
      }
      await endOfTurn()
      return { kind: 'abandoned' } as const
    }
    const sent = await Promise.race([
      send((signal) => client.exchange(session.id, message, signal), {
        clock,
        limitMs: message.waitMs + ANSWER_MS,
        signal: request.signal,
      }),
      outdated(),
    ])
    request.abort('over')
    if (sent.kind === 'abandoned') return undefined
    if (sent.kind === 'answered' && sent.answer.number === message.number) return sent.answer

    const error = sent.kind === 'failed' ? sent.error : wrongNumber(message, sent.answer)
    if (session.signal.aborted) return undefined
    telling.error(error)
    if (mustRegisterAgain(error)) session.end('the server refused an exchange')
    const isRephrased = rephrase(error, message, book)
    await clock.sleep(backOffMs(failures, random), session.signal)
    if (session.signal.aborted || isRephrased || isOutdated()) return undefined
  }
}

/** One report that cannot be taken would hold up all others, while heartbeats keep their leases. */
function rephrase(error: unknown, { done }: Exchange, book: Book): boolean {
  const refused = refusedReport(error, done)
  const standIn = refused && withoutRefused(refused, messageOf(error))
  if (!standIn) return false
  book.replace(refused, standIn)
  return true
}

/** In one turn, so that no heartbeat can count the answer as taken in without listing its attempts. */
function takeIn(
  session: Session,
  message: Exchange,
  answer: ExchangeAnswer,
  { book, lease, telling }: ExchangeDeps,
): void {
  if (!lease.isKept()) return
  session.answered = message.number
  for (const [index, done] of message.done.entries()) {
    const verdict = answer.verdicts[index]
    if (verdict === undefined) continue
    if (verdict === 'stale') telling.log('report was stale', { run: done.run })
    book.acknowledge(done)
  }
  for (const assignment of answer.runs) book.take(assignment)
}

function wrongNumber(message: Exchange, answer: ExchangeAnswer): Error {
  return new Error(`exchange ${message.number} was answered as number ${answer.number}`)
}
