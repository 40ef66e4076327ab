import type { Database } from 'better-sqlite3'
import { possibleStops } from '../../workflows/expected-outcomes.ts'
import { whatFollows } from '../../workflows/naive-evaluator.ts'
import type { Drawn } from './draw-workflow.ts'
import { createFlowBook, type FlowBook } from './workflow-tracker.ts'
import { createFlowLaws } from './step-invariants.ts'
import type { FlowTruth, Start } from './workflow-truth.ts'
import { type RunSeen, type Seen, watchFlows } from './watch-workflows.ts'
import { createFollowerLaws } from './follower-invariants.ts'
import { createPatience } from './patience.ts'
import { createWaveLaws } from './wave-invariants.ts'

/** Once nothing goes wrong any more, whatever follows is done within this (I20). */
const SOON_MS = 2_000
const FINAL = 4

/** A run holds its gates while it is ready or under way. */
const HOLDERS = `
  SELECT count(*) FROM run r, json_each(r.gates) gate WHERE r.status IN (0, 1) AND gate.value = g.id`

/** Checked after every move, straight from the rows. */
const LAWS: readonly (readonly [law: string, sql: string])[] = [
  [
    'a gate holds more than its capacity',
    `SELECT 'gate ' || g.name FROM gate g WHERE (${HOLDERS}) > g.capacity`,
  ],
  [
    'the count of a gate is not that of the runs that hold it',
    `SELECT 'gate ' || g.name || ' counts ' || g.held FROM gate g WHERE g.held <> (${HOLDERS})`,
  ],
  [
    'I20 a flow and its run end together',
    `SELECT 'flow ' || run.id FROM flow JOIN run ON run.id = flow.run_id
      WHERE (ended_at IS NULL) <> (status < ${FINAL})`,
  ],
  [
    'I17 a flow under way that nobody would look at',
    `SELECT 'flow ' || run_id FROM flow
      WHERE ended_at IS NULL AND look_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM step WHERE flow_id = flow.run_id
                            AND (state IN (1, 3) OR told_at IS NOT NULL))`,
  ],
]
/** Flows that stand in line, though nobody is before them. */
const IDLE = `
  SELECT 'flow ' || run.id || ' is ready' AS claim FROM run JOIN lane ON lane.id = run.lane_id
   WHERE run.status = 0 AND lane.executor = 'workflow'
   UNION ALL
  SELECT 'run ' || r.id || ' waits at gates with room' FROM run r
   WHERE r.status = 3 AND r.gate_id IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM json_each(r.gates) held JOIN gate g ON g.id = held.value
      WHERE g.held >= g.capacity)`

export interface WorkflowLaws {
  readonly book: FlowBook
  readonly followers: number
  /** Everything that has happened since, in the order in which it did. */
  check(): void
  /** The same, and that nothing is left undone that could be done. */
  checkCalm(): void
}

export function createWorkflowLaws(
  db: Database,
  drawn: readonly Drawn[],
  truth: FlowTruth,
  around: { nowMs(): number; storeNow(): number; violate(law: string, detail: string): void },
): WorkflowLaws {
  const { violate, storeNow } = around
  const news = watchFlows(db, { next: truth.next, nowMs: around.nowMs })
  const book = createFlowBook(db, drawn)
  const flows = createFlowLaws(book, truth, violate)
  const waves = createWaveLaws(book, violate)
  const followers = createFollowerLaws(violate)
  const laws = LAWS.map(([law, sql]) => [law, db.prepare<[], string>(sql).pluck()] as const)
  const idle = db.prepare<[], string>(IDLE).pluck()
  const patience = createPatience(SOON_MS)
  const over = new Set<number>()
  let started = 0

  const run = (seen: RunSeen) => {
    followers.run(seen)
    if (seen.is_now < FINAL) return
    over.add(seen.run_id)
    const story = book.all.get(seen.run_id)
    if (!story || story.isEnded) return
    story.isEnded = true
    flows.ended(story, storeNow())
  }

  const start = (one: Start) => {
    // A worker that froze with the grant in its hand: fences see to that, and other laws to them.
    if (over.has(one.runId)) return
    if (one.work) flows.started(one, one.work)
    else followers.started(one.runId)
  }

  const see = (one: Seen | (Start & { readonly kind: 'start' })) => {
    switch (one.kind) {
      case 'start':
        return start(one)
      case 'step':
        return flows.told(one)
      case 'flow':
        return waves.began(book.begin(one.flow_id))
      case 'need':
        return followers.need(one)
      case 'run':
        return run(one)
    }
  }

  const check = () => {
    const starts = truth.starts.slice(started).map((one) => ({ ...one, kind: 'start' as const }))
    started = truth.starts.length
    for (const one of [...news(), ...starts].toSorted((a, b) => a.n - b.n)) see(one)
    for (const [law, statement] of laws) {
      for (const detail of statement.all()) violate(law, detail)
    }
  }

  /** What is still to be done in flows, as sentences. */
  const undone = () =>
    book.open().flatMap(({ flowId, facts, drawn: { steps } }) => {
      const { isCancelling, deadline } = book.ask(flowId)
      const isLate = (deadline ?? Infinity) <= storeNow()
      const stop = possibleStops(facts, { isCancelled: isCancelling === 1, isLate }).at(-1) ?? null
      const known = { steps, facts, asked: new Set<string>(), stop }
      return [...whatFollows(known)].map((what) => `flow ${flowId}: ${what}`)
    })

  return {
    book,
    get followers() {
      return followers.count
    },
    check,
    checkCalm() {
      check()
      const claims = [...undone(), ...followers.neglected(), ...idle.all()]
      for (const claim of patience.overdue(claims, around.nowMs())) {
        violate(`I20 what follows is done within ${SOON_MS} ms`, claim)
      }
    },
  }
}
