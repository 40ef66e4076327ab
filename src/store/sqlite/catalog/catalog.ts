import type { Database } from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { type Lane, laneKey, type LaneSpec } from '../../../core/queue/lane.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { CatalogStore, RunQueries } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

export const FIND_PROJECT = `SELECT id FROM project WHERE name = ?`
const ADD_PROJECT = `INSERT INTO project (name) VALUES (?)`
export const FIND_JOB = `SELECT id FROM job WHERE project_id = ? AND name = ?`
const ADD_JOB = `INSERT INTO job (project_id, name) VALUES (?, ?)`
export const FIND_GATE = `SELECT id FROM gate WHERE project_id = ? AND name = ?`
const ADD_GATE = `INSERT INTO gate (project_id, name, capacity) VALUES (?, ?, ?)`
const RESIZE_GATE = `UPDATE gate SET capacity = ? WHERE id = ? AND capacity <> ?`
export const FIND_LANE = `SELECT id FROM lane WHERE key = ?`
export const COUNT_LANES = `SELECT count(*) FROM lane WHERE project = ?`
const ADD_LANE = `
  INSERT INTO lane (key, project, queue, labels, executor, weight) VALUES (?, ?, ?, ?, ?, ?)`
export const LANES_AFTER = `
  SELECT id, project, queue, labels, executor, weight FROM lane WHERE id > ? ORDER BY id`

export const FIND_JOBS = `
  SELECT id FROM job WHERE project_id = ? AND name IN (SELECT value FROM json_each(?))`
const JOB_NAME = `SELECT name FROM job WHERE id = ?`
const PROJECT_NAME = `SELECT name FROM project WHERE id = ?`

type LaneRow = Omit<Lane, 'labels'> & { readonly labels: string }
export type Catalog = Sync<Omit<CatalogStore, 'jobNames' | 'projectNames'>>

export function prepareCatalog(db: Database): Catalog {
  const findProject = db.prepare<[string], number>(FIND_PROJECT).pluck()
  const addProject = db.prepare(ADD_PROJECT)
  const findJob = db.prepare<[number, string], number>(FIND_JOB).pluck()
  const addJob = db.prepare(ADD_JOB)
  const findGate = db.prepare<[number, string], number>(FIND_GATE).pluck()
  const addGate = db.prepare(ADD_GATE)
  const resizeGate = db.prepare(RESIZE_GATE)
  const lanesAfter = db.prepare<[number], LaneRow>(LANES_AFTER)

  return {
    internProjects: (names) =>
      names.map((name) => findProject.get(name) ?? newId(addProject.run(name))),
    findProject: (name) => findProject.get(name) ?? null,
    findJob: ({ projectId, name }) => findJob.get(projectId, name) ?? null,
    internJobs: (jobs) =>
      jobs.map(
        ({ projectId, name }) => findJob.get(projectId, name) ?? newId(addJob.run(projectId, name)),
      ),
    internGates: (gates) =>
      gates.map(({ projectId, name, capacity }) => {
        const known = findGate.get(projectId, name)
        if (known === undefined) return newId(addGate.run(projectId, name, capacity))
        resizeGate.run(capacity, known, capacity)
        return known
      }),
    internLanes: prepareInternLanes(db),
    lanesAfter: (after) =>
      lanesAfter.all(after).map((row) => ({ ...row, labels: JSON.parse(row.labels) as string[] })),
  }
}

function prepareInternLanes(db: Database): Catalog['internLanes'] {
  const find = db.prepare<[string], number>(FIND_LANE).pluck()
  const count = db.prepare<[string], number>(COUNT_LANES).pluck()
  const add = db.prepare(ADD_LANE)

  const addLane = (key: string, spec: LaneSpec, counts: Map<string, number>): number => {
    const { project, queue, labels, executor, weight } = spec
    const lanes = counts.get(project) ?? count.get(project) ?? 0
    if (lanes >= LIMITS.lanesPerProject) {
      throw new PunctualError(
        'too_many_lanes',
        `project ${project} has ${lanes} combinations of queue, labels, executor and weight already`,
      )
    }
    counts.set(project, lanes + 1)
    const sorted = JSON.stringify([...labels].sort())
    return newId(add.run(key, project, queue, sorted, executor, weight))
  }

  return (specs) => {
    const counts = new Map<string, number>()
    return specs.map((spec) => {
      const key = laneKey(spec)
      return find.get(key) ?? addLane(key, spec, counts)
    })
  }
}

type CatalogQueries = Sync<
  Pick<CatalogStore, 'jobNames' | 'projectNames'> & Pick<RunQueries, 'findJobs'>
>

export function prepareCatalogQueries(db: Database): CatalogQueries {
  const findJobs = db.prepare<[number, string], number>(FIND_JOBS).pluck()
  const jobName = db.prepare<[number], string>(JOB_NAME).pluck()
  const projectName = db.prepare<[number], string>(PROJECT_NAME).pluck()
  return {
    findJobs: ({ projectId, names }) => findJobs.all(projectId, JSON.stringify(names)),
    jobNames: (ids) => namesOf(ids, (id) => jobName.get(id)),
    projectNames: (ids) => namesOf(ids, (id) => projectName.get(id)),
  }
}

function namesOf(
  ids: readonly number[],
  nameOf: (id: number) => string | undefined,
): Map<number, string> {
  const names = new Map<number, string>()
  for (const id of ids) {
    const name = nameOf(id)
    if (name !== undefined) names.set(id, name)
  }
  return names
}

function newId({ lastInsertRowid }: { lastInsertRowid: number | bigint }): number {
  return Number(lastInsertRowid)
}
