import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import type {
  Assignment,
  FinishedAttempt,
  Exchange,
  ExchangeAnswer,
} from '../../core/wire/protocol.ts'
import type { AttemptReport } from '../../core/run/end-attempt.ts'
import { requirePublicId } from '../../core/ids.ts'
import type { Cause } from '../../core/run/run-state.ts'
import type { Lane } from '../../core/queue/lane.ts'
import type {
  EndCommand,
  EndVerdict,
  FoundAttempt,
  Lease,
  RunQueries,
  SweepStore,
} from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { AttemptEnder } from '../runs/attempt-ender.ts'
import { endCommand } from '../runs/end-command.ts'
import type { GrantedInputs } from '../payloads/granted-inputs.ts'
import type { KeptPayload, Payloads } from '../payloads/payloads.ts'
import { mayBeReference, withoutMark } from '../payloads/reference.ts'
import type { SecretUnlocker, Unlocked } from '../secrets/unlock.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import { confirm, type HeldLease, type Session } from '../sessions/session.ts'
import { assignmentOf } from './assignment.ts'
import { isRunServedBy, isServedBy } from './served-projects.ts'
import type { RequestOrigin } from './session-registry.ts'
import type { SessionIndex } from '../sessions/session-index.ts'

export interface ExchangeContext {
  readonly clock: Clock
  readonly sessionIndex: SessionIndex
  readonly laneIndex: Pick<LaneIndex, 'get'>
  readonly ticker: Ticker
  readonly store: Pick<SweepStore, 'findAttempts'> & Pick<RunQueries, 'findRun'>
  readonly catalog: CatalogCache
  readonly definitions: Pick<Definitions, 'learn' | 'workOf'>
  readonly payloads: Pick<Payloads, 'isLarge' | 'keep'>
  readonly inputs: GrantedInputs
  readonly secrets: SecretUnlocker
  readonly attempts: Pick<AttemptEnder, 'giveBack'>
  readonly maxPollMs: number
  mintId(): number
}

/** Takes finished attempts and grants new ones, in one tick where possible. */
export async function exchange(
  session: Session,
  message: Exchange,
  context: ExchangeContext,
  { isStillValid }: Pick<RequestOrigin, 'isStillValid'> = {},
): Promise<ExchangeAnswer> {
  requireSense(session, message)
  if (message.number < session.exchange) {
    throw new PunctualError('exchange_out_of_order', 'a newer exchange came before this one')
  }
  // A newer exchange number, or a repetition: the older request gets no more work.
  session.pending?.settle()
  session.exchange = message.number
  confirm(session, message.answered)

  const waiting = startWaiting(session, message, context)
  const verdicts = await report(session, message.done, context)
  await waiting.until()
  // A revoked token gets nothing, however long its request has been waiting.
  const validity = isStillValid === undefined || isStillValid()
  // Awaited only when it has to be: this is every exchange.
  if (!(typeof validity === 'boolean' ? validity : await validity)) {
    throw new PunctualError('unauthorized', 'the token is not valid any more')
  }
  // A lease granted during this lookup has no names yet: the next answer carries it.
  const granted = [...session.unconfirmed.values()]
  await learnNames(granted, context)
  const inputs = granted.some(({ input }) => mayBeReference(input))
    ? await context.inputs.read(granted)
    : NO_INPUTS
  const unlocked = granted.some(({ policy }) => policy !== null)
    ? await context.secrets.unlock(granted)
    : NO_SECRETS
  const runs = assign(session, message, { granted, inputs, unlocked }, context)
  return { number: message.number, verdicts, runs }
}

const NO_INPUTS: ReadonlyMap<HeldLease, string> = new Map()
const NO_SECRETS: Unlocked = new Map()

/**
 * Refuses numbers that no correct worker sends: the worker would be granted runs it never learns
 * of.
 */
function requireSense({ offer }: Session, { number, answered, free }: Exchange): void {
  if (answered >= number) {
    const message = `answered must be below number: exchange ${number} has no answer yet`
    throw new PunctualError('invalid_field', message, { field: 'answered' })
  }
  if (free > offer.slots) {
    const message = 'free must be at most the slots this worker registered with'
    throw new PunctualError('invalid_field', message, { field: 'free' })
  }
}

function startWaiting(session: Session, message: Exchange, context: ExchangeContext) {
  const { sessionIndex, ticker, clock } = context
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
  for (const lease of session.unconfirmed.values()) weights += laneOf(lease, context)?.weight ?? 1
  session.credit = Math.max(0, message.free - weights)
  session.pending = pending
  sessionIndex.updateWaiting(session)
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
        // Cleared after the answer, so that the worker can begin its runs first.
        setImmediate(() => timer.abort('settled'))
      } else if (!isHere && message.done.length === 0) {
        await ticker.settled()
      }
      if (session.pending !== pending) return
      session.pending = null
      session.answeredMono = clock.mono()
      sessionIndex.updateWaiting(session)
    },
  }
}

