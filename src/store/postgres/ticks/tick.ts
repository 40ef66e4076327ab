import { sortSignals } from '../../signals.ts'
import { isSimpleSuccess, startsAfter } from '../../run-options.ts'
import type { Signal, NewRun, SubmitVerdict, TickBatch, TickResult } from '../../port.ts'
import { admitAt } from '../gates/admit.ts'
import { cancelRuns, type Cancels } from './cancel.ts'
import { claimRuns, type Claims } from './claim.ts'
import type { Connection } from '../connection/connection.ts'
import { pickHot, type Database } from '../database/database.ts'
import {
  admitWaiting,
  type GateAdmission,
  isLater,
  NO_GATE_ADMISSION,
  decideAdmission,
} from '../gates/admit-new-runs.ts'
import { endAttempts, type EndedAttempts, succeedAttempts } from './end.ts'
import { addNeeds, refuseUnknownNeeds } from './needs.ts'
import { emitSignals, type EmittedSignals } from '../signals/emit-signals.ts'
import { sqlStateOf, retryTransaction } from '../connection/store-errors.ts'
import { recordOutboxEvents } from '../webhooks/outbox.ts'
import { claimWithinRates, type LimitedClaims } from './claim-within-rates.ts'
import { CLOCK, reportedElsewhere, type Queryable } from '../connection/statement.ts'
import { insertRuns, type InsertResult } from './submit.ts'
import { canSplitInsert, writeGatedRows, writeSpecs } from './submit-gated.ts'
import { takeKeys } from './submit-keys.ts'
import {
  type Assumptions,
  dropAssumption,
  NO_GATES_VIOLATED,
  NO_KEYS_VIOLATED,
  NO_WAITERS_VIOLATED,
  NO_WEBHOOKS_VIOLATED,
} from './tick-assumptions.ts'
import { planTick, type TickPlan, nameOfCancel } from './tick-plan.ts'
import { addAudit } from '../audit/audit.ts'
import { read, transact, type TransactionMode } from '../connection/transaction.ts'
import { toVerdicts } from './verdicts.ts'

/** The results of a tick's statements, before they become the port's result. */
export interface TickOutcome {
  /** Refused because of a key, or because they start after a run that does not exist. */
  readonly refused: ReadonlyMap<number, SubmitVerdict>
  readonly submission: InsertResult | null
  /** One for each round of the plan. */
  readonly endedAttempts: readonly EndedAttempts[]
  readonly cancels: Cancels | null
  /** Whether any webhook subscribes to anything; null if this was not checked. */
  readonly hasSubscribers: boolean | null
  /** Null if waiters were not checked. */
  readonly emitted: EmittedSignals | null
  readonly admission: GateAdmission
  readonly admitted: ReadonlySet<number>
  readonly claims: Claims | LimitedClaims | null
}
type Promised<T> = { readonly [K in keyof T]: T[K] | Promise<T[K]> }

const NOTHING = {
  refused: new Map<number, SubmitVerdict>(),
  submission: null,
  endedAttempts: [],
  cancels: null,
  hasSubscribers: null,
  emitted: null,
  admission: NO_GATE_ADMISSION,
  admitted: new Set<number>(),
  claims: null,
}
const READ_CLOCK = { name: 'read-clock', text: `WITH ${CLOCK} SELECT now FROM clock` }

export function prepareTick(db: Database): (batch: TickBatch) => Promise<TickResult> {
  // Once one run is gated or has a key, later runs are likely to be as well.
  let sawGates = false
  let sawKeys = false
  let sawWebhooks = false
  let sawWaiters = false

  async function attempt(
    batch: TickBatch,
    plan: TickPlan,
    assumptions: Assumptions,
  ): Promise<TickResult> {
    const connection = pickHot(db)
    const mode = modeOf(batch, plan, assumptions)
    const done =
      mode === 'reading'
        ? NOTHING
        : await transact(connection, (tx) => apply(tx, db.now(), batch, plan, assumptions), mode)
    const all = await settled(done)
    if (all.hasSubscribers === false) sawWebhooks = false
    if (all.emitted?.waits === false) sawWaiters = false
    return toResult(db, connection, batch, plan, all)
  }

  return async (batch) => {
    const plan = planTick(batch)
    await db.weeks.ensure(plan.submits.map(({ id }) => id))
    let assumptions: Assumptions = {
      noGates: !sawGates,
      noRepeats: plan.keyed.length === 0,
      noKeys: !sawKeys,
      simpleSuccesses: batch.ends.every(isSimpleSuccess),
      noWebhooks: !sawWebhooks,
      noWaiters: !sawWaiters,
    }
    for (;;) {
      try {
        return await attempt(batch, plan, assumptions)
      } catch (error) {
        const code = sqlStateOf(error)
        const weaker = dropAssumption(assumptions, code)
        if (!weaker) throw error
        assumptions = weaker
        sawGates ||= code === NO_GATES_VIOLATED
        sawKeys ||= code === NO_KEYS_VIOLATED
        sawWebhooks ||= code === NO_WEBHOOKS_VIOLATED
        sawWaiters ||= code === NO_WAITERS_VIOLATED
      }
    }
  }
}

