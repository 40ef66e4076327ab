import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import type { Assignment, Done, Exchange, ExchangeAnswer } from '../../core/wire/protocol.ts'
import type { Report } from '../../core/run/end-attempt.ts'
import { requirePublicId } from '../../core/ids.ts'
import type { Cause } from '../../core/run/run-state.ts'
import type { GivenSecret } from '../../core/work/secret.ts'
import type { EndCommand, EndVerdict, Lease, SweepStore } from '../../store/port.ts'
import { endCommand } from '../runs/end-command.ts'
import type { KeptPayload, Payloads } from '../payloads/payloads.ts'
import { mayBeReference, withoutMark } from '../payloads/reference.ts'
import type { Unlocked } from '../secrets/unlock.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import { confirm, type HeldLease, type Session } from '../sessions/session.ts'
import type { Roster } from '../sessions/session-index.ts'

export interface Exchanging {
  readonly clock: Clock
  readonly roster: Roster
  readonly ticker: Ticker
  readonly store: Pick<SweepStore, 'findAttempts'>
  readonly maxPollMs: number
  mintId(): number
  /** Makes sure `assignment` finds every name it needs. */
  prepare(leases: readonly HeldLease[]): Promise<void>
  /** The inputs that are not in the leases themselves, as many as one answer may carry. */
  inputsOf(leases: readonly HeldLease[]): Promise<ReadonlyMap<HeldLease, string>>
  readonly payloads: Pick<Payloads, 'isLarge' | 'keep'>
  /** The secrets that leases ask for. Of those that cannot have them, nothing is said. */
  unlock(leases: readonly HeldLease[]): Promise<Unlocked>
  assignment(
    lease: HeldLease,
    parts: { input: string | null; secrets: readonly GivenSecret[] | undefined },
  ): Assignment
  weightOf(lease: Lease): number
}

/** Takes finished attempts and hands out new ones, in one tick where possible. */
export async function exchange(
  session: Session,
  message: Exchange,
  context: Exchanging,
): Promise<ExchangeAnswer> {
  requireSense(session, message)
  if (message.number < session.exchange) {
    throw new PunctualError('exchange_out_of_order', `exchange ${session.exchange} came before`)
  }
  // A newer number, or the same one again: whoever still waits on the old one gets nothing more.
  session.pending?.settle()
  session.exchange = message.number
  confirm(session, message.answered)

  const waiting = startWaiting(session, message, context)
  const verdicts = await report(session, message.done, context)
  await waiting.until()
  // What is granted while names are looked up has none yet: it comes with the next answer.
  const granted = [...session.unconfirmed.values()]
  await context.prepare(granted)
  const inputs = granted.some(({ input }) => mayBeReference(input))
    ? await context.inputsOf(granted)
    : NO_INPUTS
  const unlocked = granted.some(({ policy }) => policy !== null)
    ? await context.unlock(granted)
    : NO_SECRETS
  const runs = assign(session, message, { granted, inputs, unlocked }, context)
  return { number: message.number, verdicts, runs }
}

const NO_INPUTS: ReadonlyMap<HeldLease, string> = new Map()
const NO_SECRETS: Unlocked = new Map()

/** What a worker cannot mean would have it granted runs that it is never told of. */
function requireSense({ offer }: Session, { number, answered, free }: Exchange): void {
  if (answered >= number) {
    const message = `answered must be below number: exchange ${number} has no answer yet`
    throw new PunctualError('invalid_field', message, { field: 'answered' })
  }
  if (free > offer.slots) {
    const message = `free must be at most ${offer.slots}, the slots this worker registered with`
    throw new PunctualError('invalid_field', message, { field: 'free' })
  }
}

function startWaiting(session: Session, message: Exchange, context: Exchanging) {
  const { roster, ticker, clock } = context
  let settle: () => void = () => {}
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })
  const pending = {
    number: message.number,
    reported: message.done.length === 0,
    settle: () => settle(),
  }
  let weights = 0
  for (const lease of session.unconfirmed.values()) weights += context.weightOf(lease)
  session.credit = Math.max(0, message.free - weights)
  session.pending = pending
  roster.review(session)
  ticker.kick()

  return {
    /** Until there is work, the time is up, or a newer exchange takes over. */
    async until() {
      pending.reported = true
      const waitMs = Math.min(message.waitMs, context.maxPollMs)
      const isHere = session.unconfirmed.size > 0 || message.free <= 0
      if (!isHere && waitMs > 0 && session.pending === pending) {
        const timer = new AbortController()
        await Promise.race([settled, clock.sleep(waitMs, timer.signal)])
        // After the answer: its runs can begin meanwhile, and nobody waits for a timer to be cleared.
        setImmediate(() => timer.abort('settled'))
      } else if (!isHere && message.done.length === 0) {
        await ticker.settled()
      }
      if (session.pending !== pending) return
      session.pending = null
      session.answeredMono = clock.mono()
      roster.review(session)
    },
  }
}