/** Loads the names and the work that assignments contain. */
async function learnNames(
  leases: readonly HeldLease[],
  { definitions, catalog }: ExchangeContext,
): Promise<void> {
  await definitions.learn(leases)
  await catalog.learnNames(
    leases.map((lease) => lease.jobId),
    leases.map((lease) => lease.projectId),
  )
}

function laneOf({ laneId }: Lease, { laneIndex }: ExchangeContext): Lane | undefined {
  return laneIndex.get(laneId)?.lane
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
  context: ExchangeContext,
): Assignment[] {
  // Superseded meanwhile: the newer exchange carries the grants.
  if (session.exchange !== message.number || !context.sessionIndex.isCurrent(session)) return []
  const { catalog, definitions } = context
  const runs: Assignment[] = []
  /** Of the run before: most answers carry runs of one project. */
  let servedProject: number | undefined
  for (const lease of granted) {
    if (session.unconfirmed.get(lease.runId) !== lease) continue
    if (lease.projectId !== servedProject && !isServedBy(session, lease, context.catalog)) {
      context.attempts.giveBack([lease])
      continue
    }
    servedProject = lease.projectId
    const input = mayBeReference(lease.input) ? inputs.get(lease) : lease.input
    // Without its input it waits for the next answer.
    if (input === undefined) continue
    const secrets = unlocked.get(lease)
    if (secrets === 'refused') continue
    lease.exchange = message.number
    const lane = laneOf(lease, context)
    const work = definitions.workOf(lease)
    runs.push(assignmentOf(lease, { catalog, lane, work, input, secrets }))
  }
  return runs
}

async function report(
  session: Session,
  done: readonly FinishedAttempt[],
  context: ExchangeContext,
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
    const details = { worker: session.name, message, result, process }
    commands.push(endCommand(lease, reportOf(item), details, context.mintId))
  }
  const ends = (await context.ticker.end(commands)).values()
  for (const { settle } of kept.values()) await settle()
  return leases.map((lease) => {
    if (lease === 'accepted' || lease === 'stale') return lease
    return accepted(ends.next().value ?? 'stale')
  })
}

const NONE_KEPT: ReadonlyMap<FinishedAttempt, KeptPayload> = new Map()

/** One after the other: a report with large results has only few of them. */
async function keepResults(
  done: readonly FinishedAttempt[],
  leases: readonly (Lease | 'accepted' | 'stale')[],
  payloads: ExchangeContext['payloads'],
): Promise<ReadonlyMap<FinishedAttempt, KeptPayload>> {
  const kept = new Map<FinishedAttempt, KeptPayload>()
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

/** From memory where possible; an attempt unknown to this node is looked up in the store. */
async function leasesOf(
  session: Session,
  done: readonly FinishedAttempt[],
  context: ExchangeContext,
): Promise<(Lease | 'accepted' | 'stale')[]> {
  const known: (Lease | undefined)[] = done.map(({ run, fence }, index) => {
    const lease = session.leases.get(requirePublicId('run', run, `done.${index}.run`))
    return lease?.fence === fence ? lease : undefined
  })
  if (!known.includes(undefined)) return known as Lease[]
  const unknown = done.filter((_, index) => known[index] === undefined)
  const lookups = await context.store.findAttempts(
    unknown.map(({ run, fence }) => ({ runId: requirePublicId('run', run, 'done.run'), fence })),
  )
  const verdicts = await Promise.all(
    unknown.map((item, index) => verdictOn(session, item, lookups[index], context)),
  )
  const found = verdicts.values()
  return known.map((lease) => lease ?? (found.next().value as Lease | 'accepted' | 'stale'))
}

/** A fence can be guessed, so only the session that was granted the attempt may end it. */
async function verdictOn(
  session: Session,
  item: FinishedAttempt,
  attempt: FoundAttempt | undefined,
  context: ExchangeContext,
): Promise<Lease | 'accepted' | 'stale'> {
  if (attempt?.kind === 'lease') {
    return attempt.lease.session === session.id ? attempt.lease : 'stale'
  }
  if (attempt?.kind !== 'ended' || attempt.cause !== causeOf(item)) return 'stale'
  // A worker must not learn how runs of other projects ended.
  const runId = requirePublicId('run', item.run, 'done.run')
  return (await isRunServedBy(session, runId, context)) ? 'accepted' : 'stale'
}

/** The cause that the store would record for this report. */
function causeOf({ outcome, cause }: FinishedAttempt): Cause | null {
  if (outcome === 'succeeded') return null
  return outcome === 'failed' ? (cause ?? 'error') : 'cancelled'
}

function reportOf(done: FinishedAttempt): AttemptReport {
  switch (done.outcome) {
    case 'failed':
      return { kind: 'failed', cause: done.cause ?? 'error', retriable: done.retriable ?? true }
    case 'succeeded':
    case 'cancelled':
    case 'given_back':
      return { kind: done.outcome }
  }
}
