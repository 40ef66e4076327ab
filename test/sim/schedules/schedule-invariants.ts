import type { Database } from 'better-sqlite3'
import { createPauseLaw } from './pause-invariant.ts'

/**
 * What the simulator writes down for itself about schedules and what became of their times. A change
 * by people is one that grows the version; `next` is what the schedule says comes next because of it.
 */
const WATCH = `
  CREATE TEMP TABLE changed (
    n INTEGER PRIMARY KEY, id, version, spec, next, last, deleted_at, at, is_paused, paused_until);
  CREATE TEMP TRIGGER watch_put AFTER INSERT ON schedule BEGIN
    INSERT INTO changed (id, version, spec, next, at)
    VALUES (NEW.id, NEW.version, NEW.spec, NEW.next_nominal_at, NEW.updated_at);
  END;
  CREATE TEMP TRIGGER watch_change AFTER UPDATE OF version ON schedule BEGIN
    INSERT INTO changed (id, version, spec, next, last, deleted_at, at, is_paused, paused_until)
    VALUES (NEW.id, NEW.version, NEW.spec, NEW.next_nominal_at, OLD.last_nominal_at, NEW.deleted_at,
            NEW.updated_at, NEW.paused_at IS NOT NULL AND NEW.resumed_at IS NULL, NEW.paused_until);
  END;
  CREATE TEMP TABLE told (
    n INTEGER PRIMARY KEY, schedule_id, nominal_at, until_at, outcome, reason, at, after);
  CREATE TEMP TRIGGER watch_told AFTER INSERT ON occurrence BEGIN
    INSERT INTO told (schedule_id, nominal_at, until_at, outcome, reason, at, after)
    VALUES (NEW.schedule_id, NEW.nominal_at, NEW.until_at, NEW.outcome, NEW.reason, NEW.at,
            (SELECT ifnull(max(n), 0) FROM changed));
  END;`

interface Change {
  readonly id: number
  readonly spec: string
  readonly next: number | null
  /** The last time that had become anything before. */
  readonly last: number | null
  readonly deleted_at: number | null
  readonly at: number
}

interface Told {
  readonly n: number
  readonly schedule_id: number
  readonly nominal_at: number
  readonly until_at: number
  readonly outcome: number
  readonly reason: string | null
  readonly at: number
  /** The last change by people before it was written. */
  readonly after: number
}

interface Current {
  readonly next: number | null
  readonly lookAt: number | null
  readonly pausedAt: number | null
}

const [FIRED, BLOCKED, MISSED] = [0, 2, 5]
const GRACE_MS = 30_000
/** What a plan may be off by: it holds for so long before and after the time it was made for. */
const [BEFORE_MS, AFTER_MS] = [1_000, 10_000]
const LATE_MS = 5_000
/** Once everything is well, what is due is fired within this. */
const SOON_MS = 15_000