/** A tick of a single statement needs no BEGIN, a tick without statements no transaction. */
function modeOf(batch: TickBatch, plan: TickPlan, assumptions: Assumptions): TransactionMode {
  const kinds = [plan.submits, plan.cancels, batch.claims]
  const statements = kinds.filter((items) => items.length > 0).length + plan.endRounds.length
  if (statements === 0) return 'reading'
  const recordsEnds =
    !(assumptions.noWebhooks && assumptions.noWaiters) && plan.endRounds.length > 0
  const needsVerdicts = plan.keyed.length + plan.followers.length > 0
  const mustDecide =
    recordsEnds || needsVerdicts || mayTouchGates(plan, assumptions) || hasRates(batch)
  return statements === 1 && !mustDecide ? 'single' : 'transaction'
}

function hasRates({ claims }: TickBatch): boolean {
  return claims.some(({ rate }) => rate !== undefined)
}

/** Whether the tick has to wait before its claims and decide which runs may pass a gate now. */
function mayTouchGates(plan: TickPlan, { noGates }: Assumptions): boolean {
  return plan.hasGated || plan.cancels.length > 0 || (!noGates && plan.endRounds.length > 0)
}

async function apply(
  tx: Queryable,
  now: number | null,
  batch: TickBatch,
  plan: TickPlan,
  assumptions: Assumptions,
): Promise<Promised<TickOutcome>> {
  const { node } = batch
  const touchesGates = mayTouchGates(plan, assumptions)
  const refused = await refuse(tx, node, plan)
  const rounds = plan.endRounds.map((round) => {
    const commands = round.map((index) => batch.ends[index]!)
    const { noWebhooks, noWaiters } = assumptions
    const endAssumptions = { noGates: !touchesGates, noWebhooks, noWaiters }
    const mayHold = touchesGates || !assumptions.noKeys
    return assumptions.simpleSuccesses
      ? succeedAttempts(tx, now, commands, { ...endAssumptions, mayHold })
      : endAttempts(tx, now, commands, endAssumptions)
  })
  const endedAttempts = reportedElsewhere(Promise.all(rounds))
  const submits = plan.submits.filter(({ id }) => !refused.has(id))
  // A run that exists already takes no slot, and with repeats it is not known yet which exist.
  const admitsBeforeInsert = touchesGates && plan.cancels.length === 0 && assumptions.noRepeats
  const isSplit = admitsBeforeInsert && submits.length > 0 && canSplitInsert(submits)
  const specs = isSplit ? writeSpecs(tx, now, node, submits) : null
  const admission = admitsBeforeInsert
    ? await decideAdmission(tx, now, submits, freedGates(await endedAttempts, null))
    : NO_GATE_ADMISSION
  if (isSplit) writeGatedRows(tx, now, node, submits, admission)
  const submission =
    specs ??
    (submits.length > 0
      ? insertRuns(tx, now, node, submits, { assumeNew: assumptions.noRepeats, admission })
      : null)
  const followers = submits.filter(startsAfter)
  if (followers.length > 0) addNeeds(tx, followers)
  const cancels = plan.cancels.length > 0 ? await cancelRuns(tx, now, plan.cancels) : null
  for (const { audit, ...command } of plan.cancels) {
    const kind = cancels?.verdicts.get(nameOfCancel(command))?.kind
    if (audit && (kind === 'cancelled' || kind === 'marked')) await addAudit(tx, now, audit)
  }
  if (plan.keyed.length > 0) assertKeysKept(plan.keyed, refused, await submission)
  // What a cancel frees is known only after the submits, and gates are locked once, in one order:
  // with cancels, all gated runs are first inserted as blocked. The locks of webhooks come after
  // all gates.
  const admitted =
    touchesGates && !admitsBeforeInsert
      ? await admitAt(
          tx,
          touchedGates(submits, await submission, await endedAttempts, cancels),
          freedGates(await endedAttempts, cancels),
        )
      : await admitWaiting(tx, admission)
  const hasSubscribers = recordOutboxEventsOf(tx, now, batch, plan, assumptions)
  const emitted = emitSignalsOf(tx, now, batch, plan, assumptions)
  const claims = hasRates(batch)
    ? await claimWithinRates(tx, now, node, batch.claims)
    : batch.claims.length > 0
      ? claimRuns(tx, now, node, batch.claims)
      : null
  return {
    refused,
    submission,
    endedAttempts,
    cancels,
    hasSubscribers,
    emitted,
    admission,
    admitted,
    claims,
  }
}

