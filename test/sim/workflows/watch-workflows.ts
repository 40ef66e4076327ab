import type { Database } from 'better-sqlite3'

/** Triggers that record workflow rows, in one sequence with what workers do. */
const WATCH = `
  CREATE TEMP TABLE step_seen (n INTEGER PRIMARY KEY, at, flow_id, step, item, state, run_id, reason, count);
  CREATE TEMP TRIGGER watch_step AFTER INSERT ON step BEGIN
    INSERT INTO step_seen VALUES (sim_next(), sim_now(), NEW.flow_id, NEW.step, NEW.item, NEW.state,
                                  NEW.run_id, NEW.reason, NEW.count);
  END;
  CREATE TEMP TRIGGER watch_step_change AFTER UPDATE OF state, run_id ON step BEGIN
    INSERT INTO step_seen VALUES (sim_next(), sim_now(), NEW.flow_id, NEW.step, NEW.item, NEW.state,
                                  NEW.run_id, NEW.reason, NEW.count);
  END;
  CREATE TEMP TABLE flow_seen (n INTEGER PRIMARY KEY, at, flow_id);
  CREATE TEMP TRIGGER watch_flow AFTER INSERT ON flow BEGIN
    INSERT INTO flow_seen VALUES (sim_next(), sim_now(), NEW.run_id);
  END;
  CREATE TEMP TABLE run_seen (n INTEGER PRIMARY KEY, at, run_id, was, is_now);
  CREATE TEMP TRIGGER watch_run AFTER INSERT ON run BEGIN
    INSERT INTO run_seen VALUES (sim_next(), sim_now(), NEW.id, NULL, NEW.status);
  END;
  CREATE TEMP TRIGGER watch_run_change AFTER UPDATE OF status, gate_id ON run
    WHEN NEW.status IS NOT OLD.status OR NEW.gate_id IS NOT OLD.gate_id BEGIN
    INSERT INTO run_seen VALUES (sim_next(), sim_now(), NEW.id, OLD.status, NEW.status);
  END;
  CREATE TEMP TABLE need_seen (n INTEGER PRIMARY KEY, at, run_id, needed_id, wants);
  CREATE TEMP TRIGGER watch_need AFTER INSERT ON need BEGIN
    INSERT INTO need_seen VALUES (sim_next(), sim_now(), NEW.run_id, NEW.needed_id, NEW.wants);
  END;`

interface SeenRow {
  readonly n: number
  readonly at: number
}
export interface StepSeen extends SeenRow {
  readonly kind: 'step'
  readonly flow_id: number
  readonly step: number
  readonly item: number
  readonly state: number
  readonly run_id: number | null
  readonly reason: string | null
  readonly count: number | null
}
/** A workflow began. */
export interface WorkflowSeen extends SeenRow {
  readonly kind: 'flow'
  readonly flow_id: number
}
export interface RunSeen extends SeenRow {
  readonly kind: 'run'
  readonly run_id: number
  /** Null for a new run. */
  readonly was: number | null
  readonly is_now: number
}
export interface NeedSeen extends SeenRow {
  readonly kind: 'need'
  readonly run_id: number
  readonly needed_id: number
  readonly wants: 'ok' | 'notok' | 'any'
}
export type SeenEvent = StepSeen | WorkflowSeen | RunSeen | NeedSeen

/** Everything the store wrote since the last call, each kind in its order. */
export function watchWorkflows(
  db: Database,
  { next, nowMs }: { next(): number; nowMs(): number },
): () => SeenEvent[] {
  db.function('sim_next', next)
  db.function('sim_now', nowMs)
  db.exec(WATCH)
  const kinds = (['step', 'flow', 'run', 'need'] as const).map((kind) => ({
    kind,
    last: 0,
    since: db.prepare<[number], SeenEvent>(`SELECT * FROM ${kind}_seen WHERE n > ? ORDER BY n`),
  }))
  return () =>
    kinds.flatMap((one) => {
      const rows = one.since.all(one.last).map((row) => ({ ...row, kind: one.kind }) as SeenEvent)
      one.last = rows.at(-1)?.n ?? one.last
      return rows
    })
}
