import { inOrder } from '../../signals.ts'
import { isPlainSuccess, startsAfter } from '../../plain-runs.ts'
import type { News, NewRun, SubmitVerdict, TickBatch, TickResult } from '../../port.ts'
import { admitAt } from '../gates/admit.ts'
import { cancelRuns, type Cancels } from './cancel.ts'
import { claimRuns, type Claims } from './claim.ts'
import type { Connection } from '../connection/connection.ts'
import { pickHot, type Database } from '../database/database.ts'
import {
  admitLines,
  type Entrance,
  isLater,
  NO_ENTRANCE,
  openEntrance,
} from '../gates/admission.ts'
import { endAttempts, type Endings, succeedAttempts } from './end.ts'
import { addNeeds, refuseUnknown } from './needs.ts'
import { tell, type Told } from '../signals/emit-signals.ts'
import {
  GATE_MET,
  HOOK_MET,
  KEY_MET,
  LEASE_MISSED,
  sqlStateOf,
  tryAgain,
  WAITER_MET,
} from '../connection/store-errors.ts'
import { noteEnds } from '../webhooks/outbox.ts'
import { claimWithinRates, type LimitedClaims } from './claim-within-rates.ts'
import { CLOCK, reportedElsewhere, type Work } from '../connection/statement.ts'
import { insertRuns, type Submission } from './submit.ts'
import { canBeWrittenApart, writePlaces, writeSpecs } from './submit-gated.ts'
import { takeKeys } from './submit-keys.ts'
import { planTick, type TickPlan, nameOfCancel } from './tick-plan.ts'
import { addAudit } from '../audit/audit.ts'
import { read, transact, type Mode } from '../connection/transaction.ts'
import { judge } from './verdicts.ts'

/** What a tick did, before it is put into the words of the port. */
export interface Done {
  /** Because of a key, or of a run that nobody knows. */
  readonly refused: ReadonlyMap<number, SubmitVerdict>
  readonly submission: Submission | null
  /** One for each round of the plan. */
  readonly endings: readonly Endings[]
  readonly cancels: Cancels | null
  /** Whether any webhook asks for anything; null if nobody looked. */
  readonly wished: boolean | null
  /** Null if nobody looked whether anybody waits. */
  readonly told: Told | null
  readonly entrance: Entrance
  readonly admitted: ReadonlySet<number>
  readonly claims: Claims | LimitedClaims | null
}
type Promised<T> = { readonly [K in keyof T]: T[K] | Promise<T[K]> }

const NOTHING = {
  refused: new Map<number, SubmitVerdict>(),
  submission: null,
  endings: [],
  cancels: null,
  wished: null,
  told: null,
  entrance: NO_ENTRANCE,
  admitted: new Set<number>(),
  claims: null,
}
const READ_CLOCK = { name: 'read-clock', text: `WITH ${CLOCK} SELECT now FROM clock` }

/**
 * What a tick counts on, because it is nearly always so and cheaper that way. When a statement finds
 * it otherwise, the transaction fails as a whole and is done again without that hope.
 */
interface Hopes {
  /** Nothing has to be decided between the statements: they go out in one round trip. */
  readonly noGates: boolean
  /** Ids are new: inserting need not look first. */
  readonly noRepeats: boolean
  /** No run that succeeds holds a key. */
  readonly noKeys: boolean
  /** Everything that ends is a plain success that still has its lease. */
  readonly plainSuccesses: boolean
  /** No webhook wants to be told of what ends. */
  readonly noHooks: boolean
  /** No flow and no other run waits for what ends. */
  readonly noWaiters: boolean
}
const UNIQUE_VIOLATION = '23505'

/** The hopes for a second try; undefined when the failure has nothing to do with them. */
function lower(hopes: Hopes, code: string | undefined): Hopes | undefined {
  switch (code) {
    case GATE_MET:
      return hopes.noGates ? { ...hopes, noGates: false } : undefined
    case KEY_MET:
      return hopes.noKeys ? { ...hopes, noKeys: false } : undefined
    case LEASE_MISSED:
      return hopes.plainSuccesses ? { ...hopes, plainSuccesses: false } : undefined
    case HOOK_MET:
      return hopes.noHooks ? { ...hopes, noHooks: false } : undefined
    case WAITER_MET:
      return hopes.noWaiters ? { ...hopes, noWaiters: false } : undefined
    case UNIQUE_VIOLATION:
      return hopes.noRepeats ? { ...hopes, noRepeats: false } : undefined
    default:
      return undefined
  }
}

