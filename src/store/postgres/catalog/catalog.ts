import { PunctualError } from '../../../core/errors.ts'
import { laneKey, type Lane, type LaneSpec } from '../../../core/queue/lane.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { CatalogStore } from '../../port.ts'
import { ints, texts } from '../connection/binary-arrays.ts'
import { type Database, pickLists } from '../database/database.ts'
import type { Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Jobs = Parameters<CatalogStore['internJobs']>[0]
type Gates = Parameters<CatalogStore['internGates']>[0]

/**
 * Reads first and inserts only what is missing: `ON CONFLICT` alone would use up an id for every
 * known name. Rows are returned for all names, whichever node inserted them.
 */
const PROJECTS = {
  find: {
    name: 'find-projects',
    text: `SELECT id, name AS key FROM project WHERE name = ANY ($1::text[])`,
  },
  add: {
    name: 'add-projects',
    text: `INSERT INTO project (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
  },
}
const JOBS = {
  find: {
    name: 'find-jobs',
    text: `
    SELECT job.id, project_id || ' ' || name AS key
      FROM unnest($1::int[], $2::text[]) AS item (project_id, name)
      JOIN job USING (project_id, name)`,
  },
  add: {
    name: 'add-jobs',
    text: `
    INSERT INTO job (project_id, name)
    SELECT * FROM unnest($1::int[], $2::text[]) ON CONFLICT DO NOTHING`,
  },
}
const LANES = {
  find: { name: 'find-lanes', text: `SELECT id, key FROM lane WHERE key = ANY ($1::text[])` },
  /** Lane ids are assigned in commit order, or `lanesAfter` would miss one. */
  lock: { name: '', text: `LOCK TABLE lane IN SHARE ROW EXCLUSIVE MODE` },
  count: {
    name: 'count-lanes',
    text: `SELECT project, count(*)::int AS lanes FROM lane WHERE project = ANY ($1::text[]) GROUP BY 1`,
  },
  add: {
    name: 'add-lanes',
    text: `
    INSERT INTO lane (key, project, queue, labels, executor, weight)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[])`,
  },
  after: {
    name: 'lanes-after',
    text: `
    SELECT id, project, queue, labels, executor, weight FROM lane
     WHERE id > $1::int ORDER BY id`,
  },
}
const GATES = {
  find: {
    name: 'find-gates',
    text: `
    SELECT gate.id, capacity, project_id || ' ' || name AS key
      FROM unnest($1::int[], $2::text[]) AS item (project_id, name)
      JOIN gate USING (project_id, name)`,
  },
  put: {
    name: 'put-gates',
    text: `
    INSERT INTO gate (project_id, name, capacity)
    SELECT * FROM unnest($1::int[], $2::text[], $3::int[])
        ON CONFLICT (project_id, name) DO UPDATE SET capacity = excluded.capacity
    RETURNING id, project_id || ' ' || name AS key`,
  },
}
const NAMES = {
  job: { name: 'job-names', text: `SELECT id, name FROM job WHERE id = ANY ($1::int[])` },
  project: {
    name: 'project-names',
    text: `SELECT id, name FROM project WHERE id = ANY ($1::int[])`,
  },
}

interface Numbered {
  readonly id: number
  readonly key: string
}

export async function internProjects(db: Database, names: readonly string[]): Promise<number[]> {
  const look = async (tx: Queryable) => tx.query<Numbered>(PROJECTS.find, [texts(names)])
  return intern(db, names, look, async (tx, missing) => {
    await tx.query(PROJECTS.add, [texts(missing.toSorted())])
  })
}

export async function findProject(db: Database, name: string): Promise<number | null> {
  const [found] = await read<Numbered>(db.duty, PROJECTS.find, [texts([name])])
  return found?.id ?? null
}

export async function findJob(
  db: Database,
  { projectId, name }: Jobs[number],
): Promise<number | null> {
  const [found] = await read<Numbered>(db.duty, JOBS.find, [ints([projectId]), texts([name])])
  return found?.id ?? null
}

export async function findJobs(
  db: Database,
  { projectId, names }: { projectId: number; names: readonly string[] },
): Promise<number[]> {
  const wanted = [...new Set(names)]
  const projects = ints(wanted.map(() => projectId))
  const found = await read<Numbered>(pickLists(db), JOBS.find, [projects, texts(wanted)])
  return found.map(({ id }) => id)
}

export async function internJobs(db: Database, jobs: Jobs): Promise<number[]> {
  const byKey = new Map(jobs.map((job) => [`${job.projectId} ${job.name}`, job]))
  const columns = (keys: readonly string[]) => {
    const chosen = keys.map((key) => byKey.get(key)!)
    return [ints(chosen.map((job) => job.projectId)), texts(chosen.map((job) => job.name))]
  }
  const keys = jobs.map((job) => `${job.projectId} ${job.name}`)
  const look = async (tx: Queryable) => tx.query<Numbered>(JOBS.find, columns([...byKey.keys()]))
  return intern(db, keys, look, async (tx, missing) => {
    await tx.query(JOBS.add, columns(missing.toSorted()))
  })
}

export async function internLanes(db: Database, specs: readonly LaneSpec[]): Promise<number[]> {
  const byKey = new Map(specs.map((spec) => [laneKey(spec), spec]))
  const look = async (tx: Queryable) => tx.query<Numbered>(LANES.find, [texts([...byKey.keys()])])
  return intern(db, specs.map(laneKey), look, async (tx) => {
    await tx.query(LANES.lock)
    const known = new Set((await look(tx)).map(({ key }) => key))
    const missing = [...byKey].filter(([key]) => !known.has(key))
    await assertWithinShare(
      tx,
      missing.map(([, spec]) => spec),
    )
    await tx.query(LANES.add, [
      texts(missing.map(([key]) => key)),
      texts(missing.map(([, spec]) => spec.project)),
      texts(missing.map(([, spec]) => spec.queue)),
      texts(missing.map(([, spec]) => JSON.stringify(spec.labels.toSorted()))),
      texts(missing.map(([, spec]) => spec.executor)),
      ints(missing.map(([, spec]) => spec.weight)),
    ])
  })
}

export async function lanesAfter(db: Database, after: number): Promise<Lane[]> {
  const rows = await read<Lane & { labels: unknown }>(db.duty, LANES.after, [after])
  return rows.map((row) => ({
    ...row,
    labels: JSON.parse(row.labels as unknown as string) as string[],
  }))
}

export async function namesOf(
  db: Database,
  what: keyof typeof NAMES,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await read<{ id: number; name: string }>(db.duty, NAMES[what], [ints(ids)])
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Ids for keys, in order; `add` inserts the keys that `look` did not find. */
async function intern(
  db: Database,
  keys: readonly string[],
  look: (tx: Queryable) => Promise<Numbered[]>,
  add: (tx: Queryable, missing: string[]) => Promise<void>,
): Promise<number[]> {
  if (keys.length === 0) return []
  const numbers = new Map<string, number>()
  const learn = async (tx: Queryable) => {
    for (const { id, key } of await look(tx)) numbers.set(key, id)
    return [...new Set(keys)].filter((key) => !numbers.has(key))
  }
  const missing = await transact(db.duty, learn, 'reading')
  if (missing.length > 0) {
    await transact(db.duty, async (tx) => {
      await add(tx, missing)
      await learn(tx)
    })
  }
  return keys.map((key) => numbers.get(key)!)
}

async function assertWithinShare(tx: Queryable, missing: readonly LaneSpec[]): Promise<void> {
  const wanted = Map.groupBy(missing, ({ project }) => project)
  const rows = await tx.query<{ project: string; lanes: number }>(LANES.count, [
    texts([...wanted.keys()]),
  ])
  const lanes = new Map(rows.map((row) => [row.project, row.lanes]))
  for (const [project, specs] of wanted) {
    if ((lanes.get(project) ?? 0) + specs.length > LIMITS.lanesPerProject) {
      throw new PunctualError(
        'too_many_lanes',
        `project ${project} would have more than ${LIMITS.lanesPerProject} lanes`,
      )
    }
  }
}

/** The last write of a capacity wins; an unchanged gate is neither written nor locked. */
export async function internGates(db: Database, gates: Gates): Promise<number[]> {
  if (gates.length === 0) return []
  const wanted = new Map(gates.map((gate) => [keyOfGate(gate), gate]))
  const sorted = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, gate]) => gate)
  const numbers = await transact(db.duty, async (tx) => {
    const found = await tx.query<{ id: number; capacity: number; key: string }>(
      GATES.find,
      namesOfGates(sorted),
    )
    const byKey = new Map(found.map((row) => [row.key, row]))
    const changed = sorted.filter((gate) => byKey.get(keyOfGate(gate))?.capacity !== gate.capacity)
    const put =
      changed.length === 0
        ? []
        : await tx.query<{ id: number; key: string }>(GATES.put, [
            ...namesOfGates(changed),
            ints(changed.map(({ capacity }) => capacity)),
          ])
    return new Map([...found, ...put].map(({ key, id }) => [key, id]))
  })
  return gates.map((gate) => numbers.get(keyOfGate(gate))!)
}

function namesOfGates(gates: Gates): unknown[] {
  return [ints(gates.map(({ projectId }) => projectId)), texts(gates.map(({ name }) => name))]
}

function keyOfGate({ projectId, name }: { projectId: number; name: string }): string {
  return `${projectId} ${name}`
}