function assign(
  session: Session,
  message: Exchange,
  {
    granted,
    inputs,
    unlocked,
  }: {
    granted: readonly HeldLease[]
    inputs: ReadonlyMap<HeldLease, string>
    unlocked: Unlocked
  },
  context: Exchanging,
): Assignment[] {
  // Superseded meanwhile: the newer exchange carries the grants.
  if (session.exchange !== message.number || !context.roster.isCurrent(session)) return []
  const runs: Assignment[] = []
  for (const lease of granted) {
    if (session.unconfirmed.get(lease.runId) !== lease) continue
    const input = mayBeReference(lease.input) ? inputs.get(lease) : lease.input
    // Without its input it waits for the next answer.
    if (input === undefined) continue
    const secrets = unlocked.get(lease)
    if (secrets === 'refused') continue
    lease.exchange = message.number
    runs.push(context.assignment(lease, { input, secrets }))
  }
  return runs
}

async function report(
  session: Session,
  done: readonly Done[],
  context: Exchanging,
): Promise<('accepted' | 'stale')[]> {
  if (done.length === 0) return []
  const leases = await leasesOf(session, done, context)
  const kept = done.some(({ result }) => context.payloads.isLarge(result))
    ? await keepResults(done, leases, context.payloads)
    : NONE_KEPT
  const commands: EndCommand[] = []
  for (const [index, item] of done.entries()) {
    const lease = leases[index]
    if (!lease || typeof lease === 'string') continue
    const { message, process } = item
    const result = kept.get(item)?.text ?? (item.result && withoutMark(item.result))
    const told = { worker: session.name, message, result, process }
    commands.push(endCommand(lease, reportOf(item), told, context.mintId))
  }
  const ends = (await context.ticker.end(commands)).values()
  for (const { settle } of kept.values()) await settle()
  return leases.map((lease) => {
    if (lease === 'accepted' || lease === 'stale') return lease
    return accepted(ends.next().value ?? 'stale')
  })
}

const NONE_KEPT: ReadonlyMap<Done, KeptPayload> = new Map()

/** One after the other: a report that carries large results carries few. */
async function keepResults(
  done: readonly Done[],
  leases: readonly (Lease | 'accepted' | 'stale')[],
  payloads: Exchanging['payloads'],
): Promise<ReadonlyMap<Done, KeptPayload>> {
  const kept = new Map<Done, KeptPayload>()
  for (const [index, item] of done.entries()) {
    const lease = leases[index]
    if (typeof lease !== 'object' || !payloads.isLarge(item.result)) continue
    kept.set(item, await payloads.keep(lease.runId, 'result', item.result))
  }
  return kept
}

function accepted(verdict: EndVerdict | PunctualError): 'accepted' | 'stale' {
  if (verdict instanceof PunctualError) throw verdict
  return verdict === 'stale' ? 'stale' : 'accepted'
}

/** From memory where possible; an attempt this node does not remember is looked up. */
async function leasesOf(
  session: Session,
  done: readonly Done[],
  context: Exchanging,
): Promise<(Lease | 'accepted' | 'stale')[]> {
  const known: (Lease | undefined)[] = done.map(({ run, fence }, index) => {
    const lease = session.leases.get(requirePublicId('run', run, `done.${index}.run`))
    return lease?.fence === fence ? lease : undefined
  })
  if (!known.includes(undefined)) return known as Lease[]
  const unknown = done.filter((_, index) => known[index] === undefined)
  const found = await context.store.findAttempts(
    unknown.map(({ run, fence }) => ({ runId: requirePublicId('run', run, 'done.run'), fence })),
  )
  const answers = found.values()
  const reported = unknown.values()
  return known.map((lease) => {
    if (lease) return lease
    const item = reported.next().value as Done
    const attempt = answers.next().value
    // A fence can be found by trying; only the session that was granted the attempt may end it.
    if (attempt?.kind === 'lease')
      return attempt.lease.session === session.id ? attempt.lease : 'stale'
    return attempt?.kind === 'ended' && attempt.cause === causeOf(item) ? 'accepted' : 'stale'
  })
}

/** The cause under which this report would be remembered. */
function causeOf({ outcome, cause }: Done): Cause | null {
  if (outcome === 'succeeded') return null
  return outcome === 'failed' ? (cause ?? 'error') : 'cancelled'
}

function reportOf(done: Done): Report {
  switch (done.outcome) {
    case 'failed':
      return { kind: 'failed', cause: done.cause ?? 'error', retriable: done.retriable ?? true }
    case 'succeeded':
    case 'cancelled':
    case 'given_back':
      return { kind: done.outcome }
  }
}