export function createTicker(db: Database): (batch: TickBatch) => Promise<TickResult> {
  // Where one run is gated or has a key, others will be.
  let sawGates = false
  let sawKeys = false
  let sawHooks = false
  let sawWaiters = false

  async function attempt(batch: TickBatch, plan: TickPlan, hopes: Hopes): Promise<TickResult> {
    const connection = pickHot(db)
    const mode = modeOf(batch, plan, hopes)
    const done =
      mode === 'reading'
        ? NOTHING
        : await transact(connection, (work) => apply(work, db.now(), batch, plan, hopes), mode)
    const all = await settled(done)
    if (all.wished === false) sawHooks = false
    if (all.told?.waits === false) sawWaiters = false
    return toResult(db, connection, batch, plan, all)
  }

  return async (batch) => {
    const plan = planTick(batch)
    await db.weeks.ensure(plan.submits.map(({ id }) => id))
    let hopes: Hopes = {
      noGates: !sawGates,
      noRepeats: plan.keyed.length === 0,
      noKeys: !sawKeys,
      plainSuccesses: batch.ends.every(isPlainSuccess),
      noHooks: !sawHooks,
      noWaiters: !sawWaiters,
    }
    for (;;) {
      try {
        return await attempt(batch, plan, hopes)
      } catch (error) {
        const code = sqlStateOf(error)
        const lowered = lower(hopes, code)
        if (!lowered) throw error
        hopes = lowered
        sawGates ||= code === GATE_MET
        sawKeys ||= code === KEY_MET
        sawHooks ||= code === HOOK_MET
        sawWaiters ||= code === WAITER_MET
      }
    }
  }
}

/** A tick of a single statement needs no BEGIN, a tick of none no transaction. */
function modeOf(batch: TickBatch, plan: TickPlan, hopes: Hopes): Mode {
  const kinds = [plan.submits, plan.cancels, batch.claims]
  const statements = kinds.filter((items) => items.length > 0).length + plan.endRounds.length
  if (statements === 0) return 'reading'
  const isNoted = !(hopes.noHooks && hopes.noWaiters) && plan.endRounds.length > 0
  const isJudged = plan.keyed.length + plan.followers.length > 0
  const mustDecide = isNoted || isJudged || mayTouchGates(plan, hopes) || hasRates(batch)
  return statements === 1 && !mustDecide ? 'single' : 'transaction'
}

function hasRates({ claims }: TickBatch): boolean {
  return claims.some(({ rate }) => rate !== undefined)
}

/** Whether the tick has to stop before its claims and see who may pass a gate now. */
function mayTouchGates(plan: TickPlan, { noGates }: Hopes): boolean {
  return plan.hasGated || plan.cancels.length > 0 || (!noGates && plan.endRounds.length > 0)
}

async function apply(
  work: Work,
  now: number | null,
  batch: TickBatch,
  plan: TickPlan,
  hopes: Hopes,
): Promise<Promised<Done>> {
  const { node } = batch
  const careful = mayTouchGates(plan, hopes)
  const refused = await refuse(work, now, node, plan)
  const rounds = plan.endRounds.map((round) => {
    const commands = round.map((index) => batch.ends[index]!)
    const { noHooks, noWaiters } = hopes
    const endHopes = { noGates: !careful, noHooks, noWaiters }
    const mayHold = careful || !hopes.noKeys
    return hopes.plainSuccesses
      ? succeedAttempts(work, now, commands, { ...endHopes, mayHold })
      : endAttempts(work, now, commands, endHopes)
  })
  const endings = reportedElsewhere(Promise.all(rounds))
  const submits = plan.submits.filter(({ id }) => !refused.has(id))
  // Who is there already takes no place, and nobody knows yet who is.
  const isEntranceOpen = careful && plan.cancels.length === 0 && hopes.noRepeats
  const isApart = isEntranceOpen && submits.length > 0 && canBeWrittenApart(submits)
  const specs = isApart ? writeSpecs(work, now, node, submits) : null
  const entrance = isEntranceOpen
    ? await openEntrance(work, now, submits, freedGates(await endings, null))
    : NO_ENTRANCE
  if (isApart) writePlaces(work, now, node, submits, entrance)
  const submission =
    specs ??
    (submits.length > 0
      ? insertRuns(work, now, node, submits, { hopeful: hopes.noRepeats, entrance })
      : null)
  const followers = submits.filter(startsAfter)
  if (followers.length > 0) addNeeds(work, followers)
  const cancels = plan.cancels.length > 0 ? await cancelRuns(work, now, plan.cancels) : null
  for (const { audit, ...command } of plan.cancels) {
    const kind = cancels?.verdicts.get(nameOfCancel(command))?.kind
    if (audit && (kind === 'cancelled' || kind === 'marked')) await addAudit(work, now, audit)
  }
  if (plan.keyed.length > 0) assertKeysKept(plan.keyed, refused, await submission)
  // What a cancel frees is known only after the submits, and gates are locked once, in one order: with
  // cancels, everybody waits before the gates until then. The turns of webhooks come after all gates.
  const admitted =
    careful && !isEntranceOpen
      ? await admitAt(
          work,
          touchedGates(submits, await submission, await endings, cancels),
          freedGates(await endings, cancels),
        )
      : await admitLines(work, entrance)
  const wished = noteEndsOf(work, now, batch, plan, hopes)
  const told = tellOf(work, now, batch, plan, hopes)
  const claims = hasRates(batch)
    ? await claimWithinRates(work, now, node, batch.claims)
    : batch.claims.length > 0
      ? claimRuns(work, now, node, batch.claims)
      : null
  return { refused, submission, endings, cancels, wished, told, entrance, admitted, claims }
}

