import type { Database } from 'better-sqlite3'
import { createPauseInvariant } from './pause-invariant.ts'

/** Marks that outcomes of later times are void. */
const VOID = -1

/**
 * Triggers that record schedule changes and outcomes of due times. A change by a user increments the version;
 * `next` is the next due time that the schedule shows after the change.
 */
const WATCH = `
  CREATE TEMP TABLE changed (
    n INTEGER PRIMARY KEY, id, version, spec, next, last, deleted_at, at, is_paused, paused_until,
    real DEFAULT (real_now()));
  CREATE TEMP TRIGGER watch_put AFTER INSERT ON schedule BEGIN
    INSERT INTO changed (id, version, spec, next, at)
    VALUES (NEW.id, NEW.version, NEW.spec, NEW.next_nominal_at, NEW.updated_at);
  END;
  CREATE TEMP TRIGGER watch_change AFTER UPDATE OF version ON schedule BEGIN
    INSERT INTO changed (id, version, spec, next, last, deleted_at, at, is_paused, paused_until)
    VALUES (NEW.id, NEW.version, NEW.spec, NEW.next_nominal_at, OLD.last_nominal_at, NEW.deleted_at,
            NEW.updated_at, NEW.paused_at IS NOT NULL AND NEW.resumed_at IS NULL, NEW.paused_until);
  END;
  CREATE TEMP TABLE recorded (
    n INTEGER PRIMARY KEY AUTOINCREMENT, schedule_id, nominal_at, until_at, outcome, reason, at, after,
    real DEFAULT (real_now()));
  CREATE TEMP TRIGGER watch_told AFTER INSERT ON occurrence BEGIN
    INSERT INTO recorded (schedule_id, nominal_at, until_at, outcome, reason, at, after)
    VALUES (NEW.schedule_id, NEW.nominal_at, NEW.until_at, NEW.outcome, NEW.reason, NEW.at,
            (SELECT ifnull(max(n), 0) FROM changed));
  END;
  -- The clock was set back: outcomes of later times are void, and a range that reaches beyond it ends there.
  CREATE TEMP TRIGGER watch_void AFTER INSERT ON void_occurrence BEGIN
    DELETE FROM recorded WHERE schedule_id = NEW.schedule_id AND nominal_at > NEW.voided_at;
    -- A time after the end of a run may be the very millisecond to which the clock was set.
    INSERT INTO recorded (schedule_id, nominal_at, until_at, outcome, at)
    VALUES (NEW.schedule_id, NEW.voided_at - 1, NEW.voided_at - 1, ${VOID}, NEW.voided_at);
  END;
  CREATE TEMP TRIGGER watch_cut AFTER UPDATE OF until_at ON occurrence BEGIN
    UPDATE recorded SET until_at = NEW.until_at
     WHERE schedule_id = NEW.schedule_id AND nominal_at = NEW.nominal_at;
    INSERT INTO recorded (schedule_id, nominal_at, until_at, outcome, at)
    VALUES (NEW.schedule_id, NEW.until_at, NEW.until_at, ${VOID}, NEW.until_at);
  END;
  -- A node has noticed that the clock was set back: earlier pauses no longer say when the schedule is paused.
  CREATE TEMP TABLE rewound (id INTEGER PRIMARY KEY, up_to);
  CREATE TEMP TRIGGER watch_set_back AFTER UPDATE OF next_nominal_at ON schedule
  WHEN NEW.version = OLD.version AND NEW.next_nominal_at < OLD.next_nominal_at BEGIN
    INSERT OR REPLACE INTO rewound VALUES (NEW.id, (SELECT ifnull(max(n), 0) FROM changed));
  END;
  -- Due times of a change made while the clock was ahead cannot be counted.
  CREATE TEMP TABLE uncountable (id INTEGER PRIMARY KEY);
  CREATE TEMP TRIGGER watch_void_edit AFTER INSERT ON void_occurrence
  WHEN EXISTS (SELECT 1 FROM changed WHERE id = NEW.schedule_id AND at > NEW.voided_at) BEGIN
    INSERT OR IGNORE INTO uncountable VALUES (NEW.schedule_id);
  END;
  CREATE TEMP TRIGGER watch_rewind AFTER UPDATE OF next_nominal_at ON schedule
  WHEN NEW.version = OLD.version AND EXISTS (
    SELECT 1 FROM changed WHERE id = NEW.id
       AND (at > NEW.next_nominal_at OR next > NEW.next_nominal_at)) BEGIN
    INSERT OR IGNORE INTO uncountable VALUES (NEW.id);
  END;`