async function refuse(
  tx: Queryable,
  node: number,
  { keyed, followers }: TickPlan,
): Promise<TickOutcome['refused']> {
  if (keyed.length + followers.length === 0) return NOTHING.refused
  const unknown = followers.length > 0 ? await refuseUnknownNeeds(tx, followers) : NOTHING.refused
  const rest = keyed.filter(({ id }) => !unknown.has(id))
  const taken = rest.length > 0 ? await takeKeys(tx, node, rest) : NOTHING.refused
  return new Map([...unknown, ...taken])
}

/** Cancels are few, so their events are recorded without checking for webhooks first. */
function recordOutboxEventsOf(
  tx: Queryable,
  now: number | null,
  { ends }: TickBatch,
  { cancels }: TickPlan,
  { noWebhooks }: Assumptions,
): Promise<boolean> | null {
  const ids = idsOf(noWebhooks ? [] : ends, cancels)
  return ids.length > 0 ? recordOutboxEvents(tx, now, ids) : null
}

function emitSignalsOf(
  tx: Queryable,
  now: number | null,
  { ends }: TickBatch,
  { cancels }: TickPlan,
  { noWaiters }: Assumptions,
): Promise<EmittedSignals> | null {
  const ids = idsOf(noWaiters ? [] : ends, cancels)
  return ids.length > 0 ? emitSignals(tx, now, ids) : null
}

function idsOf(...lists: readonly (readonly { readonly runId: number }[])[]): number[] {
  return [...new Set(lists.flatMap((list) => list.map(({ runId }) => runId)))]
}

/**
 * A key must not name a run that does not exist: an id taken at this very moment restarts the tick.
 */
function assertKeysKept(
  keyed: TickPlan['keyed'],
  refused: TickOutcome['refused'],
  submission: InsertResult | null,
): void {
  const inserted = submission?.inserted
  const hasFailed = keyed.some(({ id }) => !refused.has(id) && inserted && !inserted.has(id))
  if (hasFailed) throw retryTransaction('the id of a run with a key was taken meanwhile')
}

function freedGates(endedAttempts: readonly EndedAttempts[], cancels: Cancels | null): number[] {
  return [...endedAttempts.flatMap(({ gates }) => gates), ...(cancels?.gates ?? [])]
}

function touchedGates(
  submits: readonly NewRun[],
  submission: InsertResult | null,
  endedAttempts: readonly EndedAttempts[],
  cancels: Cancels | null,
): number[] {
  const now = submission?.now ?? null
  const waited = submits
    .filter((run) => !isLater(run, now) && !startsAfter(run))
    .flatMap(({ gates }) => gates.slice(0, 1))
  return [...new Set([...waited, ...freedGates(endedAttempts, cancels)])].toSorted((a, b) => a - b)
}

async function settled(done: Promised<TickOutcome>): Promise<TickOutcome> {
  return {
    refused: await done.refused,
    submission: await done.submission,
    endedAttempts: await done.endedAttempts,
    cancels: await done.cancels,
    hasSubscribers: await done.hasSubscribers,
    emitted: await done.emitted,
    admission: await done.admission,
    admitted: await done.admitted,
    claims: await done.claims,
  }
}

async function toResult(
  db: Database,
  connection: Connection,
  batch: TickBatch,
  plan: TickPlan,
  done: TickOutcome,
): Promise<TickResult> {
  const { submission, endedAttempts, cancels, admitted, claims } = done
  const now = submission?.now ?? endedAttempts[0]?.now ?? cancels?.now ?? claims?.now
  const dues = [submission, ...endedAttempts]
    .map((part) => part?.nextDueAt)
    .filter((due) => due != null)
  const lanes = new Set([...endedAttempts.flatMap((part) => part.lanes), ...admitted])
  return {
    now: now ?? (await readClock(db, connection)),
    ...(await toVerdicts(connection, batch, plan, done)),
    claims: claims?.leases ?? batch.claims.map(() => []),
    limited: claims && 'limited' in claims ? claims.limited : [],
    refilled: [...lanes].toSorted((a, b) => a - b),
    nextDueAt: dues.length > 0 ? Math.min(...dues) : null,
    signals: sortSignals(signalsOf(plan, done)),
  }
}

/** A run that starts after others is checked once it exists: they may have ended before. */
function signalsOf(
  { followers }: TickPlan,
  { refused, submission, cancels, emitted }: TickOutcome,
): Signal[] {
  const inserted = submission?.inserted ?? null
  const come = followers
    .filter(({ id }) => !refused.has(id) && (inserted === null || inserted.has(id)))
    .map(({ id }): Signal => ({ kind: 'need', runId: id }))
  return [...come, ...(cancels?.signals ?? []), ...(emitted?.signals ?? [])]
}

async function readClock(db: Database, connection: Connection): Promise<number> {
  const [row] = await read<{ now: number }>(connection, READ_CLOCK, [db.now()])
  return row!.now
}