async function refuse(
  work: Work,
  now: number | null,
  node: number,
  { keyed, followers }: TickPlan,
): Promise<Done['refused']> {
  if (keyed.length + followers.length === 0) return NOTHING.refused
  const unknown = followers.length > 0 ? await refuseUnknown(work, followers) : NOTHING.refused
  const rest = keyed.filter(({ id }) => !unknown.has(id))
  const taken = rest.length > 0 ? await takeKeys(work, now, node, rest) : NOTHING.refused
  return new Map([...unknown, ...taken])
}

/** Cancels are few, so they are noted whether or not anybody asks. */
function noteEndsOf(
  work: Work,
  now: number | null,
  { ends }: TickBatch,
  { cancels }: TickPlan,
  { noHooks }: Hopes,
): Promise<boolean> | null {
  const ids = idsOf(noHooks ? [] : ends, cancels)
  return ids.length > 0 ? noteEnds(work, now, ids) : null
}

function tellOf(
  work: Work,
  now: number | null,
  { ends }: TickBatch,
  { cancels }: TickPlan,
  { noWaiters }: Hopes,
): Promise<Told> | null {
  const ids = idsOf(noWaiters ? [] : ends, cancels)
  return ids.length > 0 ? tell(work, now, ids) : null
}

function idsOf(...lists: readonly (readonly { readonly runId: number }[])[]): number[] {
  return [...new Set(lists.flatMap((list) => list.map(({ runId }) => runId)))]
}

/** A key must not name a run that is not there: an id taken in this very moment starts the tick over. */
function assertKeysKept(
  keyed: TickPlan['keyed'],
  refused: Done['refused'],
  submission: Submission | null,
): void {
  const inserted = submission?.inserted
  const isLost = keyed.some(({ id }) => !refused.has(id) && inserted && !inserted.has(id))
  if (isLost) throw tryAgain('the id of a run with a key was taken meanwhile')
}

function freedGates(endings: readonly Endings[], cancels: Cancels | null): number[] {
  return [...endings.flatMap(({ gates }) => gates), ...(cancels?.gates ?? [])]
}

function touchedGates(
  submits: readonly NewRun[],
  submission: Submission | null,
  endings: readonly Endings[],
  cancels: Cancels | null,
): number[] {
  const now = submission?.now ?? null
  const waited = submits
    .filter((run) => !isLater(run, now) && !startsAfter(run))
    .flatMap(({ gates }) => gates.slice(0, 1))
  return [...new Set([...waited, ...freedGates(endings, cancels)])].toSorted((a, b) => a - b)
}

async function settled(done: Promised<Done>): Promise<Done> {
  return {
    refused: await done.refused,
    submission: await done.submission,
    endings: await done.endings,
    cancels: await done.cancels,
    wished: await done.wished,
    told: await done.told,
    entrance: await done.entrance,
    admitted: await done.admitted,
    claims: await done.claims,
  }
}

async function toResult(
  db: Database,
  connection: Connection,
  batch: TickBatch,
  plan: TickPlan,
  done: Done,
): Promise<TickResult> {
  const { submission, endings, cancels, admitted, claims } = done
  const now = submission?.now ?? endings[0]?.now ?? cancels?.now ?? claims?.now
  const dues = [submission, ...endings].map((part) => part?.nextDueAt).filter((due) => due != null)
  const lanes = new Set([...endings.flatMap((part) => part.lanes), ...admitted])
  return {
    now: now ?? (await readClock(db, connection)),
    ...(await judge(connection, batch, plan, done)),
    claims: claims?.leases ?? batch.claims.map(() => []),
    limited: claims && 'limited' in claims ? claims.limited : [],
    refilled: [...lanes].toSorted((a, b) => a - b),
    nextDueAt: dues.length > 0 ? Math.min(...dues) : null,
    news: inOrder(newsOf(plan, done)),
  }
}

/** One that follows others looks after them once it is there: they may have ended before. */
function newsOf({ followers }: TickPlan, { refused, submission, cancels, told }: Done): News[] {
  const inserted = submission?.inserted ?? null
  const come = followers
    .filter(({ id }) => !refused.has(id) && (inserted === null || inserted.has(id)))
    .map(({ id }): News => ({ kind: 'need', runId: id }))
  return [...come, ...(cancels?.news ?? []), ...(told?.news ?? [])]
}

async function readClock(db: Database, connection: Connection): Promise<number> {
  const [row] = await read<{ now: number }>(connection, READ_CLOCK, [db.now()])
  return row!.now
}