/** Checked after every move, straight from the rows. */
const LAWS: readonly (readonly [law: string, sql: string])[] = [
  [
    'I13 a run that no time of a schedule became',
    `SELECT 'run ' || id AS detail FROM run
      WHERE NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.id = run.id AND outcome <= ${BLOCKED})`,
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

export interface TimeLaws {
  /** `isOver`: nothing goes wrong any more and what was due has had time to fire. */
  check(isOver: boolean): void
}

export function createTimeLaws(
  db: Database,
  deps: {
    now(): number
    /** By how much that clock was set, all in all. */
    skewMs(): number
    violate(law: string, detail: string): void
  },
): TimeLaws {
  const { now, violate } = deps
  db.exec(WATCH)
  const pauses = createPauseLaw(db, deps)
  const news = db.prepare<[number], Told>('SELECT * FROM told WHERE n > ? ORDER BY n')
  const all = db.prepare<[number], Told>('SELECT * FROM told WHERE schedule_id = ? ORDER BY n')
  const changes = db.prepare<[number], Change>('SELECT * FROM changed WHERE id = ? ORDER BY n')
  const ids = db.prepare<[], number>('SELECT DISTINCT id FROM changed').pluck()
  const current = db.prepare<[number], Current>(
    'SELECT next_nominal_at AS next, look_at AS lookAt, paused_at AS pausedAt FROM schedule WHERE id = ?',
  )
  const laws = LAWS.map(([law, sql]) => [law, db.prepare<[], { detail: string }>(sql)] as const)
  const untils = new Map<number, number>()
  let last = 0

  const checkTold = (told: Told) => {
    const { schedule_id: id, nominal_at: nominalAt, until_at: untilAt, outcome, at } = told
    const detail = `schedule ${id} at ${nominalAt}, written at ${at}`
    if (nominalAt <= (untils.get(id) ?? 0) || untilAt < nominalAt) {
      violate('I15 times do not increase', detail)
    }
    untils.set(id, untilAt)
    if (outcome <= BLOCKED) pauses.check(told)
    if (outcome <= BLOCKED && at < nominalAt) violate('I14 a run before its time', detail)
    if (outcome === FIRED && at - nominalAt > LATE_MS + AFTER_MS) {
      violate('I14 a run that is late is not called so', detail)
    }
    if (outcome === MISSED && at - untilAt < GRACE_MS - BEFORE_MS) {
      violate('I15 a time is given up before it was missed', detail)
    }
  }

  /** Every time of every version, by counting: it must have one fate, and nothing else may. */
  const checkAll = (id: number) => {
    const story = changes.all(id)
    if (isFollowing(story[0]?.spec ?? '')) return checkFollowed(id)
    const fates = all.all(id)
    const expected: number[] = []
    for (const [index, { spec, next, deleted_at: deletedAt }] of story.entries()) {
      const isSaid = index === 0 || story[index - 1]?.spec !== spec
      if (!isSaid || next === null || deletedAt !== null) continue
      const until = endOf(id, story.slice(index + 1), spec)
      const everyMs = everyOf(spec)
      if (next % everyMs !== 0) violate('I13 no time of its rule', `schedule ${id}: ${next}`)
      for (let at = next; at <= until; at += everyMs) expected.push(at)
    }
    compare(id, expected, fates)
  }

  /** When its times are is a matter of its runs; but somebody has to look whether those have ended. */
  const checkFollowed = (id: number) => {
    const { lookAt, pausedAt } = current.get(id) ?? { lookAt: null, pausedAt: null }
    if (pausedAt === null && lookAt !== null && lookAt < now() - SOON_MS) {
      violate('liveness: nobody looks after the run it follows', `schedule ${id}: ${lookAt}`)
    }
  }

  /** The last instant up to which a version has to answer for its times. */
  const endOf = (id: number, later: readonly Change[], spec: string): number => {
    const next = later.find((change) => change.spec !== spec || change.deleted_at !== null)
    // A clock that was set back does not undo what has fired.
    if (next) return Math.max(Math.min(next.at, (next.next ?? Infinity) - 1), next.last ?? 0)
    const row = current.get(id)
    if (row && row.pausedAt === null && (row.next ?? 0) < now() - SOON_MS) {
      violate('liveness: a time that is due never fires', `schedule ${id}: ${row.next}`)
    }
    return (row?.next ?? 0) - 1
  }

  const compare = (id: number, expected: readonly number[], fates: readonly Told[]) => {
    let place = 0
    const covered = new Set<Told>()
    for (const at of expected) {
      while (place < fates.length && (fates[place] as Told).until_at < at) place += 1
      const fate = fates[place]
      if (!fate || fate.nominal_at > at) {
        violate('I13 a time that became nothing', `schedule ${id} at ${at}`)
        return
      }
      covered.add(fate)
    }
    const extra = fates.find((fate) => !covered.has(fate))
    if (extra) violate('I13 a record of no time', `schedule ${id} at ${extra.nominal_at}`)
  }

  return {
    check(isOver) {
      pauses.look()
      for (const told of news.all(last)) {
        last = told.n
        checkTold(told)
      }
      for (const [law, statement] of laws) {
        for (const { detail } of statement.all()) violate(law, detail)
      }
      if (isOver) for (const id of ids.all()) checkAll(id)
    },
  }
}

function isFollowing(spec: string): boolean {
  return spec.includes(' after finish')
}

/** Rules here are whole seconds, counted from 1970: a child can check them. */
function everyOf(spec: string): number {
  const { rule } = JSON.parse(spec) as { rule: { every: string } }
  return Number.parseInt(rule.every, 10) * 1_000
}