interface Change {
  readonly id: number
  readonly spec: string
  readonly next: number | null
  /** The last due time that had an outcome before. */
  readonly last: number | null
  readonly deleted_at: number | null
  readonly at: number
}

interface RecordedTime {
  readonly n: number
  readonly schedule_id: number
  readonly nominal_at: number
  readonly until_at: number
  readonly outcome: number
  readonly reason: string | null
  readonly at: number
  /** The last change by a user before this record. */
  readonly after: number
  /** The simulated time at which it was written. */
  readonly real: number
}

interface ScheduleRow {
  readonly next: number | null
  readonly checkAt: number | null
  readonly pausedAt: number | null
}

const [FIRED, BLOCKED, MISSED] = [0, 2, 5]
const GRACE_MS = 30_000
/** Tolerance of a plan: it is valid this long before and after the time it was made for. */
const [BEFORE_MS, AFTER_MS] = [1_000, 10_000]
const LATE_MS = 5_000
/** Without faults, a due time fires within this. */
const SOON_MS = 15_000

/** Checked after every move, directly on the rows. */
const INVARIANTS: readonly (readonly [invariant: string, sql: string])[] = [
  [
    'I13 a run that no time of a schedule became',
    `SELECT 'run ' || id AS detail FROM run
      WHERE NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.id = run.id AND outcome <= ${BLOCKED})
        AND NOT EXISTS (SELECT 1 FROM void_occurrence o WHERE o.id = run.id AND outcome <= ${BLOCKED})`,
  ],
  [
    'I13 a time that became a run which is not there, or knows another time',
    `SELECT 'schedule ' || schedule_id || ' at ' || nominal_at AS detail FROM occurrence o
      WHERE outcome <= ${BLOCKED} AND NOT EXISTS
        (SELECT 1 FROM run WHERE run.id = o.id AND run.due_at = o.nominal_at)`,
  ],
  [
    'more runs of a schedule are open than its overlap allows',
    `SELECT 'schedule ' || s.id || ': ' || count(*) AS detail
       FROM schedule s JOIN occurrence o ON o.schedule_id = s.id AND o.outcome <= ${BLOCKED}
       JOIN run r ON r.id = o.id AND r.status < 4
      WHERE json_extract(s.spec, '$.overlap.kind') IN ('skip', 'queue')
      GROUP BY s.id
     HAVING count(*) > ifnull(json_extract(s.spec, '$.overlap.most'), 0) + 1`,
  ],
]

export interface ScheduleInvariants {
  /** `isOver`: faults have stopped and due times had time to fire. */
  check(isOver: boolean): void
}

export function createScheduleInvariants(
  db: Database,
  deps: {
    now(): number
    /** The simulated time, which no clock shows. */
    realMs(): number
    /** Total amount by which that clock was set. */
    skewMs(): number
    violate(invariant: string, detail: string): void
  },
): ScheduleInvariants {
  const { now, violate } = deps
  db.function('real_now', deps.realMs)
  db.exec(WATCH)
  const pauses = createPauseInvariant(db, deps)
  const newRows = db.prepare<[number], RecordedTime>(
    'SELECT * FROM recorded WHERE n > ? ORDER BY n',
  )
  const all = db.prepare<[number], RecordedTime>(
    `SELECT * FROM recorded WHERE schedule_id = ? AND outcome <> ${VOID} ORDER BY nominal_at`,
  )
  const lastBefore = db
    .prepare<[number, number], number | null>(
      `SELECT max(until_at) FROM recorded WHERE schedule_id = ? AND n < ? AND outcome <> ${VOID}`,
    )
    .pluck()
  const isUncountable = db.prepare<[number]>('SELECT 1 FROM uncountable WHERE id = ?')
  const changes = db.prepare<[number], Change>('SELECT * FROM changed WHERE id = ? ORDER BY n')
  const ids = db.prepare<[], number>('SELECT DISTINCT id FROM changed').pluck()
  const current = db.prepare<[number], ScheduleRow>(
    'SELECT next_nominal_at AS next, look_at AS checkAt, paused_at AS pausedAt FROM schedule WHERE id = ?',
  )
  const invariants = INVARIANTS.map(
    ([invariant, sql]) => [invariant, db.prepare<[], { detail: string }>(sql)] as const,
  )
  const lastCoveredAt = new Map<number, number>()
  let last = 0

  const checkRecorded = (recorded: RecordedTime) => {
    const { schedule_id: id, nominal_at: nominalAt, until_at: untilAt, outcome, at } = recorded
    const detail = `schedule ${id} at ${nominalAt}, written at ${at}`
    if (outcome === VOID) {
      // A schedule that follows its runs continues from the end of the run, which may be before the time to
      // which the clock was set back.
      lastCoveredAt.set(
        id,
        Math.min(lastCoveredAt.get(id) ?? 0, nominalAt, lastBefore.get(id, recorded.n) ?? 0),
      )
      return
    }
    if (nominalAt <= (lastCoveredAt.get(id) ?? 0) || untilAt < nominalAt) {
      violate('I15 times do not increase', detail)
    }
    lastCoveredAt.set(id, untilAt)
    if (outcome <= BLOCKED) pauses.check(recorded)
    if (outcome <= BLOCKED && at < nominalAt) violate('I14 a run before its time', detail)
    if (outcome === FIRED && at - nominalAt > LATE_MS + AFTER_MS) {
      violate('I14 a run that is late is not called so', detail)
    }
    if (outcome === MISSED && at - untilAt < GRACE_MS - BEFORE_MS) {
      violate('I15 a time is given up before it was missed', detail)
    }
  }

  /** Lists every due time of every version: each must have one outcome, and no other record may exist. */
  const checkAll = (id: number) => {
    const history = changes.all(id)
    if (isAfterFinish(history[0]?.spec ?? '')) return checkAfterFinish(id)
    const outcomes = all.all(id)
    const last = history.at(-1)
    if (isUncountable.get(id) !== undefined) {
      if (last && last.deleted_at === null) endOf(id, [], last.spec)
      return
    }
    const expected: number[] = []
    for (const [index, { spec, next, deleted_at: deletedAt }] of history.entries()) {
      const isSaid = index === 0 || history[index - 1]?.spec !== spec
      if (!isSaid || next === null || deletedAt !== null) continue
      const until = endOf(id, history.slice(index + 1), spec)
      const everyMs = everyOf(spec)
      if (next % everyMs !== 0) violate('I13 no time of its rule', `schedule ${id}: ${next}`)
      for (let at = next; at <= until; at += everyMs) expected.push(at)
    }
    compare(id, expected, outcomes)
  }

  /** Its due times depend on its runs, but a node must keep checking whether they have ended. */
  const checkAfterFinish = (id: number) => {
    const { checkAt, pausedAt } = current.get(id) ?? { checkAt: null, pausedAt: null }
    if (pausedAt === null && checkAt !== null && checkAt < now() - SOON_MS) {
      violate('liveness: no node checks the run it follows', `schedule ${id}: ${checkAt}`)
    }
  }

  /** The last instant for which a version must have outcomes. */
  const endOf = (id: number, later: readonly Change[], spec: string): number => {
    const next = later.find((change) => change.spec !== spec || change.deleted_at !== null)
    // Setting the clock back does not undo what has fired.
    if (next) return Math.max(Math.min(next.at, (next.next ?? Infinity) - 1), next.last ?? 0)
    const row = current.get(id)
    if (row && row.pausedAt === null && (row.next ?? 0) < now() - SOON_MS) {
      violate('liveness: a time that is due never fires', `schedule ${id}: ${row.next}`)
    }
    const isWaiting = row && row.pausedAt === null && row.next !== null
    if (isWaiting && row.next > now() + everyOf(spec) + SOON_MS) {
      violate('liveness: it waits for a time beyond its next', `schedule ${id}: ${row.next}`)
    }
    return (row?.next ?? 0) - 1
  }

  const compare = (id: number, expected: readonly number[], outcomes: readonly RecordedTime[]) => {
    let place = 0
    const covered = new Set<RecordedTime>()
    for (const at of expected) {
      while (place < outcomes.length && (outcomes[place] as RecordedTime).until_at < at) place += 1
      const fate = outcomes[place]
      if (!fate || fate.nominal_at > at) {
        violate('I13 a time that became nothing', `schedule ${id} at ${at}`)
        return
      }
      covered.add(fate)
    }
    const extra = outcomes.find((fate) => !covered.has(fate))
    if (extra) violate('I13 a record of no time', `schedule ${id} at ${extra.nominal_at}`)
  }

  return {
    check(isOver) {
      pauses.observeClock()
      for (const recorded of newRows.all(last)) {
        last = recorded.n
        checkRecorded(recorded)
      }
      for (const [invariant, statement] of invariants) {
        for (const { detail } of statement.all()) violate(invariant, detail)
      }
      if (isOver) for (const id of ids.all()) checkAll(id)
    },
  }
}

function isAfterFinish(spec: string): boolean {
  return spec.includes(' after finish')
}

/** Rules here are whole seconds counted from 1970, so their times are easy to compute. */
function everyOf(spec: string): number {
  const { rule } = JSON.parse(spec) as { rule: { every: string } }
  return Number.parseInt(rule.every, 10) * 1_000
}
